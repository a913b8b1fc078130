// How long an upstream's answer may be reused: never past the next change in the life of its version (CACHE-6).
// Edits Cache-Control, Expires and X-Accel-Expires of a forwarded answer, 304 included, and of one that tells of an end;
// only ever shortens.
import type { EpochMs } from '../policy/contract.ts';
import { nextOverrideChange } from '../policy/lifecycle/override.ts';
import type { AnswerHeaders } from './answer-headers.ts';
import type { ExchangeFacts } from './facts.ts';

/** Fields with freshness directives: the standard's, those for delivery networks (RFC 9213), and that for surrogates. */
const FIELD = /^(?:cache-control|(?:.+-)?cdn-cache-control|surrogate-control)$/;
/** A directive's own quotes count as none (RFC 9111 §5.2). What a surrogate may serve once stale is a second number. */
const LIFETIME =
  /(?<![\w-])(max-age|s-maxage|stale-while-revalidate|stale-if-error)=("?)(\d+)\2(?:\+(\d+))?/gi;
/** Seconds from now, or `@` and seconds since 1970; nginx passes over anything else. */
const ACCEL = /^(@?)(\d+)$/;
const STRING = /"(?:[^"\\]|\\.)*"/;
/** A string elsewhere is stepped over. Only where each has its end: in search of one the text would be read many times. */
const LIFETIME_OR_STRING = new RegExp(`${STRING.source}|${LIFETIME.source}`, 'gi');
const STRINGS_END = new RegExp(`^(?:[^"]|${STRING.source})*$`);

/** Seconds for which the answer of this exchange may be reused at most (CACHE-6); `Infinity` where nothing bounds it. */
export function longestReuse(facts: ExchangeFacts): number {
  const { phase, api } = facts;
  const asDeprecated = phase?.stage === 'deprecated' ? api?.deprecatedMaxAge : undefined;
  return Math.min(secondsToTransition(facts), asDeprecated ?? Number.POSITIVE_INFINITY);
}

/**
 * Until the version of this exchange changes, or one that it links, or another is released that the same request may then
 * get; `Infinity` when none ever will.
 */
function secondsToTransition({ phase, version, api, now, overrides, linked }: ExchangeFacts): number {
  if (phase === undefined || version === undefined || api === undefined) return Number.POSITIVE_INFINITY;
  const { forgotten } = version.schedule;
  const next = Math.min(
    phase.until,
    linked.until,
    api.nextRelease(now),
    version.brownouts?.nextChange(now) ?? phase.until,
    nextOverrideChange(overrides, version, now),
    // Behind every other date of it.
    forgotten !== undefined && forgotten > now ? forgotten : phase.until,
    version.knownUntil ?? phase.until,
  );
  return Math.max(0, Math.floor((next - now) / 1000));
}

/**
 * Shortens lifetimes in place to `seconds`. What an answer may be served for once stale ends there as well. `wallClock`
 * stands in for a missing Date. Age is not credited: an answer that has been on its way is reused for less, not for more.
 */
export function clampFreshness(headers: AnswerHeaders, seconds: number, wallClock: EpochMs): void {
  if (seconds === Number.POSITIVE_INFINITY) return;
  for (const name of Object.keys(headers)) {
    if (!name.endsWith('control') || !FIELD.test(name)) continue;
    const value = headers[name];
    if (value !== undefined)
      headers[name] = clampLifetimes(typeof value === 'string' ? value : value.join(', '), seconds);
  }
  // An nginx in front of this gateway reads it before all others.
  const accel = headers['x-accel-expires'];
  if (accel !== undefined) {
    const clamp = (value: string) => clampAccel(value, seconds, wallClock);
    headers['x-accel-expires'] = typeof accel === 'string' ? clamp(accel) : accel.map(clamp);
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
  // Numbers two digits shorter stay below it also where two of them add up: most changes are months away.
  if (!hasDigits(value, String(seconds).length - 1)) return value;
  const lifetimes = STRINGS_END.test(value) ? LIFETIME_OR_STRING : LIFETIME;
  // Staleness begins after freshness, so that any of it could reach past the change.
  const staleSeconds = /stale-/i.test(value) ? staleRoom([...value.matchAll(lifetimes)], seconds) : 0;
  return value.replace(
    lifetimes,
    (found, directive?: string, _quote?: string, written?: string, more = '0') => {
      if (directive === undefined || written === undefined) return found;
      const most = /^stale/i.test(directive) ? staleSeconds : seconds;
      if (Number(written) + Number(more) <= most) return found;
      return `${directive}=${Math.min(Number(written), most)}`;
    },
  );
}

/** Whether `count` digits follow on each other anywhere in the text. */
function hasDigits(text: string, count: number): boolean {
  let run = 0;
  for (let index = 0; index < text.length && run < count; index += 1) {
    const code = text.charCodeAt(index);
    run = code >= 48 && code <= 57 ? run + 1 : 0;
  }
  return run >= count;
}

function clampAccel(value: string, seconds: number, wallClock: EpochMs): string {
  const [, at, written] = ACCEL.exec(value) ?? [];
  if (at === undefined) return value;
  const most = at === '' ? seconds : Math.floor(wallClock / 1000) + seconds;
  return Number(written) > most ? `${at}${most}` : value;
}

/** What is left for stale use once the longest lifetime of a field has passed. */
function staleRoom(lifetimes: readonly RegExpExecArray[], seconds: number): number {
  const fresh = lifetimes
    .filter(([, directive]) => directive !== undefined && !/^stale/i.test(directive))
    .map(([, , , written]) => Number(written));
  return Math.max(0, seconds - Math.max(0, ...fresh));
}
