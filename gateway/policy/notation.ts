// The notations of policy and gateway files: durations, sizes, rates, dates, names and texts.
import { z } from 'zod';
import { controlIn, type EpochMs } from './contract.ts';

export interface Rate {
  readonly units: number;
  readonly windowMs: number;
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^([1-9]\d{0,8})(ms|s|m|h|d)$/;
const RATE = /^([1-9]\d{0,8})\/([^/]+)$/;
const UNIT_BYTES: Readonly<Record<string, number>> = { B: 1, KB: 1_024, MB: 1_024 ** 2, GB: 1_024 ** 3 };
const SIZE = /^([1-9]\d{0,5})(B|KB|MB|GB)$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;
/** Ten years: a longer duration is a typing error. */
const LONGEST_MS = 3650 * 86_400_000;

/** `250ms`, `3s`, `5m`, `2h`, `30d` to milliseconds. Undefined for any other text, zero included. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const ms = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  return ms <= LONGEST_MS ? ms : undefined;
}

/** `512B`, `64KB`, `10MB`, `2GB` to bytes, in powers of 1024. Undefined for any other text, zero included. */
export function parseSize(text: string): number | undefined {
  const [, count, unit] = SIZE.exec(text) ?? [];
  return count === undefined || unit === undefined
    ? undefined
    : Number(count) * (UNIT_BYTES[unit] ?? Number.NaN);
}

/** `600/1m` to units per window. Undefined for any other text. */
export function parseRate(text: string): Rate | undefined {
  const [, units, window] = RATE.exec(text) ?? [];
  const windowMs = window === undefined ? undefined : parseDuration(window);
  return units === undefined || windowMs === undefined ? undefined : { units: Number(units), windowMs };
}

/** `25%` to 0.25, from 1 to 100. Undefined for any other text. */
export function parseShare(text: string): number | undefined {
  const percent = /^([1-9]\d?|100)%$/.exec(text)?.[1];
  return percent === undefined ? undefined : Number(percent) / 100;
}

/**
 * A calendar date, which means midnight UTC (SUN-2), or an instant with its offset (SUN-5). Undefined for other texts and
 * for impossible dates such as 2026-02-30.
 */
export function parseInstant(text: string): EpochMs | undefined {
  const day = INSTANT.exec(text)?.[1] ?? text;
  const [, year, month, dayOfMonth] = DATE.exec(day) ?? [];
  if (year === undefined || month === undefined || dayOfMonth === undefined) return undefined;
  if (Number(month) < 1 || Number(dayOfMonth) < 1) return undefined;
  const date = Temporal.PlainDate.from({
    year: Number(year),
    month: Number(month),
    day: Number(dayOfMonth),
  });
  // Temporal clamps impossible dates, so a result that differs was impossible.
  if (date.toString() !== day) return undefined;
  return Temporal.Instant.from(day === text ? `${text}T00:00:00Z` : text).epochMilliseconds;
}

/** The day in UTC, as `YYYY-MM-DD`. */
export function dayOf(instant: EpochMs): string {
  return Temporal.Instant.fromEpochMilliseconds(instant).toString().slice(0, 10);
}

/** The date alone if the instant is midnight UTC, otherwise the whole instant. */
export function dateInWords(at: EpochMs): string {
  return at % 86_400_000 === 0 ? dayOf(at) : Temporal.Instant.fromEpochMilliseconds(at).toString();
}

/** `1 call`, `3,100 calls`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}

/** The limit for store keys, log lines and reports. */
const LONGEST_ID = 256;
/** Control, format, unassigned and lone-surrogate characters, and the two line separators. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

/**
 * No separators, comments or quotes (RFC 5322 section 3.2.3): a mailer would read another address. Dots only between atoms.
 * The domain is a name or a literal in brackets.
 */
const ATOM = '[^\\s@.<>"(),:;[\\]\\\\]+';
const NAME = '[\\p{L}\\p{M}\\p{N}](?:[\\p{L}\\p{M}\\p{N}-]*[\\p{L}\\p{M}\\p{N}])?';
const LITERAL = '\\[[0-9A-Za-z.:]+\\]';
const MAIL = new RegExp(
  `^(?=[^@]{1,64}@.{1,190}$)${ATOM}(?:\\.${ATOM})*@(?:${NAME}(?:\\.${NAME})*|${LITERAL})$`,
  'u',
);

/** Undefined for a text that is no mail address in this strict form. */
export function parseMail(text: string): string | undefined {
  return MAIL.test(text) && isPrintableId(text) ? text : undefined;
}

/** Whether a text from outside may be an id. Ids become part of store keys, log lines and reports. */
export function isPrintableId(text: string): boolean {
  return text !== '' && text.length <= LONGEST_ID && !UNPRINTABLE.test(text);
}

/** Prefixes that keep the ids of several identities apart. */
export interface IdPrefixes {
  /** Prepended to every name of this identity. '' for none. */
  readonly own: string;
  /** Prefixes of other identities. No id of this identity may begin with one. */
  readonly others: readonly string[];
}

/** The id for `name`. Undefined if it is no valid id, or begins with the prefix of another identity. */
export function idNamed(name: string, prefixes: IdPrefixes | undefined): string | undefined {
  const id = `${prefixes?.own ?? ''}${name}`;
  if (name === '' || !isPrintableId(id)) return undefined;
  return prefixes?.others.some((other) => id.startsWith(other)) ? undefined : id;
}

const PREFIX = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}[/:]$/;

/** `partner/` unchanged, and '' for `off`. Undefined for any other text. */
export function parseIdPrefix(text: string): string | undefined {
  if (text === 'off') return '';
  return PREFIX.test(text) ? text : undefined;
}

const CLAIM = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/;
/** Claims about the token, not about its holder. Most differ in the next token. */
const OF_THE_TOKEN = /^(iss|aud|exp|nbf|iat|jti|scope|cnf)$/;

/** Undefined for a text that is no claim name, and for claims that describe the token instead of its holder. */
export function parseClaimName(text: string): string | undefined {
  return CLAIM.test(text) && !OF_THE_TOKEN.test(text) ? text : undefined;
}

/** Whether a host name or address (brackets allowed) means only this machine. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/.test(host);
}

/** A string field that `parse` reads. `message` is the finding if `parse` returns undefined. */
export function notation<T>(parse: (text: string) => T | undefined, message: string, meta: Notation) {
  return z
    .string()
    .meta({ ...meta })
    .transform((text, context): T => {
      const value = parse(text);
      if (value !== undefined) return value;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    });
}

export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words, description: string) {
  return z.enum(words).meta({ description }).optional();
}

/** A section, or `off`, which ends inheritance and becomes `none`. */
export function orOff<Section extends z.ZodType, None>(section: Section, none: None) {
  return z.union([z.literal('off').transform((): None => none), section]);
}

export interface Notation {
  readonly description: string;
  readonly examples?: readonly string[];
}

export const duration = (description: string) =>
  notation(parseDuration, 'not a duration such as 250ms, 3s, 5m, 2h or 30d, of 3650d at most', {
    description,
    examples: ['3s', '5m', '30d'],
  });

/** For values that are used in whole seconds. Returns milliseconds, at least 1,000. */
export function parseWholeSeconds(text: string): number | undefined {
  const ms = parseDuration(text);
  return ms === undefined || ms < 1_000 ? undefined : ms;
}

export const wholeSeconds = (description: string) =>
  notation(parseWholeSeconds, 'not a duration of at least 1s, such as 30s, 1h or 365d', {
    description,
    examples: ['1h', '365d'],
  });

export const size = (description: string) =>
  notation(parseSize, 'not a size such as 512B, 64KB, 10MB or 2GB', {
    description,
    examples: ['64KB', '10MB'],
  });

export const rate = (description: string) =>
  notation(parseRate, 'not a rate such as 600/1m', { description, examples: ['600/1m'] });

export const instant = (description: string) =>
  notation(parseInstant, 'not a calendar date (YYYY-MM-DD) or an instant with its offset', {
    description,
    examples: ['2027-01-15'],
  });

/** One line of text for people. Header values are restricted further where they are written (WARN-2). */
export const lineOfText = (description: string, example: string) =>
  notation(
    (text) => (/^.{1,300}$/u.test(text) && controlIn(text) === undefined ? text : undefined),
    'not a single line of 1 to 300 printable characters',
    { description, examples: [example] },
  );
