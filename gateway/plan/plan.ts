// Types of the plan: the compiled, immutable form of the documents, inheritance resolved.
import type { AccessRule } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { HeaderRules } from '../policy/headers/rules.ts';
import type { IdempotencyRules } from '../policy/idempotency/rules.ts';
import type { Announceable } from '../policy/lifecycle/announcements.ts';
import type { BrownoutCalendar } from '../policy/lifecycle/brownout-calendar.ts';
import type { Exception } from '../policy/lifecycle/exceptions.ts';
import type { TailParts } from '../policy/lifecycle/operation-template.ts';
import type { RetireWhen } from '../policy/lifecycle/retire-when.ts';
import type { Phase, Schedule } from '../policy/lifecycle/schedule.ts';
import type { Maintenance } from '../policy/maintenance/maintenance.ts';
import type { PathRules } from '../policy/paths/rules.ts';
import type { Limit, LimitRules } from '../policy/rate-limit/limit.ts';
import type { Label, ResolutionRules } from '../policy/versioning/resolution.ts';
import type { Guide } from './guides/guide-page.ts';
import type { NestedRoutes } from './routes/nested-routes.ts';
import type { OperationTable } from './routes/operation-table.ts';
import type { RouteTable } from './routes/route-table.ts';
import type { AnswerFields } from './upstreams/answer-fields.ts';
import type { ConnectionRules, RetryRules, UpstreamTls } from './upstreams/connection-rules.ts';
import type { TargetRules } from './upstreams/target-rules.ts';
import type { VersionNotes } from './version-notes.ts';

/** A reload replaces the plan as a whole. */
export interface GatewayPlan {
  /** Digest (hex) of the documents. */
  readonly revision: string;
  /** Public origin without a trailing slash: `https://api.example.com`. Base of links and locations. */
  readonly public: string;
  readonly apis: readonly ApiPlan[];
  readonly apiNamed: (name: string) => ApiPlan | undefined;
  readonly routes: RouteTable<ApiPlan>;
  /** Limit per client address, before authentication. Undefined: off. */
  readonly guard: Limit | undefined;
  /** Query parameters for credentials. The gateway refuses requests that have one of them. */
  readonly credentialsInUrl: ReadonlySet<string>;
}

export interface ApiPlan {
  readonly name: string;
  /** `observe`: send lifecycle headers and count, but refuse nothing for lifecycle or limits. */
  readonly mode: 'enforce' | 'observe';
  /** Lower case, without port. Loopback names are equivalent. */
  readonly hosts: readonly string[];
  /** Path templates of the API: `/api/{version}/orders`, `/api/orders`. */
  readonly paths: readonly string[];
  /** Path of the API without a version. It also identifies the protected resource. */
  readonly base: string;
  readonly resolution: ResolutionRules;
  /** How the service parses the path after the base. Paths with %2F before that match no API (VER-7). */
  readonly pathRules: PathRules;
  readonly hasOperations: boolean;
  /** For each version, the paths below its upstream path that belong to another version of the same service. */
  readonly inside: ReadonlyMap<Label, NestedRoutes<Label>> | undefined;
  /** `map` and `keep`: for addresses in responses. `prefix`: the service gets its public prefix instead. */
  readonly locations: 'map' | 'keep' | 'prefix';
  /** Whether a client that requested a version by media type gets that type in the response (NEG-5). */
  readonly rewriteContentType: boolean;
  /** Longest freshness of responses of a deprecated version, in seconds (CACHE-6). */
  readonly deprecatedMaxAge: number | undefined;
  readonly hasBodyNotice: boolean;
  /** Whether shared caches may store responses to identified callers (CACHE-3). */
  readonly shared: boolean;
  /** Status for unknown versions. Undefined: the carrier decides (STAT-1). */
  readonly unknownVersionStatus: 400 | 404 | 406 | undefined;
  readonly access: AccessRule;
  /** Undefined: the upstreams answer CORS themselves. */
  readonly cors: CorsRules | undefined;
  /** Whether responses state the requested version, the served version and its stage. */
  readonly echo: boolean;
  /** Whether a valid `Deprecation` or `Sunset` of the upstream takes precedence (DEP-2, SUN-3). */
  readonly upstreamWins: boolean;
  /** Undefined: the policy changes no headers. */
  readonly headers: HeaderRules | undefined;
  readonly versions: ReadonlyMap<Label, VersionRules>;
  /** Releases in order of time. A request without a version may get another version from each on. */
  readonly releases: readonly EpochMs[];
  /** Request headers that can select a version, in canonical spelling. */
  readonly versionFields: readonly string[];
  /** CACHE-2: value of Vary for responses without a version. */
  readonly vary: string;
  /** Lower-case names of the request headers that can carry a version. */
  readonly versionHeaders: readonly string[];
  /** Lower-case names of the headers in which the API or one of its versions takes API keys (AUTH-3). */
  readonly keyHeaders: readonly string[];
  /** Mail addresses by consumer. */
  readonly contacts: ReadonlyMap<string, string>;
  readonly guides: readonly Guide[];
  /** True if its file is refused without a replacement. Its routes are closed, and lists of APIs omit it. */
  readonly isLeftOut?: boolean;
}

export interface CorsRules {
  /** `*` alone: every origin. */
  readonly origins: ReadonlySet<string>;
}

/** The rules of a version, or of an operation of a version. A policy adds a field here. */
export interface VersionRules extends Announceable {
  readonly earlier?: readonly VersionRules[] | undefined;
  readonly api: string;
  readonly label: Label;
  /** For example `GET /search`. Undefined for a version. */
  readonly operation: string | undefined;
  /** Rules of its operations, inheritance resolved. Undefined: every request has the rules of the version. */
  readonly operations: OperationTable<VersionRules> | undefined;
  /** Facts from the description of the version and its operations. Undefined for an operation. */
  readonly notes: VersionNotes | undefined;
  readonly schedule: Schedule;
  /** In order of time, without gaps. */
  readonly phases: readonly Phase[];
  /** The phases for another schedule, for consumers with an exception. */
  readonly phasesOf: (schedule: Schedule) => readonly Phase[];
  /** In the order of the file, expired ones included: a plan does not depend on the day. */
  readonly exceptions: readonly Exception[];
  /** The list of an operation replaces the list of its version. */
  readonly brownouts: BrownoutCalendar | undefined;
  /** From this instant on, consumers not seen before are refused. Undefined: never. */
  readonly freeze: EpochMs | undefined;
  /** Usage conditions of the retirement. Undefined: usage does not matter. Always undefined for an operation. */
  readonly retireWhen: RetireWhen | undefined;
  /** Judged by the real clock, not the lifecycle clock. */
  readonly maintenance: Maintenance | undefined;
  /** Whether JSON objects of a deprecated version get a deprecation notice. */
  readonly bodyNotice: boolean;
  /** In octets, of a request. */
  readonly maxBody: number;
  readonly access: AccessRule;
  /** CACHE-2: value of Vary. */
  readonly vary: string;
  readonly limits: LimitRules | undefined;
  readonly idempotency: IdempotencyRules | undefined;
  /** Undefined for a retired version without an upstream. */
  readonly upstream: UpstreamPlan | undefined;
  /** Path of the version up to the tail. A URL if versions differ by host only. */
  readonly place: string;
  /** Versions that name this one as successor, newest first. */
  readonly predecessors: readonly Label[];
  /** Path of the `successor` up to the tail. A URL if versions differ by host only. */
  readonly successorPath: string | undefined;
  /** The tail after `successorPath`, in place of the tail of the request (LNK-2). */
  readonly successorTail: TailParts | undefined;
  /** Targets of `after: { redirect }`, nearest first. The first that still serves is used (RET-4). */
  readonly redirects: readonly RedirectTarget[];
}

/** A version that takes the requests of a retired version. */
export interface RedirectTarget {
  readonly label: Label;
  /** Up to the tail. A URL if versions differ by host only. */
  readonly path: string;
  /** Replaces the tail of the request. */
  readonly tail: TailParts | undefined;
}

export interface UpstreamPlan extends TargetRules {
  /** Alias for clients and metrics, never a host name: `orders-v1`, or the API's name without versions. */
  readonly name: string;
  readonly targets: readonly Target[];
  /** Replaces the API's base. Includes the version for `version_as: path`. No trailing slash; empty for the root. */
  readonly path: string;
  /** Request header with the version. Undefined for any other `version_as`. */
  readonly versionHeader: string | undefined;
  /** Query parameter with the version. Undefined for any other `version_as`. */
  readonly versionQuery: string | undefined;
  /** Undefined: the upstream gets no identity headers. */
  readonly identityHeaders: IdentityHeaders | undefined;
  /** Client fields that are not forwarded: carriers (VER-9), API keys, identity headers, `headers` of the policy. */
  readonly withheld: ReadonlySet<string>;
  readonly answerFields: AnswerFields;
  /** Value of the Host header. Undefined: the authority of the target. */
  readonly host: string | undefined;
  readonly timeouts: Timeouts;
  readonly connections: ConnectionRules;
  /** Undefined: no retries. */
  readonly retries: RetryRules | undefined;
  /** Negotiated with TLS targets. Without TLS, the gateway assumes HTTP/2. */
  readonly http2: boolean;
  readonly tls: UpstreamTls | undefined;
}

/** Lower-case names of request headers. Client copies are removed (XFF-1). Undefined: not sent. */
export interface IdentityHeaders {
  readonly consumer: string | undefined;
  /** Separated by spaces, like the `scope` claim. */
  readonly scopes: string | undefined;
}

/** One address of an upstream, as an origin: `http://127.0.0.1:4001`. */
export interface Target {
  readonly origin: string;
}

/** Milliseconds. */
export interface Timeouts {
  readonly connect: number;
  /** From the end of the request to the end of the response headers. */
  readonly headers: number;
  /** Between two chunks of a body. */
  readonly idle: number;
  readonly total: number;
}
