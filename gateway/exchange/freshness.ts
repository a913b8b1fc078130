// How long an upstream's answer may be reused: never past the next change in the life of its version (CACHE-6).
// Edits Cache-Control and Expires of a forwarded answer, 304 included; only ever shortens.
import type { EpochMs } from '../policy/contract.ts';
import { nextOverrideChange } from '../policy/lifecycle/override.ts';
import type { AnswerHeaders } from './answer-headers.ts';
import type { ExchangeFacts } from './facts.ts';

/** Fields with freshness directives: the standard's and the one for content delivery networks (RFC 9213). */
const FIELDS = ['cache-control', 'cdn-cache-control'] as const;
/** A quoted string elsewhere is stepped over; a directive's own quotes count as none (RFC 9111 §5.2). */
const LIFETIME =
  /"(?:[^"\\]|\\.)*"|(?<![\w-])(max-age|s-maxage|stale-while-revalidate|stale-if-error)=("?)(\d+)\2/gi;

/** Seconds until the version of this exchange changes; `Infinity` when it never will. */
export function secondsToTransition({ phase, version, now, overrides }: ExchangeFacts): number {
  if (phase === undefined || version === undefined) return Number.POSITIVE_INFINITY;
  const next = Math.min(
    phase.until,
    version.brownouts?.nextChange(now) ?? phase.until,
    nextOverrideChange(overrides, version, now),
  );
  return Math.max(0, Math.floor((next - now) / 1000));
}

/**
 * Shortens lifetimes in place to `seconds`. What an answer may be served for once stale ends there as well. `wallClock`
 * stands in for a missing Date. Age is not credited: an answer that has been on its way is reused for less, not for more.
 */
export function clampFreshness(headers: AnswerHeaders, seconds: number, wallClock: EpochMs): void {
  if (seconds === Number.POSITIVE_INFINITY) return;
  for (const name of FIELDS) {
    const value = headers[name];
    if (value !== undefined)
      headers[name] = clampLifetimes(typeof value === 'string' ? value : value.join(', '), seconds);
  }
  const { expires } = headers;
  if (typeof expires !== 'string') return;
  const dated = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
  const latest = (Number.isNaN(dated) ? wallClock : dated) + seconds * 1000;
  // A value that is no date means already expired and stays (RFC 9111 §5.3).
  if (Date.parse(expires) > latest) headers.expires = new Date(latest).toUTCString();
}

/** The directives of one field with every lifetime at most `seconds`; the rest of the text is untouched. */
export function clampLifetimes(value: string, seconds: number): string {
  return value.replace(LIFETIME, (found, directive?: string, _quote?: string, written?: string) => {
    if (directive === undefined || written === undefined) return found;
    // Staleness begins after freshness, so that any of it could reach past the change.
    const most = /^stale/i.test(directive) ? staleRoom(value, seconds) : seconds;
    return Number(written) <= most ? found : `${directive}=${most}`;
  });
}

/** What is left for stale use once the longest lifetime in `value` has passed. */
function staleRoom(value: string, seconds: number): number {
  const fresh = [...value.matchAll(LIFETIME)]
    .filter(([, directive]) => directive !== undefined && !/^stale/i.test(directive))
    .map(([, , , written]) => Number(written));
  return Math.max(0, seconds - Math.max(0, ...fresh));
}
