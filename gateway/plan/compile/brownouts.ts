// The brownouts of a version or operation, unrolled between its deprecation and its effective sunset.
// Part of compiling one version; a request compares the clock with the bounds of the window it is in.

import type { EpochMs } from '../../policy/contract.ts';
import { type BrownoutCalendar, createBrownoutCalendar } from '../../policy/lifecycle/brownout-calendar.ts';
import type { BrownoutRule, BrownoutWindow } from '../../policy/lifecycle/brownout-rule.ts';
import { expandBrownouts } from '../../policy/lifecycle/brownout-windows.ts';
import type { Schedule } from '../../policy/lifecycle/schedule.ts';

/** `known`: the instant by which they are announced. */
type Brownouts = (
  dates: Pick<Schedule, 'deprecated' | 'sunset'>,
  known: EpochMs,
) => BrownoutCalendar | undefined;

/**
 * The windows of the rules that are announced, none beginning before it is. Undefined where there are none, and without
 * the dates between which they may lie. The same dates are unrolled once: each window costs a look at a time zone.
 */
export function compileBrownouts(rules: readonly BrownoutRule[] = []): Brownouts {
  const unrolled = new Map<string, readonly BrownoutWindow[]>();
  return ({ deprecated, sunset }, known) => {
    if (rules.length === 0 || deprecated === undefined || sunset === undefined) return undefined;
    const dates = `${deprecated} ${sunset}`;
    const windows = unrolled.get(dates) ?? expandBrownouts(rules, { deprecated, sunset });
    unrolled.set(dates, windows);
    const announced = windows
      .filter((window) => window.announced <= known && window.announced < window.until)
      .map((window) => ({ ...window, from: Math.max(window.from, window.announced) }));
    return announced.length === 0 ? undefined : createBrownoutCalendar(announced);
  };
}
