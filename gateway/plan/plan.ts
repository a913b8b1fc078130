// The plan: what the documents mean, inheritance resolved, immutable.
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

/** Everything a request is judged by. Swapped as a whole on reload. */
export interface GatewayPlan {
  /** Digest (hex) of the documents behind this plan. */
  readonly revision: string;
  /** Origin of the public face, no trailing slash: `https://api.example.com`. Links and locations are built from it. */
  readonly public: string;
  readonly apis: readonly ApiPlan[];
  /** One of them; names are unique. */
  readonly apiNamed: (name: string) => ApiPlan | undefined;
  readonly routes: RouteTable<ApiPlan>;
  /** Per client address, before authentication; undefined when switched off. */
  readonly guard: Limit | undefined;
  /** Query parameters that may not carry credentials: a request with one of them is refused. */
  readonly credentialsInUrl: ReadonlySet<string>;
}

export interface ApiPlan {
  readonly name: string;
  /** `observe`: signal and count, but refuse nothing for lifecycle and limits. */
  readonly mode: 'enforce' | 'observe';
  /** Hosts in lower case, no port; loopback names stand for one another. */
  readonly hosts: readonly string[];
  /** Templates under which the API is reached: `/api/{version}/orders`, `/api/orders`. */
  readonly paths: readonly string[];
  /** Where it lives when the version is not in the path: what it is called by, as a protected resource too. */
  readonly base: string;
  readonly resolution: ResolutionRules;
  /** How its service reads what follows the base; %2F before that is no part of a path that matches (VER-7). */
  readonly pathRules: PathRules;
  /** Whether any version has rules for some of its paths. */
  readonly hasOperations: boolean;
  /** For each version, the paths below its upstream path that belong to another version of the same service. */
  readonly inside: ReadonlyMap<Label, NestedRoutes<Label>> | undefined;
  /** Whether addresses of the service are mapped in its answers, left alone, or the service is told where it is found. */
  readonly locations: 'map' | 'keep' | 'prefix';
  /** Whether a client that asked for a version by media type is answered with that type (NEG-5). */
  readonly rewriteContentType: boolean;
  /** Longest time, seconds, for which an answer of a deprecated version may be reused (CACHE-6). */
  readonly deprecatedMaxAge: number | undefined;
  /** Whether answers of any of its versions or operations carry a notice in their body while deprecated. */
  readonly hasBodyNotice: boolean;
  /** Whether shared caches may keep answers to identified callers (CACHE-3). */
  readonly shared: boolean;
  /** For versions that do not exist, instead of what the carrier calls for (STAT-1). */
  readonly unknownVersionStatus: 400 | 404 | 406 | undefined;
  /** Of the API as a whole; an operation may have its own. */
  readonly access: AccessRule;
  /** Pages that may call it from a browser; undefined where the upstreams see to that themselves. */
  readonly cors: CorsRules | undefined;
  /** Whether answers say which version was asked for, which one answered, and its stage. */
  readonly echo: boolean;
  /** Whether a sound `Deprecation` or `Sunset` of the upstream's own stays (DEP-2, SUN-3). */
  readonly upstreamWins: boolean;
  /** Undefined: what clients send and upstreams answer is changed only where every request's is. */
  readonly headers: HeaderRules | undefined;
  readonly versions: ReadonlyMap<Label, VersionRules>;
  /** When each version is released, in time order: requests that leave the version open may then get it. */
  readonly releases: readonly EpochMs[];
  /** The request headers that can select a version, in canonical spelling. */
  readonly versionFields: readonly string[];
  /** CACHE-2: what an answer without a version depends on, joined by ", ". */
  readonly vary: string;
  /** Lower-case names of all request headers that can carry a version. */
  readonly versionHeaders: readonly string[];
  /** Lower-case names of those in which it or one of its versions takes API keys (AUTH-3). */
  readonly keyHeaders: readonly string[];
  /** Mail addresses by consumer. */
  readonly contacts: ReadonlyMap<string, string>;
  /** Those of its guides that its lifecycle page shows. */
  readonly guides: readonly Guide[];
  /** Its file is refused and nothing stands in for it: its routes are closed, and no list of APIs has it. */
  readonly isLeftOut?: boolean;
}

export interface CorsRules {
  /** As browsers write them; `*` alone for every page. */
  readonly origins: ReadonlySet<string>;
}

/** The rules of one version of one API, or of one operation of it. A policy adds a field here. */
export interface VersionRules extends Announceable {
  readonly earlier?: readonly VersionRules[] | undefined;
  readonly api: string;
  readonly label: Label;
  /** Such as `GET /search`; undefined for the version as a whole. */
  readonly operation: string | undefined;
  /** Rules of its operations, inheritance resolved; undefined where every request has those of the version. */
  readonly operations: OperationTable<VersionRules> | undefined;
  /** What its description tells callers, of its operations too; none of an operation itself. */
  readonly notes: VersionNotes | undefined;
  readonly schedule: Schedule;
  /** In time order, covering all time without gaps. */
  readonly phases: readonly Phase[];
  /** The phases that other dates would give it, for whoever has leave from its own. */
  readonly phasesOf: (schedule: Schedule) => readonly Phase[];
  /** In the order written; expired ones included, since a plan does not depend on the day. */
  readonly exceptions: readonly Exception[];
  /** An operation with a list of its own has that instead of the version's. */
  readonly brownouts: BrownoutCalendar | undefined;
  /** From this instant on nobody is let in who was not seen before; undefined: everybody may come. */
  readonly freeze: EpochMs | undefined;
  /** By what the ledger has of it; undefined: it retires whatever is called. None of an operation itself. */
  readonly retireWhen: RetireWhen | undefined;
  /** Whether it holds is asked of the real clock. */
  readonly maintenance: Maintenance | undefined;
  /** Whether JSON objects answered while deprecated say so themselves. */
  readonly bodyNotice: boolean;
  /** Bytes a request's body may have. */
  readonly maxBody: number;
  readonly access: AccessRule;
  /** CACHE-2: the fields of requests that its answers depend on, joined by ", ". */
  readonly vary: string;
  readonly limits: LimitRules | undefined;
  readonly idempotency: IdempotencyRules | undefined;
  /** Undefined once the version needs no upstream: a tombstone answers. */
  readonly upstream: UpstreamPlan | undefined;
  /** Its own path up to the tail; a URL where only its host tells it apart. */
  readonly place: string;
  /** Versions whose successor it is, newest first. */
  readonly predecessors: readonly Label[];
  /** Path of the version named as `successor`, up to the tail; a URL where only its host tells it apart. */
  readonly successorPath: string | undefined;
  /** What follows it instead of the tail of the request (LNK-2). */
  readonly successorTail: TailParts | undefined;
  /** Where `after: { redirect }` leads, nearest first: to the first that is still open when asked (RET-4). */
  readonly redirects: readonly RedirectTarget[];
}

/** A version that takes over the requests of a retired one; once it has ended itself the next target is meant. */
export interface RedirectTarget {
  readonly label: Label;
  /** Up to the tail; a URL where only the host tells versions apart. */
  readonly path: string;
  /** What follows the path instead of the tail of the request. */
  readonly tail: TailParts | undefined;
}

/** A named service the gateway forwards to. */
export interface UpstreamPlan extends TargetRules {
  /** Alias shown to clients and in metrics, never a host name: `orders-v1`, or the API's name when unversioned. */
  readonly name: string;
  readonly targets: readonly Target[];
  /** What replaces the API's base in front of the tail, the version included for `version_as: path`; no trailing slash, empty for the root. */
  readonly path: string;
  /** Header that tells the upstream the version; undefined for any other `version_as`. */
  readonly versionHeader: string | undefined;
  /** Query parameter that does; undefined for any other `version_as`. */
  readonly versionQuery: string | undefined;
  /** How it is told who calls; undefined: not at all. */
  readonly identityHeaders: IdentityHeaders | undefined;
  /**
   * The fields that it never gets as a client sent them, under any spelling of their plain names: what carries a version
   * (VER-9), an API key or who calls, and what the policy sets or removes.
   */
  readonly withheld: ReadonlySet<string>;
  /** What is done with the fields of its answers. */
  readonly answerFields: AnswerFields;
  /** The Host field it gets; undefined: the authority of the target. */
  readonly host: string | undefined;
  readonly timeouts: Timeouts;
  readonly connections: ConnectionRules;
  /** Undefined: no request is sent twice. */
  readonly retries: RetryRules | undefined;
  /** Offered to targets with TLS, presupposed of those without. */
  readonly http2: boolean;
  readonly tls: UpstreamTls | undefined;
}

/** Lower-case names of the fields that say it, which are the gateway's alone (XFF-1); undefined: not said. */
export interface IdentityHeaders {
  readonly consumer: string | undefined;
  /** Separated by blanks, like the claim of a token. */
  readonly scopes: string | undefined;
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
