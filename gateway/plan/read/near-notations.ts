// Converts durations, rates, shares, sizes and dates from common notations to those of the files.
import type { Path } from './document.ts';

/** A converter, and the parser that its result must pass. */
export interface NearRow {
  readonly message: RegExp;
  /** Undefined if the meaning is unclear. */
  readonly nearly: (text: string, path: Path) => string | undefined;
  readonly reads: (text: string) => unknown;
}

export function matching(pattern: RegExp): (text: string) => true | undefined {
  return (text) => pattern.test(text) || undefined;
}

const UNITS: readonly (readonly [RegExp, string, number])[] = [
  [/^(?:ms|millis|milliseconds?)$/, 'ms', 1],
  [/^(?:s|secs?|seconds?)$/, 's', 1],
  [/^(?:m|mins?|minutes?)$/, 'm', 1],
  [/^(?:h|hrs?|hours?)$/, 'h', 1],
  [/^(?:d|days?)$/, 'd', 1],
  [/^(?:w|wks?|weeks?)$/, 'd', 7],
];

/** `30 days`, `2 weeks`, `PT5M`. A bare number means seconds. */
export function nearDuration(text: string): string | undefined {
  const [, count, unit = 's'] = /^P?T?(\d{1,9})\s*([a-z]*)$/i.exec(text.trim()) ?? [];
  return count === undefined ? undefined : inUnits(Number(count), unit || 's');
}

/** `600 per minute`, `600/min`, `10 rps`. A bare number means requests per minute. */
export function nearRate(text: string): string | undefined {
  const written = text
    .trim()
    .toLowerCase()
    .replace(/[,_](?=\d{3}\b)/g, '');
  const [, units, count, unit] =
    /^(\d+)\s*(?:req(?:uest)?s?\s*)?(?:\/|per|an?)\s*(\d*)\s*([a-z]+)$/.exec(written) ?? [];
  if (units !== undefined && unit !== undefined) {
    const window = inUnits(count === '' ? 1 : Number(count), unit);
    return window && `${units}/${window}`;
  }
  const [, alone, per = 'm'] = /^(\d+)(?:\s*rp([smh]))?$/.exec(written) ?? [];
  return alone && `${alone}/1${per}`;
}

/** A share in whole percent. */
export function nearShare(text: string): string | undefined {
  const percent = percentIn(text);
  return percent === undefined || percent < 1 ? undefined : `${Math.round(percent)}%`;
}

/** A share with decimals. */
export function nearPercent(text: string): string | undefined {
  const percent = percentIn(text);
  return percent === undefined ? undefined : `${Number(percent.toFixed(4))}%`;
}

/** `0.5`, `50`, `50 %`. */
function percentIn(text: string): number | undefined {
  const [, number, percent] = /^(\d{1,3}(?:\.\d+)?|\.\d+)\s*(%?)$/.exec(text.trim()) ?? [];
  if (number === undefined) return undefined;
  return percent === '' && Number(number) <= 1 ? Number(number) * 100 : Number(number);
}

/** `10 MB`, `10mib`, `64k`. A bare number means bytes. */
export function nearSize(text: string): string | undefined {
  const [, count, unit = ''] = /^(\d+)\s*([kmg]?)i?b?(?:ytes?)?$/i.exec(text.trim()) ?? [];
  if (count === undefined || unit !== '') return count && `${count}${unit.toUpperCase()}B`;
  const [size = '', by = 1] = [['MB', 1_024 ** 2] as const, ['KB', 1_024] as const].find(
    ([, bytes]) => Number(count) >= bytes && Number(count) % bytes === 0,
  ) ?? ['B'];
  return `${Number(count) / by}${size}`;
}

/** `2027-1-5`, `2027/01/15`, `15.1.2027`, `20270115`, incomplete instants, days that the month does not have. */
export function nearDate(text: string): string | undefined {
  const [, day = '', time = ''] = /^([\d./-]+)(?:[T\s]+(.+))?$/i.exec(text.trim()) ?? [];
  const [year, month, date] = dayParts(day) ?? [];
  if (year === undefined || month === undefined || date === undefined || month < 1 || month > 12)
    return undefined;
  if (date < 1 || date > 31) return undefined;
  const whole = Temporal.PlainDate.from({ year, month, day: date }).toString();
  if (time === '') return whole;
  const [, clock, seconds = ':00', offset = 'Z'] =
    /^(\d\d:\d\d)(:\d\d)?(?:\.\d+)?\s*(Z|[+-]\d\d:\d\d)?$/i.exec(time) ?? [];
  return clock && `${whole}T${clock}${seconds}${offset.toUpperCase()}`;
}

/** Year, month and day. Undefined if their order is unclear. */
function dayParts(text: string): readonly number[] | undefined {
  const yearFirst = /^(\d{4})([-./])(\d{1,2})\2(\d{1,2})$/.exec(text);
  if (yearFirst !== null) return [yearFirst[1], yearFirst[3], yearFirst[4]].map(Number);
  const run = /^(\d{4})(\d\d)(\d\d)$/.exec(text);
  if (run !== null) return run.slice(1).map(Number);
  const [, first, mark, second, year] = /^(\d{1,2})([-./])(\d{1,2})\2(\d{4})$/.exec(text) ?? [];
  if (first === undefined || (mark !== '.' && Number(first) <= 12 && Number(second) <= 12)) return undefined;
  return mark === '.' || Number(first) > 12
    ? [Number(year), Number(second), Number(first)]
    : [Number(year), Number(first), Number(second)];
}

function inUnits(count: number, unit: string): string | undefined {
  const [, short, times] = UNITS.find(([words]) => words.test(unit.toLowerCase())) ?? [];
  return short === undefined || times === undefined ? undefined : `${count * times}${short}`;
}
