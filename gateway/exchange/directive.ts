// What decide() tells the transport to do, and the closed union of refusals and faults.

import type { UpstreamPlan } from '../plan/plan.ts';
import type { AuthenticationRefusal } from '../policy/authentication/access.ts';
import type { BodyNoticeRefusal, Replacements } from '../policy/body-notice/conditions.ts';
import type { BodyNotice } from '../policy/body-notice/notice.ts';
import type { RetryLater } from '../policy/contract.ts';
import type { HeaderRules } from '../policy/headers/rules.ts';
import type {
  IdempotencyRefusal,
  IdempotencyRules,
  Retention,
  StoredResponse,
} from '../policy/idempotency/rules.ts';
import type { LifecycleRefusal } from '../policy/lifecycle/schedule.ts';
import type { MaintenanceRefusal } from '../policy/maintenance/maintenance.ts';
import type { RateLimitRefusal } from '../policy/rate-limit/limit.ts';
import type { Label, MediaTemplate, VersioningRefusal } from '../policy/versioning/resolution.ts';
import type { ClientPlace } from './addresses/client-place.ts';
import type { HeaderLines } from './answer-headers.ts';
import type { Publication } from './publish/publication.ts';

export type Directive =
  | { readonly kind: 'forward'; readonly forward: ForwardOrder }
  | ReplayOrder
  | { readonly kind: 'refuse'; readonly refusal: Refusal }
  /** The answer is made of the plan itself: no upstream is asked. */
  | { readonly kind: 'publish'; readonly publication: Publication };

/** Everything the forwarder needs; nothing of it is decided again. */
export interface ForwardOrder {
  readonly upstream: UpstreamPlan;
  /** Path and query for the upstream, percent-encoding as judged. */
  readonly target: string;
  readonly label: Label;
  /** By lower-case name, what the upstream sees instead of the client's value, such as media types without their version (VER-9). */
  readonly replaceHeaders?: Replacements | undefined;
  /** By lower-case name, what the upstream gets whether or not the client sent the like, which is withheld. */
  readonly setHeaders?: Readonly<Record<string, string>> | undefined;
  readonly headerRules?: HeaderRules | undefined;
  /** Bytes of a body, which one without Content-Length may turn out to exceed on its way. */
  readonly maxBody: number;
  /** Where the client found the service, for the addresses in the answer; undefined where they stay as they are. */
  readonly clientPlace?: ClientPlace | undefined;
  /** The form of media type the client asked in, for the answer (NEG-5); undefined where the upstream's type stays. */
  readonly answerForm?: MediaTemplate | undefined;
  /** What goes into the body of the answer where that can be edited. */
  readonly notice?: BodyNotice | undefined;
  /** For a request with an idempotency key: the forwarder reports the outcome to it. */
  readonly claim?: IdempotencyClaim | undefined;
}

/** A key that is this request's: what its holder asks of it, and says at the end. The first word on what came of it stands. */
export interface IdempotencyClaim {
  readonly rules: IdempotencyRules;
  /**
   * To be called when the body is here, which may have taken its time: from now on the lock lasts for the whole of an
   * upstream's total. A refusal where the key is another's by now.
   */
  readonly renew: () => Promise<IdempotencyRefusal | undefined>;
  readonly judge: (status: number, headers: HeaderLines) => Retention;
  /** What will be kept of a head; taken before anything is added to it. */
  readonly headOf: (status: number, headers: HeaderLines) => Pick<StoredResponse, 'status' | 'headers'>;
  /** Resolves once the answer to `request` is kept, or is not going to be. Never rejects. */
  readonly keep: (
    request: Uint8Array,
    answer: Pick<StoredResponse, 'status' | 'headers' | 'body'>,
  ) => Promise<void>;
  /** Where a key is required and there is no room for the body that goes with it. */
  readonly noRoom: () => IdempotencyRefusal;
  /** The request was not carried out, or may be carried out again. */
  readonly release: () => void;
  /** The request goes on without the key: it may be carried out again. */
  readonly abandon: () => void;
  /** It was carried out and answered to the end, with more than is kept (IDM-7). */
  readonly forgo: () => void;
  /** The request was sent and its outcome is unknown (IDM-6). */
  readonly lose: () => void;
}

/** The outcome of an earlier request with the same key, given again if this one has the same payload (IDM-3). */
export interface ReplayOrder {
  readonly kind: 'replay';
  /** What the answer is made of besides; nothing of it is sent. */
  readonly forward: ForwardOrder;
  readonly kept: StoredResponse;
  readonly isSame: (body: Uint8Array) => boolean;
  /** Bytes: a larger body is another one. */
  readonly maxBody: number;
  /** Where there is no room for the body that is to be compared, or for the answer. */
  readonly noRoom: () => IdempotencyRefusal;
}

/** Refused before a route was known: by the listener's strictness or by the route match. */
export type RequestRefusal =
  | {
      readonly reason: 'request_malformed';
      readonly status: 400 | 408 | 413 | 414 | 417 | 431;
      readonly message: string;
    }
  | { readonly reason: 'plain_http' }
  | { readonly reason: 'plain_http_moved'; readonly status: 301 | 308; readonly location: string }
  | { readonly reason: 'method_unknown'; readonly method: string }
  | { readonly reason: 'transfer_coding_unknown' }
  | { readonly reason: 'protocol_version_unsupported' }
  | { readonly reason: 'websocket_version_unsupported' }
  | { readonly reason: 'host_unknown' }
  /** The host is served, but not on a connection with this certificate (TLS-4). */
  | { readonly reason: 'misdirected' }
  | { readonly reason: 'route_unknown' }
  /** `allowed`: the value of Allow. */
  | { readonly reason: 'method_not_allowed'; readonly allowed: string }
  | { readonly reason: 'credentials_in_url'; readonly parameter: string }
  /** `method`: the request's, which `field` does not name. */
  | { readonly reason: 'method_overridden'; readonly field: string; readonly method: string }
  | RetryLater<'overloaded'>
  | RetryLater<'usage_unavailable'>
  /** The file of the API is refused and nothing stands in for it. */
  | RetryLater<'api_left_out'>
  | { readonly reason: 'websockets_exhausted' }
  /** A page that may not open a WebSocket to this API (WS-4). */
  | { readonly reason: 'origin_not_allowed' }
  /** `most`: bytes. */
  | { readonly reason: 'body_too_large'; readonly most: number };

/** The gateway says no. Each reason has its status and body in `answers/refusal.ts`. */
export type Refusal =
  | RequestRefusal
  | VersioningRefusal
  | LifecycleRefusal
  | MaintenanceRefusal
  | AuthenticationRefusal
  | RateLimitRefusal
  | BodyNoticeRefusal
  | IdempotencyRefusal;

export type RefusalReason = Refusal['reason'];

/** Something failed; thrown, caught once at the listener, answered as 5xx. Never carries text from the cause to the client. */
export type FaultCode =
  | 'upstream_refused'
  | 'upstream_dns'
  | 'upstream_reset'
  | 'upstream_invalid'
  | 'upstream_tls'
  | 'upstream_loop'
  | 'upstream_busy'
  | 'upstream_connect_timeout'
  | 'upstream_headers_timeout'
  | 'upstream_idle_timeout'
  | 'upstream_total_timeout'
  | 'upstream_unavailable'
  | 'identity_unavailable'
  | 'internal';

export interface FaultOptions {
  readonly service?: string;
  readonly timeoutMs?: number;
  /** Whole seconds, at least 1, after which another try may go better; for the codes answered with 503. */
  readonly retryAfterSeconds?: number;
  /** Error type of Proxy-Status (RFC 9209), where it says more than the one that goes with the code. */
  readonly proxyError?: string | undefined;
  readonly cause?: unknown;
}

/** A failure with a stable code. `cause` is for the log only. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly service: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly proxyError: string | undefined;
  constructor(code: FaultCode, options: FaultOptions = {}) {
    super(code, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.service = options.service;
    this.timeoutMs = options.timeoutMs;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.proxyError = options.proxyError;
  }
}
