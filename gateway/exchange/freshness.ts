// How long an upstream's answer may be reused: never past the next change in the life of its version (CACHE-6).
// Edits Cache-Control, Expires and X-Accel-Expires of a forwarded answer, 304 included, and of one that tells of an end;
// only ever shortens.
import type { EpochMs } from '../policy/contract.ts';
import { nextEnd } from '../policy/lifecycle/exceptions.ts';
import { nextOverrideChange } from '../policy/lifecycle/override.ts';
import type { AnswerHeaders } from './answer-headers.ts';
import type { ExchangeFacts } from './facts.ts';
import { httpDate } from './http-date.ts';
import type { RequestView } from './request-view.ts';
import { directivesOf, isNeverStored } from './shareability.ts';

/** Fields with freshness directives: the standard's, those for delivery networks (RFC 9213), and that for surrogates. */
const FIELD = /^(?:cache-control|(?:.+-)?cdn-cache-control|surrogate-control)$/;
/** Quotes and blanks around the number are read (RFC 9111 §5.2) and not written back. Surrogates have a second number, for stale use. */
const LIFETIME =
  /(?<![\w-])(max-age|s-maxage|stale-while-revalidate|stale-if-error)[ \t]*=[ \t]*("?)(\d+)\2(?:\+(\d+))?/gi;
/** Seconds from now, or `@` and seconds since 1970; nginx ignores any other value. */
const ACCEL = /^(@?)(\d+)$/;
const STRING = /"(?:[^"\\]|\\.)*"/;
/** Also matches quoted strings, so that they are skipped. For texts with balanced quotes only: else matching is quadratic. */
const LIFETIME_OR_STRING = new RegExp(`${STRING.source}|${LIFETIME.source}`, 'gi');
const STRINGS_END = new RegExp(`^(?:[^"]|${STRING.source})*$`);

/** The statuses with which caches may reuse an answer that gives no lifetime (RFC 9110 §15.1); a 304 speaks of any of them. */
const HEURISTIC = new Set([200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 501]);
const MAX_AGE = /^max-age[ \t]*=[ \t]*("?)\d+\1$/i;
const BLANKS = /[ \t]=|=[ \t]/;
const DAY_S = 86_400;

/** The most seconds for which the answer of this exchange may be reused (CACHE-6), or `Infinity`. */
export function longestReuse(facts: ExchangeFacts): number {
  const { phase, api, perAccount } = facts;
  const asDeprecated = phase?.stage === 'deprecated' ? api?.deprecatedMaxAge : undefined;
  // An account can be moved to another version at any time, and no cache learns of it.
  const asPinned = perAccount ? DAY_S : Number.POSITIVE_INFINITY;
  return Math.min(secondsToTransition(facts), asPinned, asDeprecated ?? Number.POSITIVE_INFINITY);
}

/**
 * Seconds until the answer may change, or `Infinity`: the version changes, or one that it links, or another version is
 * released that the same request may then get, or the rules of another reading of the path change.
 */
function secondsToTransition(facts: ExchangeFacts): number {
  return facts.others.reduce((least, each) => Math.min(least, secondsToChange(each)), secondsToChange(facts));
}

function secondsToChange(facts: ExchangeFacts): number {
  const { phase, version, api, now, overrides, linked, consumer } = facts;
  if (phase === undefined || version === undefined || api === undefined) return Number.POSITIVE_INFINITY;
  const { forgotten } = version.schedule;
  const next = Math.min(
    phase.until,
    linked.until,
    api.nextRelease(now),
    version.brownouts?.nextChange(now) ?? phase.until,
    nextOverrideChange(overrides, version, now),
    nextEnd(version.exceptions, consumer, now),
    // The last date of a version.
    forgotten !== undefined && forgotten > now ? forgotten : phase.until,
    version.knownUntil ?? phase.until,
  );
  return Math.max(0, Math.floor((next - now) / 1000));
}

/** Request and status of an upstream's answer. */
export interface Answered extends Pick<RequestView, 'method' | 'headers'> {
  readonly status: number;
}

/**
 * Shortens lifetimes in place to `seconds`, stale use included. An answer without a lifetime gets one only if caches may
 * reuse it past that moment by a heuristic. `wallClock` replaces a missing Date. Age is not added to the lifetime, so
 * that an older answer expires earlier.
 */
export function clampFreshness(
  headers: AnswerHeaders,
  seconds: number,
  wallClock: EpochMs,
  answered?: Answered,
): void {
  if (seconds === Number.POSITIVE_INFINITY) return;
  const date = httpDate(headers.date) ?? wallClock;
  const expires = clampExpires(headers, date, seconds);
  const unsaid = heuristicLifetime(headers, date, answered);
  for (const name of Object.keys(headers)) {
    if (!name.endsWith('control') || !FIELD.test(name)) continue;
    const value = headers[name];
    if (value === undefined) continue;
    const text = typeof value === 'string' ? value : value.join(', ');
    // A targeted field stands for Expires too (RFC 9213 §2.2); an empty one counts as absent.
    const otherwise = name === 'cache-control' ? (expires ?? unsaid(text)) : unsaid(text);
    if (text.trim() !== '' || name === 'cache-control')
      headers[name] = clampField(text, seconds, name === 'surrogate-control' ? 0 : otherwise);
  }
  if (headers['cache-control'] === undefined && expires === undefined && unsaid('') > seconds)
    headers['cache-control'] = `max-age=${seconds}`;
  // An nginx in front of this gateway reads it before all others.
  const accel = headers['x-accel-expires'];
  if (accel !== undefined) {
    const clamp = (value: string) => clampAccel(value, seconds, wallClock);
    headers['x-accel-expires'] = typeof accel === 'string' ? clamp(accel) : accel.map(clamp);
  }
}

/** The seconds that Expires gives after it was shortened; undefined without Expires. A malformed date counts as expired (RFC 9111 §5.3). */
function clampExpires(headers: AnswerHeaders, date: EpochMs, seconds: number): number | undefined {
  const { expires } = headers;
  if (typeof expires !== 'string') return undefined;
  const latest = date + seconds * 1000;
  const at = httpDate(expires);
  if (at === undefined) {
    // Some caches read more than the standard's three forms.
    if (Date.parse(expires) > latest) headers.expires = '0';
    return 0;
  }
  if (at > latest) headers.expires = new Date(latest).toUTCString();
  return Math.max(0, (Math.min(at, latest) - date) / 1000);
}

/**
 * For the text of a field: the seconds for which a cache may treat an answer without a lifetime as fresh (RFC 9111 §4.2.2).
 * That is a tenth of its age, or a day without Last-Modified. A 304 may omit Last-Modified; If-Modified-Since has it.
 */
function heuristicLifetime(
  headers: AnswerHeaders,
  date: EpochMs,
  answered: Answered | undefined,
): (text: string) => number {
  if (answered === undefined || (answered.method !== 'GET' && answered.method !== 'HEAD')) return () => 0;
  const { status, headers: asked } = answered;
  const since = headers['last-modified'] ?? (status === 304 ? asked['if-modified-since'] : undefined);
  const modified = httpDate(since);
  const lifetime = modified === undefined ? DAY_S : Math.max(0, date - modified) / 10_000;
  return (text) => (HEURISTIC.has(status) || isPublic(text) ? lifetime : 0);
}

const isPublic = (text: string): boolean => directivesOf(text).some((each) => /^public$/i.test(each));

/** `otherwise`: the lifetime if the text has none. */
function clampField(text: string, seconds: number, otherwise: number): string {
  if (otherwise === 0) return clampLifetimes(text, seconds);
  const directives = directivesOf(text);
  const assumed = directives.some((each) => MAX_AGE.test(each)) ? 0 : otherwise;
  const clamped = clampLifetimes(text, seconds, assumed);
  if (assumed <= seconds || isNeverStored(directives) || directives.some((each) => /^no-cache$/i.test(each)))
    return clamped;
  return clamped.trim() === '' ? `max-age=${seconds}` : `${clamped}, max-age=${seconds}`;
}

/**
 * The directives of one field with every lifetime at most `seconds`; the rest of the text is untouched. `otherwise`:
 * seconds for which the answer is fresh where no max-age says it.
 */
export function clampLifetimes(value: string, seconds: number, otherwise = 0): string {
  // The sum of two shorter numbers stays below the limit, and most changes are months away.
  // Some caches do not read a lifetime with blanks, so it is written without.
  if (otherwise === 0 && !BLANKS.test(value) && !hasDigits(value, String(seconds).length - 1)) return value;
  const lifetimes = STRINGS_END.test(value) ? LIFETIME_OR_STRING : LIFETIME;
  // Stale use begins after freshness: both together must end at the change.
  const staleSeconds = /stale-/i.test(value)
    ? staleRoom([...value.matchAll(lifetimes)], seconds, otherwise)
    : 0;
  return value.replace(
    lifetimes,
    (found, directive?: string, _quote?: string, written?: string, more = '0') => {
      if (directive === undefined || written === undefined) return found;
      const most = /^stale/i.test(directive) ? staleSeconds : seconds;
      if (Number(written) + Number(more) <= most) return more === '0' ? `${directive}=${written}` : found;
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

/** The seconds for stale use between the longest lifetime of a field and `seconds`. */
function staleRoom(lifetimes: readonly RegExpExecArray[], seconds: number, otherwise: number): number {
  const fresh = lifetimes
    .filter(([, directive]) => directive !== undefined && !/^stale/i.test(directive))
    .map(([, , , written]) => Number(written));
  return Math.max(0, Math.floor(seconds - Math.max(otherwise, ...fresh)));
}
