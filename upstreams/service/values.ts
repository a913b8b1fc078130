// Types of values in the sample services (text, amount, currency, day) and their readers and filters.
import type { Parsed } from './collection-contract.ts';
import type { Filter } from './list-query.ts';

const SECONDS_PER_DAY = 86_400;
const LAST_SECOND = 253_402_300_799; // 9999-12-31T23:59:59Z
const LONGEST_TEXT = 200;

export function invalid(message: string): Parsed<never> {
  return { kind: 'invalid', message };
}

/** One line of 1 to 200 characters. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_TEXT && /^[^\p{Cc}\p{Cs}]+$/u.test(value);
}

/** Whole minor units, up to the largest that `decimalOf` can write. */
export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 1e14;
}

/** Whole seconds since 1970, up to the year 9999. */
export function isSecond(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LAST_SECOND;
}

export function isOneOf<Word extends string>(words: readonly Word[], value: unknown): value is Word {
  return words.some((word) => word === value);
}

/** Minor units as `12.50`. */
export function decimalOf(amount: number): string {
  const digits = String(amount).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Minor units of `12.50`; undefined for anything else. */
export function amountOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^(0|[1-9]\d{0,11})\.\d\d$/.test(value)
    ? Number(value.replace('.', ''))
    : undefined;
}

/** The day of a second, in UTC. */
export function dayOf(second: number): string {
  return new Date(second * 1_000).toISOString().slice(0, 10);
}

/** The first second of an existing day; undefined for anything else. */
export function secondOf(day: unknown): number | undefined {
  if (typeof day !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
  const at = Date.parse(`${day}T00:00:00Z`) / 1_000;
  return isSecond(at) && dayOf(at) === day ? at : undefined;
}

/** Keeps the second of `current` if it is on this day: a client that writes days must not change the time. */
export function secondOn(day: number, current: number | undefined): number {
  return current !== undefined && Math.floor(current / SECONDS_PER_DAY) * SECONDS_PER_DAY === day
    ? current
    : day;
}

const equal = (column: string, read: Filter['read'], means: string): Filter => ({
  column,
  compare: '=',
  read,
  means,
});

export const textFilter = (column: string) =>
  equal(column, (text) => (isText(text) ? text : undefined), 'one line of 1 to 200 characters');

/** `words`: stored words by the words of the edition. */
export function wordFilter(column: string, words: Readonly<Record<string, string>>): Filter {
  const read = (text: string) => (Object.hasOwn(words, text) ? words[text] : undefined);
  return equal(column, read, `one of ${Object.keys(words).join(', ')}`);
}

export const sameWords = (words: readonly string[]) => Object.fromEntries(words.map((word) => [word, word]));

/** Inclusive lower or upper bound. */
export const boundFilter = (
  column: string,
  compare: '>=' | '<=',
  read: Filter['read'],
  means: string,
): Filter => ({ column, compare, read, means });

export const readWhole = (text: string) => (/^(0|[1-9]\d{0,13})$/.test(text) ? Number(text) : undefined);

export const WHOLE_AMOUNT = 'a whole number of minor units, such as 1250';
export const DECIMAL_AMOUNT = 'a decimal with two places, such as 12.50';
export const SECONDS = 'a whole number of seconds since 1970';
export const A_DAY = 'a day, such as 2026-03-01';

/** The last second of a day, since "until" includes the whole day. */
export function endOf(day: string): number | undefined {
  const first = secondOf(day);
  return first === undefined ? undefined : first + SECONDS_PER_DAY - 1;
}
