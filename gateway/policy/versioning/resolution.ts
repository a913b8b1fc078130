// What version resolution speaks: labels, carriers, claims, preferences, and its refusals.
import type { EpochMs, Fields, RetryLater } from '../contract.ts';
import type { Carrier, CarrierNames } from './carriers.ts';

/** A version as the operator declares it, for example `v1`. `none` is the single label of an unversioned API. */
export type Label = string;

/** The label of an API declared with `versions: none`. */
export const UNVERSIONED: Label = 'none';

/** A version exactly as one carrier of a request writes it, before any judgement. */
export interface Claim {
  readonly carrier: Carrier;
  readonly value: string;
  /** Written inside the name of a media type, where the `v` belongs to the version as it does in a path (VER-1). */
  readonly inName?: boolean;
}

/** One member of `Accept` as far as versions go (NEG-2). */
export interface Preference {
  /** Undefined for a range that leaves the version open, such as one of any type: consent to the default (NEG-3). */
  readonly claim: Claim | undefined;
  /** What else the same range says of its version, by a parameter; it must agree with `claim` (VER-3). */
  readonly also: readonly Claim[];
  /** The weight in thousandths; 0 excludes. */
  readonly weight: number;
  /** Whether it is the range of any type at all, which with the weight 0 leaves only what the list names. */
  readonly isAny: boolean;
}

/** What a request says about its version: claims must agree, preferences are negotiated. */
export interface Evidence {
  readonly claims: readonly Claim[];
  /** In the order of the list; empty where no media type carries versions. */
  readonly preferences: readonly Preference[];
}

/** What the carriers of an API read; path segment and subdomain were cut out by the route match. */
export interface CarrierInput {
  readonly method: string;
  /** The raw path segment at `{version}`, absent when the request used the API's base path. */
  readonly pathSegment: string | undefined;
  /** The first label of the host where the API's hosts carry versions. */
  readonly subdomain: string | undefined;
  /** What follows the API's base, raw. */
  readonly tail: string;
  /** The raw query with its `?`. */
  readonly search: string;
  readonly headers: Fields;
  /** Lower-case names of fields that are left out of `headers`, since they have a `_`. */
  readonly underscored?: readonly string[] | undefined;
}

/** What stands around `{version}` in a path template, as seen from the base of the API; both without a final slash. */
export interface PathInTail {
  readonly before: string;
  readonly after: string;
}

/** One form of a versioned media type, in lower case (NEG-1). */
export interface MediaTemplate {
  /** The type up to the version, or all of it where a parameter carries the version. */
  readonly before: string;
  /** What follows the version in the name. */
  readonly after: string;
  /** The parameter that carries the version; undefined when the name does. */
  readonly parameter: string | undefined;
  /** What an upstream sees instead: the type that the structured suffix names (VER-9). */
  readonly plain: string;
}

/** How an API pins, compiled from `pin` in its `resolve` list. */
export interface PinRule {
  /** Claim that names the account; undefined: the consumer is the account. */
  readonly account: string | undefined;
  /** Claim with the day the account was made; undefined: the first call decides. */
  readonly created: string | undefined;
  /** Which version a creation day means (VER-5). */
  readonly match: DateMatch;
}

/** Carriers and default of one API, compiled; the header's name in lower case. */
export interface ResolutionRules extends CarrierNames {
  /** Where the path carries the version below the base, so that a misspelt one would be a tail. */
  readonly pathInTail: PathInTail | undefined;
  /** Whether a parameter, by its decoded name, means something else though it resembles `query`. */
  readonly isIgnored: (name: string) => boolean;
  /** Forms of the media types that carry versions, in `Accept` and `Content-Type`. */
  readonly mediaTypes: readonly MediaTemplate[];
  /** Whether a date in the header may mean the newest version up to that day, or that day only (VER-5). */
  readonly match: DateMatch;
  /** Undefined where no version is kept for an account. */
  readonly pin: PinRule | undefined;
  readonly default: Label | undefined;
  /** Every declared label, newest first. */
  readonly labels: readonly Label[];
  /** Reads the enabled carriers (VER-2), except `Accept`, which is negotiated. */
  readonly readClaims: (input: CarrierInput) => readonly Claim[];
  /** Finds declared labels for a requested form (`1`, `v1`, `1.2.0`, a date), newest first; empty when there is none. */
  readonly candidates: (requested: string) => readonly Label[];
}

export type DateMatch = 'exact' | 'floor';

/** What of the clock a resolution depends on. */
export interface Moment {
  readonly now: EpochMs;
  /** False for a planned version, which counts as never having existed (STAT-1). */
  readonly isReleased: (label: Label) => boolean;
  /** Released, and its sunset has not passed. */
  readonly isServed: (label: Label) => boolean;
  /** Served to anybody at all: by its dates, to a consumer with leave, or where its end is only observed. */
  readonly mayAnswer: (label: Label) => boolean;
}

export type Verdict =
  | { readonly kind: 'resolved'; readonly label: Label; readonly carrier: Carrier }
  | { readonly kind: 'refused'; readonly refusal: VersioningRefusal };

/** Nothing insists on a version, so that the account's pin decides once it is known who calls. */
export interface OpenResolution {
  readonly kind: 'open';
  /** The best known version among the members of `Accept` behind, for where there is no default. */
  readonly next: { readonly claim: Claim; readonly verdict: Verdict & { kind: 'resolved' } } | undefined;
  /** Versions with weight 0; `all` where the list names nothing that it would take. */
  readonly excluded: ReadonlySet<Label> | 'all';
}

/** Open only for an API with pins. */
export type Resolution = Verdict | OpenResolution;

/** The ways a version cannot be resolved (VER); `known` lists what is served at the moment of asking. */
export type VersioningRefusal =
  | { readonly reason: 'version_ambiguous'; readonly claims: readonly Claim[] }
  | { readonly reason: 'version_malformed'; readonly claim: Claim; readonly known: readonly Label[] }
  | { readonly reason: 'version_unknown'; readonly claim: Claim; readonly known: readonly Label[] }
  | { readonly reason: 'version_missing'; readonly known: readonly Label[] }
  /** `Accept` excludes every version that would answer. */
  | { readonly reason: 'version_unacceptable'; readonly known: readonly Label[] }
  /** The store is away and the account not known in this process; another version would be worse than none. */
  | RetryLater<'pins_unavailable'>;
