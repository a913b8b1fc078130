// What version resolution speaks: labels, carriers, claims, and its refusals.
// Readers make claims, resolve.ts makes a resolution of them; nothing else speaks of carriers.
import type { RequestHeaders } from '../contract.ts';

/** A version as the operator declares it, for example `v1`. `none` is the single label of an unversioned API. */
export type Label = string;

/** The label of an API declared with `versions: none`. */
export const UNVERSIONED: Label = 'none';

/** Where a version is written in a request; `default` and `unversioned` name the absence of one. */
export type Carrier = 'path' | 'header' | 'default' | 'unversioned';

/** A version exactly as one carrier of a request writes it, before any judgement. */
export interface Claim {
  readonly carrier: Carrier;
  readonly value: string;
}

/** What the carriers of an API read; the path segment was cut out by the route match. */
export interface CarrierInput {
  /** The raw path segment at `{version}`, absent when the request used the API's base path. */
  readonly pathSegment: string | undefined;
  readonly headers: RequestHeaders;
}

/** Carriers and default of one API, compiled. */
export interface ResolutionRules {
  /** Lower-case name of the version header, where one is configured. */
  readonly header: string | undefined;
  readonly default: Label | undefined;
  /** Every declared label, newest first. */
  readonly labels: readonly Label[];
  /** Finds declared labels for a requested form (`1`, `v1`, `1.2.0`), newest first; empty when there is none. */
  readonly candidates: (requested: string) => readonly Label[];
}

export type Resolution =
  | { readonly kind: 'resolved'; readonly label: Label; readonly carrier: Carrier }
  | { readonly kind: 'refused'; readonly refusal: VersioningRefusal };

/** What an API knows of a declared label at the moment of asking. */
export interface Standing {
  /** A version that is only planned counts as never having existed (STAT-1). */
  readonly isReleased: (label: Label) => boolean;
  /** Released, and its sunset has not passed. */
  readonly isServed: (label: Label) => boolean;
}

/** The four ways a version cannot be resolved, standards §3.4; `known` lists what is served at the moment of asking. */
export type VersioningRefusal =
  | { readonly reason: 'version_ambiguous'; readonly claims: readonly Claim[] }
  | { readonly reason: 'version_malformed'; readonly claim: Claim; readonly known: readonly Label[] }
  | { readonly reason: 'version_unknown'; readonly claim: Claim; readonly known: readonly Label[] }
  | { readonly reason: 'version_missing'; readonly known: readonly Label[] };
