// Expands brownout rules from the notation of a policy file, for tests.
import type { BrownoutWindow } from '../../gateway/policy/lifecycle/brownout-rule.ts';
import { expandBrownouts } from '../../gateway/policy/lifecycle/brownout-windows.ts';
import { brownoutsSection } from '../../gateway/sections/schedule/grammar.ts';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const at = (text: string) => Temporal.Instant.from(text).epochMilliseconds;
export const day = (text: string) => at(`${text}T00:00:00Z`);
export const spell = (instant: number) => Temporal.Instant.fromEpochMilliseconds(instant).toString();
export const YEAR = { deprecated: day('2027-01-01'), sunset: day('2028-01-01') };

export function windowsOf(
  written: readonly Readonly<Record<string, unknown>>[],
  span = YEAR,
): readonly BrownoutWindow[] {
  const rules = brownoutsSection.parse(written.map((rule) => ({ announced: '2026-06-01', ...rule })));
  return expandBrownouts(rules, span);
}

export const begins = (windows: readonly BrownoutWindow[]) => windows.map(({ from }) => spell(from));
