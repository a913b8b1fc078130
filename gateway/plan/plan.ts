// The plan: what the documents mean, inheritance resolved, immutable.
// A request captures one and sees only that one.
import type { AccessRule } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { Phase, Schedule } from '../policy/lifecycle/schedule.ts';
import type { Limit, LimitRules } from '../policy/rate-limit/limit.ts';
import type { Label, ResolutionRules } from '../policy/versioning/resolution.ts';
import type { RouteTable } from './route-table.ts';

/** Everything a request is judged by. Swapped as a whole on reload. */
export interface GatewayPlan {
  /** Digest (hex) of the documents behind this plan. */
  readonly revision: string;
  /** Origin of the public face, no trailing slash: `https://api.example.com`. Links and locations are built from it. */
  readonly public: string;
  readonly apis: readonly ApiPlan[];
  readonly routes: RouteTable<ApiPlan>;
  /** Per client address, before authentication; undefined when switched off. */
  readonly guard: Limit | undefined;
  /** Query parameters that may not carry credentials: a request with one of them is refused. */
  readonly credentialsInUrl: ReadonlySet<string>;
}

export interface ApiPlan {
  readonly name: string;
  /** Hosts in lower case, no port; loopback names stand for one another. */
  readonly hosts: readonly string[];
  /** Templates under which the API is reached: `/api/{version}/orders`, `/api/orders`. */
  readonly paths: readonly string[];
  readonly resolution: ResolutionRules;
  readonly versions: ReadonlyMap<Label, VersionRules>;
  /** The request headers that can select a version, for Vary (CACHE-2), in canonical spelling, joined by ", ". */
  readonly vary: string;
  /** Lower-case names of all request headers that can carry a version; no upstream sees the client's copy (VER-9). */
  readonly versionHeaders: readonly string[];
}

/** The rules of one version of one API. A policy adds a field here. */
export interface VersionRules {
  readonly api: string;
  readonly label: Label;
  readonly schedule: Schedule;
  /** In time order, covering all time without gaps. */
  readonly phases: readonly Phase[];
  readonly access: AccessRule;
  readonly limits: LimitRules | undefined;
  /** Undefined once the version needs no upstream: a tombstone answers. */
  readonly upstream: UpstreamPlan | undefined;
  /** Path of the version named as `successor`, up to the tail. */
  readonly successorPath: string | undefined;
  /** Where `after: { redirect }` leads, nearest first: to the first that is still open when asked (RET-4). */
  readonly redirects: readonly RedirectTarget[];
}

/** A version that takes over the requests of a retired one. */
export interface RedirectTarget {
  /** Up to the tail. */
  readonly path: string;
  /** Its own sunset, `Infinity` without one: from then on the next target is meant. */
  readonly until: EpochMs;
}

/** A named service the gateway forwards to. */
export interface UpstreamPlan {
  /** Alias shown to clients and in metrics, never a host name: `orders-v1`, or the API's name when unversioned. */
  readonly name: string;
  readonly targets: readonly Target[];
  /** What replaces the API's base in front of the tail; no trailing slash, empty for the root. */
  readonly path: string;
  /** Header that tells the upstream the version; undefined for `version_as: none`. */
  readonly versionHeader: string | undefined;
  readonly authorization: 'keep' | 'strip';
  readonly timeouts: Timeouts;
}

/** One address of an upstream, as an origin: `http://127.0.0.1:4001`. */
export interface Target {
  readonly origin: string;
}

/** Milliseconds. */
export interface Timeouts {
  readonly connect: number;
  /** From the request being sent to the last byte of the response headers. */
  readonly headers: number;
  /** Between two chunks of a body. */
  readonly idle: number;
  readonly total: number;
}
