// What the lifecycle policy speaks: the dates of a version, the phases they make, and its refusals.
import type { EpochMs, HeaderLine } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';

/** Derived from dates and now, never stored (design: the stage of a version is derived). */
export type Stage = 'planned' | 'active' | 'deprecated' | 'sunset' | 'retired';

/** What a version answers once its sunset has passed. */
export type Afterlife =
  | { readonly kind: 'gone' }
  /** `unsafe`: the status for methods other than GET and HEAD (RET-1). */
  | { readonly kind: 'redirect'; readonly to: Label; readonly unsafe: 301 | 308 | 410 };

export interface Extension {
  /** The new sunset. */
  readonly to: EpochMs;
  readonly announced: EpochMs;
}

/** The dates, successor and links of one version, with the announced extensions applied. */
export interface Schedule {
  /** `-Infinity` for the single version of an unversioned API. */
  readonly released: EpochMs;
  readonly deprecated: EpochMs | undefined;
  /** The day on which callers learn of the dates; until then they see none of them. */
  readonly announced?: EpochMs | undefined;
  /** The sunset as first published, and what became of it, in the order announced. */
  readonly published?: EpochMs | undefined;
  readonly extended?: readonly Extension[] | undefined;
  /** The effective sunset: the last extension, or the date first published. From this instant the upstream is never called. */
  readonly sunset: EpochMs | undefined;
  readonly retired: EpochMs | undefined;
  /** From this instant the version is unknown, as if it had never existed. */
  readonly forgotten: EpochMs | undefined;
  readonly successor: Label | undefined;
  /** Of an operation: which one of that version follows it, as `POST /{id}/cancel`; left out: the same. */
  readonly successorOperation?: string | undefined;
  /** Absolute URL of what may serve instead, where there is no successor. */
  readonly alternate?: string | undefined;
  /** Absolute URL of the migration guide. */
  readonly guide: string | undefined;
  /** Absolute URL of the status page (X-API-Deprecation-Info). */
  readonly status: string | undefined;
  /** Absolute URLs: what tells people how to call it, and what tells machines (RFC 8631). */
  readonly serviceDoc?: string | undefined;
  readonly serviceDesc?: string | undefined;
  readonly reason: string | undefined;
  readonly after: Afterlife;
}

/** How `Deprecation` is written (DEP-1). */
export type DeprecationForm = 'rfc9745' | 'true' | 'http-date';

/**
 * A stretch of time in which a version's stage and its signals do not change: from <= now < until.
 * Everything in it is built when the plan is compiled.
 */
export interface Phase {
  readonly stage: Stage;
  readonly from: EpochMs;
  /** `Infinity` for the last phase. */
  readonly until: EpochMs;
  /** The date of its `Sunset` line; undefined where it has none. */
  readonly sunset: EpochMs | undefined;
  /** Singleton lines that replace the upstream's own: deprecation, sunset, x-api-deprecation-info. */
  readonly replace: readonly HeaderLine[];
  /** The 299 warning to append, where the stage has one. */
  readonly warning: string | undefined;
  /** The link values that are the same for every resource, joined; empty string when there are none. */
  readonly links: string;
  /** Whether a per-resource successor-version link belongs after `links`. */
  readonly linksSuccessor: boolean;
}

/** The stages of what has ended. */
export type EndStage = Extract<Stage, 'sunset' | 'retired'>;

export type LifecycleRefusal =
  | {
      readonly reason: 'version_retired';
      readonly label: Label;
      /** What has ended: an operation such as `GET /search`; undefined for the version as a whole. */
      readonly operation: string | undefined;
      readonly stage: EndStage;
      readonly since: EpochMs;
      /** Absolute URL of the same resource in the successor. */
      readonly replacement: string | undefined;
      /** Where no URL leads there: the version to name instead. */
      readonly successor: Label | undefined;
      readonly guide: string | undefined;
      /** Why it was retired, as the policy file says. */
      readonly because: string | undefined;
    }
  | {
      readonly reason: 'version_moved';
      readonly status: 301 | 308;
      readonly label: Label;
      readonly operation: string | undefined;
      readonly stage: EndStage;
      readonly since: EpochMs;
      readonly location: string;
      readonly guide: string | undefined;
    }
  | {
      readonly reason: 'brownout';
      readonly status: 410 | 503;
      readonly label: Label;
      readonly operation: string | undefined;
      /** End of the window. */
      readonly until: EpochMs;
      readonly retryAfterSeconds: number;
      readonly sunset: EpochMs | undefined;
      /** The sentence of the policy file, in place of ours. */
      readonly message: string | undefined;
      readonly replacement: string | undefined;
      /** Where no URL leads there: the version to name instead. */
      readonly successor: Label | undefined;
      readonly guide: string | undefined;
    }
  | {
      readonly reason: 'adoption_frozen';
      readonly label: Label;
      readonly operation: string | undefined;
      /** From this day new consumers are refused. */
      readonly since: EpochMs;
      readonly replacement: string | undefined;
      /** Where no URL leads there: the version to name instead. */
      readonly successor: Label | undefined;
      readonly guide: string | undefined;
    };
