// Types of version resolution: labels, carriers, claims, preferences and refusals.
import type { EpochMs, Fields, RetryLater } from '../contract.ts';
import type { Carrier, CarrierNames } from './carriers.ts';

/** A version as declared in the policy, for example `v1`. `none` is the single label of an unversioned API. */
export type Label = string;

export const UNVERSIONED: Label = 'none';

/** A version exactly as one carrier of a request writes it, not yet judged. */
export interface Claim {
  readonly carrier: Carrier;
  readonly value: string;
  /** The version is inside the name of a media type, where `v` is part of it as in a path (VER-1). */
  readonly inName?: boolean;
}

export interface Preference {
  /** Undefined for a range without a version, such as one of any type. Such a range accepts the default (NEG-3). */
  readonly claim: Claim | undefined;
  /** Further versions of the same range, in parameters. They must agree with `claim` (VER-3). */
  readonly also: readonly Claim[];
  /** The weight in thousandths. 0 excludes. */
  readonly weight: number;
  /** Whether the range means any type. With weight 0 it excludes everything that the list does not name. */
  readonly isAny: boolean;
}

export interface Evidence {
  readonly claims: readonly Claim[];
  /** In the order of the list. Empty if no media type carries versions. */
  readonly preferences: readonly Preference[];
}

/** The input of the carrier readers. The route match provides path segment and subdomain. */
export interface CarrierInput {
  readonly method: string;
  /** The raw path segment at `{version}`. Undefined if the request used the API's base path. */
  readonly pathSegment: string | undefined;
  /** The first label of the host, if the API's hosts carry versions. */
  readonly subdomain: string | undefined;
  /** The raw path after the API's base. */
  readonly tail: string;
  readonly search: string;
  readonly headers: Fields;
  /** Lower-case names of fields with a `_`, which `headers` does not contain. */
  readonly underscored?: readonly string[] | undefined;
}

/** The path before and after `{version}`, relative to the base of the API, without a final slash. */
export interface PathInTail {
  readonly before: string;
  readonly after: string;
}

/** One form of a versioned media type, in lower case (NEG-1). */
export interface MediaTemplate {
  /** The type up to the version, or all of it if a parameter carries the version. */
  readonly before: string;
  /** The rest of the name after the version. */
  readonly after: string;
  /** The parameter that carries the version. Undefined if the name carries it. */
  readonly parameter: string | undefined;
  /** The type for upstreams: the one that the structured suffix names (VER-9). */
  readonly plain: string;
}

export interface PinRule {
  readonly account: string | undefined;
  readonly created: string | undefined;
  readonly match: DateMatch;
}

/** The compiled carriers and default of one API. The header's name is in lower case. */
export interface ResolutionRules extends CarrierNames {
  /**
   * Present if the path carries the version below the base, where the route table reads a misspelt one as part of the tail.
   */
  readonly pathInTail: PathInTail | undefined;
  /** Whether a parameter, by its decoded name, is unrelated to the version although it resembles `query`. */
  readonly isIgnored: (name: string) => boolean;
  /** The media types that carry versions, in `Accept` and `Content-Type`. */
  readonly mediaTypes: readonly MediaTemplate[];
  /** Whether a date in the header means the newest version up to that day, or only that day (VER-5). */
  readonly match: DateMatch;
  readonly pin: PinRule | undefined;
  readonly default: Label | undefined;
  /** Every declared label, newest first. */
  readonly labels: readonly Label[];
  /** Reads the enabled carriers (VER-2) except `Accept`, which is negotiated. */
  readonly readClaims: (input: CarrierInput) => readonly Claim[];
  /** The declared labels for a requested form (`1`, `v1`, `1.2.0`, a date), newest first. */
  readonly candidates: (requested: string) => readonly Label[];
}

export type DateMatch = 'exact' | 'floor';

export interface Availability {
  readonly now: EpochMs;
  /** False for a planned version, which counts as unknown (STAT-1). */
  readonly isReleased: (label: Label) => boolean;
  /** Released, with a sunset that has not passed. */
  readonly isServed: (label: Label) => boolean;
  /** Whether any caller may get the version: by its dates, by an exception, or because its end is only observed. */
  readonly mayAnswer: (label: Label) => boolean;
}

export type Verdict =
  | { readonly kind: 'resolved'; readonly label: Label; readonly carrier: Carrier }
  | { readonly kind: 'refused'; readonly refusal: VersioningRefusal };

/** No carrier names a version. The account's pin decides after authentication. */
export interface OpenResolution {
  readonly kind: 'open';
  /** The best known version of `Accept`, used without a pin and a default. */
  readonly next: { readonly claim: Claim; readonly verdict: Verdict & { kind: 'resolved' } } | undefined;
  /** Versions with weight 0. `all` if the list accepts nothing. */
  readonly excluded: ReadonlySet<Label> | 'all';
}

export type Resolution = Verdict | OpenResolution;

/** Why no version was resolved (VER). `known` lists the versions that are served now. */
export type VersioningRefusal =
  | { readonly reason: 'version_ambiguous'; readonly claims: readonly Claim[] }
  | { readonly reason: 'version_malformed'; readonly claim: Claim; readonly known: readonly Label[] }
  | { readonly reason: 'version_unknown'; readonly claim: Claim; readonly known: readonly Label[] }
  | { readonly reason: 'version_missing'; readonly known: readonly Label[] }
  /** `Accept` excludes every version that could respond. */
  | { readonly reason: 'version_unacceptable'; readonly known: readonly Label[] }
  /** The store is unavailable and this process has not cached the account's pin. Another version could break the client. */
  | RetryLater<'pins_unavailable'>;
