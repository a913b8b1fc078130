// Answers whether a brownout is running, which ones follow, and when that changes.
import type { EpochMs } from '../contract.ts';
import type { BrownoutWindow } from './brownout-rule.ts';

export interface BrownoutCalendar {
  readonly planned: readonly BrownoutWindow[];
  readonly at: (now: EpochMs) => BrownoutWindow | undefined;
  /** The windows that overlap from <= t < until, in time order. */
  readonly windows: (from: EpochMs, until: EpochMs) => readonly BrownoutWindow[];
  /** The first instant after `now` at which a window begins or ends. `Infinity` after the last one. */
  readonly nextChange: (now: EpochMs) => EpochMs;
}

interface Now {
  readonly window: BrownoutWindow | undefined;
  readonly from: EpochMs;
  readonly until: EpochMs;
}

/** `windows` as `expandBrownouts` returns them: in time order, without overlaps. */
export function createBrownoutCalendar(windows: readonly BrownoutWindow[]): BrownoutCalendar {
  let known = lookUp(windows, Number.NEGATIVE_INFINITY);

  /** Searches again only if `now` leaves the bounds of the last result, in either direction. */
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
