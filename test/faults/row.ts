// What a row of test:faults is: a promise, the way to measure it, and its figures beside what was measured.
// Rows stand in files of their own beside this one; run.ts runs and prints them.

export interface Row {
  /** Number of the promise. */
  readonly promise: string;
  readonly what: string;
  readonly measure: () => Promise<readonly Figure[]>;
}

export interface Figure {
  readonly kept: boolean;
  /** The measured figure and the promised one. */
  readonly text: string;
  /** Whether a machine that is busy with something else can spoil it. */
  readonly timed: boolean;
}

const shown = (value: number): string => String(Number(value.toFixed(value < 10 ? 1 : 0)));

/** A figure in milliseconds, `most` included; `why` says where the bound comes from. */
export function within(what: string, ms: number, most: number, why = ''): Figure {
  return {
    kept: ms <= most,
    text: `${what} ${shown(ms)} ms (<= ${shown(most)}${why === '' ? '' : ` = ${why}`})`,
    timed: true,
  };
}

/** An amount of memory or text, `most` included. */
export function atMost(what: string, measured: number, most: number, unit: string): Figure {
  return { kept: measured <= most, text: `${what} ${shown(measured)} ${unit} (<= ${most})`, timed: false };
}

/** A share in percent of `of`, `least` included. */
export function share(what: string, count: number, of: number, least: number): Figure {
  const percent = (100 * count) / of;
  return {
    kept: of > 0 && percent >= least,
    text: `${what} ${count} of ${of} (>= ${least} %)`,
    timed: least < 100,
  };
}

/** A count that is to be this one; `timed` where a late answer changes it. */
export function exactly(what: string, count: number, promised: number, timed = false): Figure {
  return { kept: count === promised, text: `${what} ${count} (${promised})`, timed };
}

/** Of milliseconds: what all but one in a hundred stay below. */
export function p99Of(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;
}
