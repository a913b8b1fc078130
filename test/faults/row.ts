// A row of test:faults: its name, its measurement, and the measured figures beside the promised ones.

export interface Row {
  /** The name in the output and for the filter of the command. */
  readonly what: string;
  readonly measure: () => Promise<readonly Figure[]>;
}

export interface Figure {
  readonly kept: boolean;
  /** The measured figure and the promised one. */
  readonly text: string;
  /** Whether a busy machine can spoil it. */
  readonly timed: boolean;
}

const shown = (value: number): string => String(Number(value.toFixed(value < 10 ? 1 : 0)));

/** A figure in milliseconds, at most `most`; `why`: the source of the limit. */
export function within(what: string, ms: number, most: number, why = ''): Figure {
  return {
    kept: ms <= most,
    text: `${what} ${shown(ms)} ms (<= ${shown(most)}${why === '' ? '' : ` = ${why}`})`,
    timed: true,
  };
}

/** An amount of memory or text, at most `most`. */
export function atMost(what: string, measured: number, most: number, unit: string): Figure {
  return { kept: measured <= most, text: `${what} ${shown(measured)} ${unit} (<= ${most})`, timed: false };
}

/** A share in percent of `of`, at least `least`. */
export function share(what: string, count: number, of: number, least: number): Figure {
  const percent = (100 * count) / of;
  return {
    kept: of > 0 && percent >= least,
    text: `${what} ${count} of ${of} (>= ${least} %)`,
    timed: least < 100,
  };
}

/** An exact count; `timed` if a late response changes it. */
export function exactly(what: string, count: number, promised: number, timed = false): Figure {
  return { kept: count === promised, text: `${what} ${count} (${promised})`, timed };
}

/** The 99th percentile in milliseconds. */
export function p99Of(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Number.NaN;
}
