// The brownouts of a version or operation, unrolled between its deprecation and its effective sunset.
// Part of compiling one version; a request compares the clock with the bounds of the window it is in.
import { type BrownoutCalendar, createBrownoutCalendar } from '../../policy/lifecycle/brownout-calendar.ts';
import type { BrownoutRule } from '../../policy/lifecycle/brownout-rule.ts';
import { expandBrownouts } from '../../policy/lifecycle/brownout-windows.ts';
import type { Schedule } from '../../policy/lifecycle/schedule.ts';

/** Undefined without rules, and without the dates between which windows may lie. */
export function compileBrownouts(
  rules: readonly BrownoutRule[] | undefined,
  { deprecated, sunset }: Pick<Schedule, 'deprecated' | 'sunset'>,
): BrownoutCalendar | undefined {
  if (rules === undefined || rules.length === 0) return undefined;
  if (deprecated === undefined || sunset === undefined) return undefined;
  return createBrownoutCalendar(expandBrownouts(rules, { deprecated, sunset }));
}
