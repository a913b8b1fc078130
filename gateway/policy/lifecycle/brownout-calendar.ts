// The brownouts of one version by the clock: is there one now, which are to come, when does that change.
import type { EpochMs } from '../contract.ts';
import type { BrownoutWindow } from './brownout-rule.ts';

export interface BrownoutCalendar {
  /** Every window there will be, by time. */
  readonly planned: readonly BrownoutWindow[];
  /** The window `now` falls into; its first millisecond belongs to it, its end does not. */
  readonly at: (now: EpochMs) => BrownoutWindow | undefined;
  /** The windows that have a part in from <= t < until, by time: the schedule to publish. */
  readonly windows: (from: EpochMs, until: EpochMs) => readonly BrownoutWindow[];
  /** The first instant after `now` at which a window begins or ends; `Infinity` after the last. */
  readonly nextChange: (now: EpochMs) => EpochMs;
}

interface Now {
  readonly window: BrownoutWindow | undefined;
  /** The answer holds for from <= now < until. */
  readonly from: EpochMs;
  readonly until: EpochMs;
}

/** `windows` as `expandBrownouts` makes them: by time, none overlapping another. */
export function createBrownoutCalendar(windows: readonly BrownoutWindow[]): BrownoutCalendar {
  let known = lookUp(windows, Number.NEGATIVE_INFINITY);

  /** What was found last holds until the clock leaves its bounds, in either direction. */
  function stateAt(now: EpochMs): Now {
    if (now < known.from || now >= known.until) known = lookUp(windows, now);
    return known;
  }

  return {
    planned: windows,
    at: (now) => stateAt(now).window,
    windows: (from, until) => windows.filter((window) => window.until > from && window.from < until),
    nextChange: (now) => stateAt(now).until,
  };
}

function lookUp(windows: readonly BrownoutWindow[], now: EpochMs): Now {
  let low = 0;
  let high = windows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const window = windows[middle];
    if (window !== undefined && window.from <= now) low = middle + 1;
    else high = middle;
  }
  const before = windows[low - 1];
  if (before !== undefined && now < before.until)
    return { window: before, from: before.from, until: before.until };
  return {
    window: undefined,
    from: before?.until ?? Number.NEGATIVE_INFINITY,
    until: windows[low]?.from ?? Number.POSITIVE_INFINITY,
  };
}
