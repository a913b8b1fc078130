// Expands the brownout rules of a version into windows.
import type { EpochMs } from '../contract.ts';
import { firingTimes } from './brownout-cron.ts';
import type { BrownoutRule, BrownoutTimes, BrownoutWindow, CronWindows } from './brownout-rule.ts';

/** More windows would be an outage rather than brownouts, and would slow down every reload. */
export const MAX_WINDOWS = 500;

export interface BrownoutSpan {
  readonly deprecated: EpochMs;
  /** The effective sunset. Windows relative to it move with an extension. */
  readonly sunset: EpochMs;
}

type TimeRange = Pick<BrownoutWindow, 'from' | 'until'>;

/**
 * All windows of the rules, in time order and limited to the span, so that no rule refuses before the deprecation. Returns
 * at most one window more than `MAX_WINDOWS`, plus the first of each further rule. The caller can thus detect an excess.
 */
export function expandBrownouts(
  rules: readonly BrownoutRule[],
  span: BrownoutSpan,
): readonly BrownoutWindow[] {
  const windows: BrownoutWindow[] = [];
  for (const [rule, { times, ...answer }] of rules.entries()) {
    const most = Math.max(1, MAX_WINDOWS + 1 - windows.length);
    for (const range of rangesOf(times, rules, span, most)) {
      const from = Math.max(range.from, span.deprecated);
      const until = Math.min(range.until, span.sunset);
      if (from < until) windows.push({ from, until, rule, ...answer });
    }
  }
  return windows.sort((a, b) => a.from - b.from || a.rule - b.rule);
}

function rangesOf(
  times: BrownoutTimes,
  rules: readonly BrownoutRule[],
  span: BrownoutSpan,
  most: number,
): readonly TimeRange[] {
  switch (times.kind) {
    case 'dated':
      return [times];
    case 'repeated':
      return repeat(times.beat, times.from ?? span.deprecated, times.until ?? span.sunset, span, most);
    case 'phase': {
      const from = span.sunset - times.beforeSunset;
      if (times.beat === undefined) return [{ from, until: from + times.lasts }];
      return repeat(times.beat, from, span.sunset - nextPhase(times.beforeSunset, rules), span, most);
    }
    default:
      return times satisfies never;
  }
}

/** A window that would outlast its rule ends with the rule. */
function repeat(
  beat: CronWindows,
  from: EpochMs,
  until: EpochMs,
  span: BrownoutSpan,
  most: number,
): readonly TimeRange[] {
  const first = Math.max(from, span.deprecated);
  const end = Math.min(until, span.sunset);
  return firingTimes(beat, first, end, most).map((strike) => ({
    from: strike,
    until: Math.min(strike + beat.lasts, end),
  }));
}

/** How long before the sunset the next repeated phase begins. 0 for the last phase. */
function nextPhase(beforeSunset: number, rules: readonly BrownoutRule[]): number {
  const later = rules.flatMap(({ times }) =>
    times.kind === 'phase' && times.beat !== undefined && times.beforeSunset < beforeSunset
      ? [times.beforeSunset]
      : [],
  );
  return Math.max(0, ...later);
}
