// How long an upstream's answer may be reused: never past the next change in the life of its version (CACHE-6).
import { FIELD } from '../../plan/upstreams/answer-fields.ts';
import type { EpochMs } from '../../policy/contract.ts';
import { nextEnd } from '../../policy/lifecycle/exceptions.ts';
import { nextOverrideChange } from '../../policy/lifecycle/override.ts';
import { fieldText, type HeaderLines, httpDate } from '../answer-headers.ts';
import type { Decision, ExchangeFacts, RequestStart } from '../facts.ts';
import type { RequestView } from '../request-view.ts';
import { directivesOf, isCacheControl, isNeverFresh, isNeverStored } from './shareability.ts';

/**
 * Found anywhere in a field, since nginx searches its text; so `s-maxage` and the `cache-maxage` of Edge-Control are too.
 * Quotes and blanks around the number are read (RFC 9111 §5.2) and not written back. Surrogates have a second number, for stale use.
 */
const LIFETIME =
  /(max-?age|downstream-ttl|stale-while-revalidate|stale-if-error)[ \t]*=[ \t+]*("?)(\d+)\2(?:\+(\d+))?/gi;
/** Seconds from now, or `@` and seconds since 1970; nginx trims it and ignores any other value. */
const ACCEL = /^\s*(@?)(\d+)\s*$/;
/** Of Edge-Control alone. */
const WITH_UNIT = /(?<=[=" \t])(\d+)([smhd])\b/gi;
const UNIT_S: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

/** The statuses with which caches may reuse an answer that gives no lifetime (RFC 9110 §15.1); a 304 speaks of any of them. */
const HEURISTIC = new Set([200, 203, 204, 206, 300, 301, 304, 308, 404, 405, 410, 414, 501]);
const MAX_AGE = /^max-age[ \t]*=[ \t]*("?)\d+\1$/i;
const BLANKS = /[ \t]=|=[ \t]/;
/** Directives without quotes or signs, and without blanks around their numbers. */
const PLAIN = /^(?:[\w-]+(?:=\w+)?(?:, ?|$))*$/;
/** By their number, digits in a row. */
const DIGITS = Array.from({ length: 16 }, (_, count) => new RegExp(`\\d{${count}}`));
const DAY_S = 86_400;

/** Most seconds of reuse (CACHE-6), or `Infinity`. Caches count from `answeredAt`, which is of the clock of `start.now`. */
export function longestReuse(
  { start, decision }: Pick<ExchangeFacts, 'start' | 'decision'>,
  answeredAt = start.now,
): number {
  const { phase, api, perAccount } = decision;
  const asDeprecated = phase?.stage === 'deprecated' ? api?.deprecatedMaxAge : undefined;
  // An account can be moved to another version at any time, and no cache learns of it.
  const asPinned = perAccount ? DAY_S : Number.POSITIVE_INFINITY;
  let toChange = secondsToChange(decision, start, answeredAt);
  // The rules of another reading of the path may change as well.
  for (const each of decision.others) toChange = Math.min(toChange, secondsToChange(each, start, answeredAt));
  return Math.min(toChange, asPinned, asDeprecated ?? Number.POSITIVE_INFINITY);
}

/** Seconds until the version changes, or one that it links, or one is released that the request may then get; or `Infinity`. */
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
 * Shortens lifetimes in place to `seconds`, stale use included. An answer without a lifetime gets one only if caches may
 * reuse it past that moment by a heuristic. `wallClock` replaces a missing Date. Age is not added to the lifetime, so
 * that an older answer expires earlier.
 */
export function clampFreshness(
  headers: HeaderLines,
  seconds: number,
  wallClock: EpochMs,
  answered?: AnsweredRequest,
): void {
  if (seconds === Number.POSITIVE_INFINITY) return;
  const expires = clampExpires(headers, wallClock, seconds);
  const unsaid = heuristicLifetime(headers, wallClock, answered);
  const accel = clampAccel(headers, seconds, wallClock);
  const fields = fieldTexts(headers);
  // A cache may take its lifetime from one field and stale use from another.
  const beside = fields.length < 2 ? accel : Math.max(accel, ...fields.flatMap(([, text]) => freshIn(text)));
  for (const [name, text] of fields) {
    // A targeted field stands for Expires too (RFC 9213 §2.2); an empty one counts as absent.
    const otherwise = name === 'cache-control' ? (expires ?? unsaid(text)) : unsaid(text);
    if (text.trim() !== '' || name === 'cache-control')
      headers.set(name, clampField(text, seconds, name.endsWith('cache-control') ? otherwise : 0, beside));
  }
  if (headers.get('cache-control') === undefined && expires === undefined && unsaid('') > seconds)
    headers.set('cache-control', `max-age=${seconds}`, FIELD.cacheControl);
}

/** The fields with directives and their texts, units as seconds. */
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

/** The seconds that Expires gives after it was shortened; undefined without Expires. */
function clampExpires(headers: HeaderLines, wallClock: EpochMs, seconds: number): number | undefined {
  const expires = headers.get('expires');
  if (typeof expires !== 'string') return undefined;
  // Some caches count from Date, others by their own clock.
  const from = Math.min(dateOf(headers, wallClock), wallClock);
  const at = httpDate(expires);
  const until = at === undefined ? from : Math.min(at, from + seconds * 1000);
  // An invalid date means expired (RFC 9111 §5.3), but some caches read more forms than the standard's three. One form
  // of those has a year of two digits, of which caches make different centuries.
  headers.set('expires', at === undefined ? '0' : new Date(until).toUTCString());
  return Math.max(0, (until - from) / 1000);
}

const dateOf = (headers: HeaderLines, now: EpochMs): EpochMs => httpDate(headers.get('date')) ?? now;

/** The seconds that X-Accel-Expires gives after it was shortened, which an nginx before the gateway reads first. */
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
 * For the text of a field: the seconds for which a cache may treat an answer without a lifetime as fresh (RFC 9111 §4.2.2).
 * That is a tenth of its age, or a day without Last-Modified. A 304 may omit Last-Modified; If-Modified-Since has it.
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

/** `otherwise`: the lifetime if the text has none; `beside`: the longest in other fields. */
function clampField(text: string, seconds: number, otherwise: number, beside: number): string {
  // Most changes are months away, and most texts speak of minutes.
  const longest = Math.max(otherwise, beside);
  if (longest * 10 <= seconds && PLAIN.test(text) && !mayReach(text, seconds)) return text;
  if (otherwise === 0) return clampLifetimes(text, seconds, beside);
  const directives = directivesOf(text);
  const assumed = directives.some((each) => MAX_AGE.test(each)) ? 0 : otherwise;
  const clamped = clampLifetimes(text, seconds, Math.max(assumed, beside));
  if (assumed <= seconds || isNeverStored(directives) || isNeverFresh(directives)) return clamped;
  return clamped.trim() === '' ? `max-age=${seconds}` : `${clamped}, max-age=${seconds}`;
}

/**
 * The directives of one field with every lifetime at most `seconds`; the rest of the text is untouched. `otherwise`:
 * seconds for which the answer is fresh where no max-age says it.
 */
export function clampLifetimes(value: string, seconds: number, otherwise = 0): string {
  // Some caches do not read a lifetime with blanks, so it is written without.
  if (otherwise === 0 && !BLANKS.test(value) && !mayReach(value, seconds)) return value;
  // Stale use begins after freshness: both together must end at the change.
  const staleSeconds = Math.max(0, Math.floor(seconds - Math.max(otherwise, ...freshIn(value))));
  return value.replace(
    LIFETIME,
    (found, directive: string, _quote: string, value: string, more: string = '0') => {
      const most = /^stale/i.test(directive) ? staleSeconds : seconds;
      if (Number(value) + Number(more) <= most) return more === '0' ? `${directive}=${value}` : found;
      return `${directive}=${Math.min(Number(value), most)}`;
    },
  );
}

/** Whether a number in the text may reach a tenth of `seconds`; the sum of two smaller ones stays below the limit. */
function mayReach(text: string, seconds: number): boolean {
  return DIGITS[String(seconds).length - 1]?.test(text) ?? true;
}

/** The lifetimes in a text, without those of stale use. */
function freshIn(text: string): readonly number[] {
  return [...text.matchAll(LIFETIME)]
    .filter(([, directive = '']) => !/^stale/i.test(directive))
    .map(([, , , value]) => Number(value));
}
