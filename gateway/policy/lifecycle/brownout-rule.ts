// Types of brownouts: the rule of a policy file and its windows between deprecation and sunset.
import type { EpochMs } from '../contract.ts';

/** Instants are half-open: from <= now < until. */
export type BrownoutTimes =
  | { readonly kind: 'dated'; readonly from: EpochMs; readonly until: EpochMs }
  /** Repeats by the wall clock of `zone`. Undefined bounds mean the deprecation and the sunset. */
  | {
      readonly kind: 'repeated';
      readonly beat: CronWindows;
      readonly from: EpochMs | undefined;
      readonly until: EpochMs | undefined;
    }
  /** Relative to the sunset, so that an extension moves it. A repeated phase lasts until the next repeated phase. */
  | {
      readonly kind: 'phase';
      /** Milliseconds before the effective sunset. */
      readonly beforeSunset: number;
      readonly beat: CronWindows | undefined;
      readonly lasts: number;
    };

export interface CronWindows {
  readonly cron: string;
  readonly zone: string;
  /** Milliseconds per window, in real time even across a clock change. */
  readonly lasts: number;
}

export interface BrownoutAnswer {
  readonly announced: EpochMs;
  readonly status: 410 | 503;
  /** Fraction of the callers that are refused, above 0 and below 1. Undefined: all callers, anonymous ones included. */
  readonly share: number | undefined;
  readonly message: string | undefined;
}

export interface BrownoutRule extends BrownoutAnswer {
  readonly times: BrownoutTimes;
}

/** Half-open: from <= now < until. */
export interface BrownoutWindow extends BrownoutAnswer {
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly rule: number;
}
