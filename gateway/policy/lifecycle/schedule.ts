// Types of the lifecycle policy: the dates of a version, its phases, and its refusals.
import type { EpochMs, HeaderLine } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';

/** Derived from the dates and now, never stored. */
export type Stage = 'planned' | 'active' | 'deprecated' | 'sunset' | 'retired';

export type AfterSunset =
  | { readonly kind: 'gone' }
  /** `unsafe`: the status for methods other than GET and HEAD (RET-1). */
  | { readonly kind: 'redirect'; readonly to: Label; readonly unsafe: 301 | 308 | 410 };

export interface Extension {
  readonly to: EpochMs;
  readonly announced: EpochMs;
}

/** The dates, successor and links of one version, with announced extensions applied. */
export interface Schedule {
  /** `-Infinity` for the single version of an unversioned API. */
  readonly released: EpochMs;
  readonly deprecated: EpochMs | undefined;
  /** Callers see no dates before this instant. */
  readonly announced?: EpochMs | undefined;
  /** The sunset as first published, and its extensions in the order of their announcements. */
  readonly published?: EpochMs | undefined;
  readonly extended?: readonly Extension[] | undefined;
  /**
   * The effective sunset: the last extension, or the date first published. From this instant the upstream is never called.
   */
  readonly sunset: EpochMs | undefined;
  readonly retired: EpochMs | undefined;
  /** From this instant the version is unknown, as if it had never existed. */
  readonly forgotten: EpochMs | undefined;
  readonly successor: Label | undefined;
  /** The successor operation in that version, such as `POST /{id}/cancel`. Undefined: the same operation. */
  readonly successorOperation?: string | undefined;
  /** Absolute URL of an alternative, for versions without a successor. */
  readonly alternate?: string | undefined;
  readonly guide: string | undefined;
  /** Absolute URL of the status page (X-API-Deprecation-Info). */
  readonly status: string | undefined;
  /** Absolute URLs of the documentation for people and of the description for machines (RFC 8631). */
  readonly serviceDoc?: string | undefined;
  readonly serviceDesc?: string | undefined;
  readonly reason: string | undefined;
  readonly after: AfterSunset;
}

/** How `Deprecation` is written (DEP-1). */
export type DeprecationForm = 'rfc9745' | 'true' | 'http-date';

/**
 * A period in which stage and signals of a version do not change: from <= now < until. Its header lines are built with the
 * plan.
 */
export interface Phase {
  readonly stage: Stage;
  readonly from: EpochMs;
  /** `Infinity` for the last phase. */
  readonly until: EpochMs;
  readonly sunset: EpochMs | undefined;
  /** Singleton lines that replace the upstream's: deprecation, sunset, x-api-deprecation-info. */
  readonly replace: readonly HeaderLine[];
  readonly warning: string | undefined;
  /** The link values that are the same for every resource, joined. Empty without any. */
  readonly links: string;
  /** Whether a successor-version link for the resource follows `links`. */
  readonly linksSuccessor: boolean;
}

export type EndStage = Extract<Stage, 'sunset' | 'retired'>;

export type LifecycleRefusal =
  | {
      readonly reason: 'version_retired';
      readonly label: Label;
      /** The ended operation, such as `GET /search`. Undefined for the whole version. */
      readonly operation: string | undefined;
      readonly stage: EndStage;
      readonly since: EpochMs;
      /** Absolute URL of the same resource in the successor. */
      readonly replacement: string | undefined;
      /** The version to name if no URL leads to it. */
      readonly successor: Label | undefined;
      readonly guide: string | undefined;
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
      readonly until: EpochMs;
      readonly retryAfterSeconds: number;
      readonly sunset: EpochMs | undefined;
      /** The message of the policy file, which replaces the default. */
      readonly message: string | undefined;
      readonly replacement: string | undefined;
      readonly successor: Label | undefined;
      readonly guide: string | undefined;
    }
  | {
      readonly reason: 'adoption_frozen';
      readonly label: Label;
      readonly operation: string | undefined;
      readonly since: EpochMs;
      readonly replacement: string | undefined;
      readonly successor: Label | undefined;
      readonly guide: string | undefined;
    };
