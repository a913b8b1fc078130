// What a brownout is: the rule an operator writes, and the windows it comes to between deprecation and sunset.
import type { EpochMs } from '../contract.ts';

/** When a rule applies. Instants are half-open: from <= now < until. */
export type BrownoutTimes =
  | { readonly kind: 'dated'; readonly from: EpochMs; readonly until: EpochMs }
  /** Again and again by the wall clock of `zone`; bounds left out are the deprecation and the sunset. */
  | {
      readonly kind: 'repeated';
      readonly beat: CronBeat;
      readonly from: EpochMs | undefined;
      readonly until: EpochMs | undefined;
    }
  /** Relative to the sunset, so that an extension moves it along. One with a beat lasts until the next with a beat. */
  | {
      readonly kind: 'phase';
      /** Milliseconds before the effective sunset. */
      readonly beforeSunset: number;
      readonly beat: CronBeat | undefined;
      /** Milliseconds one window lasts. */
      readonly lasts: number;
    };

export interface CronBeat {
  /** Five fields. */
  readonly cron: string;
  /** IANA name. */
  readonly zone: string;
  /** Milliseconds one window lasts, counted in real time also across a change of the clocks. */
  readonly lasts: number;
}

/** What a request meets inside a window. */
export interface BrownoutAnswer {
  readonly announced: EpochMs;
  readonly status: 410 | 503;
  /** Share of the callers that meet it, above 0 and below 1; undefined: everyone, known to the gateway or not. */
  readonly share: number | undefined;
  /** Replaces the sentence of the body. */
  readonly message: string | undefined;
}

export interface BrownoutRule extends BrownoutAnswer {
  readonly times: BrownoutTimes;
}

/** One stretch of refusals: from <= now < until. */
export interface BrownoutWindow extends BrownoutAnswer {
  readonly from: EpochMs;
  readonly until: EpochMs;
  /** Place of its rule in the list it was written in. */
  readonly rule: number;
}
