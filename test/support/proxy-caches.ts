// Models of caches that deviate from RFC 9111: nginx 1.22 by its source, and a CDN that obeys Edge-Control.
import { type CachedExchange, httpDate } from './cache-model.ts';

/** The longest time in seconds from `at` for which each may serve a stored response without validation. */
export const PROXY_CACHES: Readonly<Record<string, (exchange: CachedExchange) => number>> = {
  nginx: nginxUse,
  'Edge-Control': edgeUse,
};

/** X-Accel-Expires, then Cache-Control by text search, then Expires in any time zone, by its own clock. */
function nginxUse({ answer, at }: CachedExchange): number {
  const now = Math.floor(at / 1000);
  const control = (answer['cache-control'] ?? '').toLowerCase();
  const valid = accelEnd(answer['x-accel-expires'], now) ?? standardEnd(control, answer.expires, now);
  if (valid === 0) return 0;
  const stale = ['stale-while-revalidate=', 'stale-if-error='].map((text) =>
    Number(valueBehind(control, text) ?? 0),
  );
  return Math.max(0, valid - at / 1000 + Math.max(...stale.filter((each) => !Number.isNaN(each)), 0));
}

function accelEnd(field: string | undefined, now: number): number | undefined {
  const [, at, number] = /^(@?)(\d+)$/.exec((field ?? '').trim()) ?? [];
  if (number === undefined) return undefined;
  if (at === '@') return Number(number);
  return number === '0' ? 0 : now + Number(number);
}

function standardEnd(control: string, expires: string | undefined, now: number): number {
  if (/no-cache|no-store|private/.test(control)) return 0;
  const age = valueBehind(control, 's-maxage=') ?? valueBehind(control, 'max-age=');
  if (age !== undefined) return /^\d+$/.test(age) && Number(age) > 0 ? now + Number(age) : 0;
  const at = httpDate(expires?.replace(/ [A-Z]{2,5}$/, ' GMT'));
  return at === undefined || at / 1000 < now ? 0 : at / 1000;
}

function valueBehind(control: string, text: string): string | undefined {
  const at = control.indexOf(text);
  return at === -1 ? undefined : /^[^,; ]*/.exec(control.slice(at + text.length))?.[0];
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Lifetimes have units; without one they are seconds. */
function edgeUse({ answer }: CachedExchange): number {
  const directives = (answer['edge-control'] ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim());
  if (directives.includes('no-store')) return 0;
  const lifetimes = directives.flatMap((each) => {
    const [, number, unit = 's'] =
      /^(?:cache-maxage|max-age|downstream-ttl)=(\d+)([smhd])?$/.exec(each) ?? [];
    return number === undefined ? [] : Number(number) * (UNITS[unit] ?? 0);
  });
  return Math.max(0, ...lifetimes);
}
