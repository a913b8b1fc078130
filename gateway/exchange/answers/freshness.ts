// Limits how long caches may reuse an upstream's response: never past the next change of its version (CACHE-6).
import { FIELD } from '../../plan/upstreams/answer-fields.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { nextEnd } from '../../policy/lifecycle/exceptions.ts';
import { nextOverrideChange } from '../../policy/lifecycle/override.ts';
import { fieldText, type HeaderLines, httpDate } from '../answer-headers.ts';
import type { Decision, ExchangeFacts, RequestStart } from '../facts.ts';
import type { RequestView } from '../request-view.ts';
import { directivesOf, isCacheControl, isNeverFresh, isNeverStored } from './shareability.ts';

/**
 * Matches anywhere in a field, because nginx searches its text. So `s-maxage` and `cache-maxage` of Edge-Control match
 * too. Quotes and blanks around the number are read (RFC 9111 §5.2) and not written back. Surrogate-Control has a
 * second number, for stale use.
 */
const LIFETIME =
  /(max-?age|downstream-ttl|stale-while-revalidate|stale-if-error)[ \t]*=[ \t+]*("?)(\d+)\2(?:\+(\d+))?/gi;
/** Seconds from now, or `@` and seconds since 1970. nginx trims the value and ignores any other form. */
const ACCEL = /^\s*(@?)(\d+)\s*$/;
const WITH_UNIT = /(?<=[=" \t])(\d+)([smhd])\b/gi;
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** Statuses that caches may store without a lifetime (RFC 9110 §15.1). A 304 may update any of them. */
const HEURISTIC = new Set([200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 501]);
const MAX_AGE = /^max-age[ \t]*=[ \t]*("?)\d+\1$/i;
const BLANKS = /[ \t]=|=[ \t]/;
const PLAIN = /^(?:[\w-]+(?:=\w+)?(?:, ?|$))*$/;
/** The pattern at index n finds n digits in a row. */
const DIGITS = Array.from({ length: 16 }, (_, count) => new RegExp(`\\d{${count}}`));
const DAY_S = 86_400;

/** The most seconds of reuse (CACHE-6), or `Infinity`. Caches count from `answeredAt`, by the clock of `start.now`. */
export function longestReuse(
  { start, decision }: Pick<ExchangeFacts, 'start' | 'decision'>,
  answeredAt = start.now,
): number {
  const { phase, api, perAccount } = decision;
  const asDeprecated = phase?.stage === 'deprecated' ? api?.deprecatedMaxAge : undefined;
  // An operator can move an account to another version at any time, and no cache is notified.
  const asPinned = perAccount ? DAY_S : Number.POSITIVE_INFINITY;
  let toChange = secondsToChange(decision, start, answeredAt);
  for (const each of decision.others) toChange = Math.min(toChange, secondsToChange(each, start, answeredAt));
  return Math.min(toChange, asPinned, asDeprecated ?? Number.POSITIVE_INFINITY);
}

/** Seconds to the next change of the version, of a linked one, or of what the request resolves to. Or `Infinity`. */
function secondsToChange(
  { phase, version, api, linked, consumer }: Decision,
  { now, overrides }: RequestStart,
  answeredAt: EpochMs,
): number {
  if (phase === undefined || version === undefined || api === undefined) return Number.POSITIVE_INFINITY;
  const { forgotten } = version.schedule;
  const next = Math.min(
    phase.until,
    linked.until,
    api.releases.find((at) => at > now) ?? phase.until,
    version.brownouts?.nextChange(now) ?? phase.until,
    overrides.length === 0 ? phase.until : nextOverrideChange(overrides, version, now),
    version.exceptions.length === 0 ? phase.until : nextEnd(version.exceptions, consumer, now),
    forgotten !== undefined && forgotten > now ? forgotten : phase.until,
    version.knownUntil ?? phase.until,
  );
  return Math.max(0, Math.floor((next - Math.max(now, answeredAt)) / 1000));
}

export interface AnsweredRequest extends Pick<RequestView, 'method' | 'headers'> {
  readonly status: number;
}

/**
 * Limits lifetimes to `seconds` in place, stale use included. A response without a lifetime gets one only if a
 * heuristic would let caches reuse it for longer. `wallClock` replaces a missing Date. Age is not added to the
 * lifetime, so an older response expires earlier.
 */
export function clampFreshness(
  headers: HeaderLines,
  seconds: number,
  wallClock: EpochMs,
  answered?: AnsweredRequest,
): void {
  if (seconds === Number.POSITIVE_INFINITY) return;
  const expires = clampExpires(headers, wallClock, seconds);
  const heuristicFor = heuristicLifetime(headers, wallClock, answered);
  const accel = clampAccel(headers, seconds, wallClock);
  const fields = fieldTexts(headers);
  // A cache may take the lifetime from one field and stale use from another.
  const longestElsewhere =
    fields.length < 2 ? accel : Math.max(accel, ...fields.flatMap(([, text]) => freshIn(text)));
  for (const [name, text] of fields) {
    // A targeted field also replaces Expires (RFC 9213 §2.2). An empty one counts as absent.
    const impliedSeconds = name === 'cache-control' ? (expires ?? heuristicFor(text)) : heuristicFor(text);
    if (text.trim() !== '' || name === 'cache-control')
      headers.set(
        name,
        clampField(text, seconds, name.endsWith('cache-control') ? impliedSeconds : 0, longestElsewhere),
      );
  }
  if (headers.get('cache-control') === undefined && expires === undefined && heuristicFor('') > seconds)
    headers.set('cache-control', `max-age=${seconds}`, FIELD.cacheControl);
}

/** Units are converted to seconds. */
function fieldTexts(headers: HeaderLines): readonly (readonly [name: string, text: string])[] {
  const plain = headers.get('cache-control');
  if (!headers.has(FIELD.otherCaches))
    return plain === undefined ? [] : [['cache-control', fieldText(plain)]];
  const fields = Object.entries(headers.record()).filter(([name]) => isCacheControl(name));
  return fields.map(([name, value]) => {
    const text = fieldText(value);
    return [name, name === 'edge-control' ? text.replace(WITH_UNIT, inSeconds) : text];
  });
}

const inSeconds = (_found: string, count: string, unit: string): string =>
  String(Math.min(2 ** 31, Number(count) * (UNIT_S[unit.toLowerCase()] ?? 1)));

/** Returns the remaining seconds. Undefined without Expires. */
function clampExpires(headers: HeaderLines, wallClock: EpochMs, seconds: number): number | undefined {
  const expires = headers.get('expires');
  if (typeof expires !== 'string') return undefined;
  // Some caches count from Date, others by their own clock.
  const from = Math.min(dateOf(headers, wallClock), wallClock);
  const at = httpDate(expires);
  const until = at === undefined ? from : Math.min(at, from + seconds * 1000);
  // An invalid date means expired (RFC 9111 §5.3), but some caches accept forms that the standard does not have. One
  // such form has a two-digit year, which caches assign to different centuries.
  headers.set('expires', at === undefined ? '0' : new Date(until).toUTCString());
  return Math.max(0, (until - from) / 1000);
}

const dateOf = (headers: HeaderLines, now: EpochMs): EpochMs => httpDate(headers.get('date')) ?? now;

/** Returns the remaining seconds. An nginx in front of the gateway reads this field first. */
function clampAccel(headers: HeaderLines, seconds: number, wallClock: EpochMs): number {
  const field = headers.get('x-accel-expires');
  if (field === undefined) return 0;
  let longest = 0;
  const clamped = [field].flat().map((value) => {
    const [, at, lifetime] = ACCEL.exec(value) ?? [];
    if (at === undefined) return value;
    const from = at === '' ? 0 : Math.floor(wallClock / 1000);
    const end = Math.min(Number(lifetime), from + seconds);
    longest = Math.max(longest, end - from);
    return `${at}${end}`;
  });
  headers.set('x-accel-expires', typeof field === 'string' ? clamped[0] : clamped);
  return longest;
}

/**
 * Returns, for the text of a field, the seconds for which a cache may treat a response without a lifetime as fresh (RFC
 * 9111 §4.2.2): a tenth of its age, or a day without Last-Modified. A 304 may omit Last-Modified, and then
 * If-Modified-Since has it.
 */
function heuristicLifetime(
  headers: HeaderLines,
  now: EpochMs,
  answered?: AnsweredRequest,
): (text: string) => number {
  if (answered === undefined || (answered.method !== 'GET' && answered.method !== 'HEAD')) return () => 0;
  const { status, headers: requestHeaders } = answered;
  const since =
    headers.get('last-modified') ?? (status === 304 ? requestHeaders.get('if-modified-since') : undefined);
  const modified = httpDate(since);
  const lifetime =
    modified === undefined ? DAY_S : (Math.max(modified, now, dateOf(headers, now)) - modified) / 10_000;
  const isPublic = (text: string) => directivesOf(text).some((each) => /^public$/i.test(each));
  return (text) => (HEURISTIC.has(status) || isPublic(text) ? lifetime : 0);
}

/** `impliedSeconds`: the lifetime if the text has none. `longestElsewhere`: the longest lifetime in other fields. */
function clampField(text: string, seconds: number, impliedSeconds: number, longestElsewhere: number): string {
  // A shortcut: most changes are months away, and most lifetimes are minutes.
  const longest = Math.max(impliedSeconds, longestElsewhere);
  if (longest * 10 <= seconds && PLAIN.test(text) && !mayReach(text, seconds)) return text;
  if (impliedSeconds === 0) return clampLifetimes(text, seconds, longestElsewhere);
  const directives = directivesOf(text);
  const assumed = directives.some((each) => MAX_AGE.test(each)) ? 0 : impliedSeconds;
  const clamped = clampLifetimes(text, seconds, Math.max(assumed, longestElsewhere));
  if (assumed <= seconds || isNeverStored(directives) || isNeverFresh(directives)) return clamped;
  return clamped.trim() === '' ? `max-age=${seconds}` : `${clamped}, max-age=${seconds}`;
}

/** `impliedSeconds`: the freshness in seconds if no max-age states it. */
export function clampLifetimes(value: string, seconds: number, impliedSeconds = 0): string {
  // Some caches do not read a lifetime with blanks, so blanks are removed.
  if (impliedSeconds === 0 && !BLANKS.test(value) && !mayReach(value, seconds)) return value;
  // Stale use starts after freshness. Both together must end at the change.
  const staleSeconds = Math.max(0, Math.floor(seconds - Math.max(impliedSeconds, ...freshIn(value))));
  return value.replace(
    LIFETIME,
    (found, directive: string, _quote: string, value: string, more: string = '0') => {
      const most = /^stale/i.test(directive) ? staleSeconds : seconds;
      if (Number(value) + Number(more) <= most) return more === '0' ? `${directive}=${value}` : found;
      return `${directive}=${Math.min(Number(value), most)}`;
    },
  );
}

/**
 * Whether a lifetime in `text`, or the sum of two, may exceed `seconds`. False if every number has at least two digits
 * less than `seconds`, so that it is below a tenth of it.
 */
function mayReach(text: string, seconds: number): boolean {
  return DIGITS[String(seconds).length - 1]?.test(text) ?? true;
}

/** The lifetimes in `text`, in seconds, except those for stale use. */
function freshIn(text: string): readonly number[] {
  return [...text.matchAll(LIFETIME)]
    .filter(([, directive = '']) => !/^stale/i.test(directive))
    .map(([, , , value]) => Number(value));
}
