// What `decide` returns to the transport, and the closed unions of refusals and faults.

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
  | { readonly kind: 'publish'; readonly publication: Publication };

export interface ForwardOrder {
  readonly upstream: UpstreamPlan;
  /** Path and query, with the percent-encoding that the pipeline judged. */
  readonly target: string;
  readonly label: Label;
  /** Values by lower-case name that replace the client's, such as a media type without its version (VER-9). */
  readonly replaceHeaders?: Replacements | undefined;
  /** Fields by lower-case name that the gateway adds. The client's fields of the same names are not forwarded. */
  readonly setHeaders?: Readonly<Record<string, string>> | undefined;
  readonly headerRules?: HeaderRules | undefined;
  /** Bytes. A body without Content-Length can exceed it while it arrives. */
  readonly maxBody: number;
  /** Undefined: addresses in the response are not mapped. */
  readonly clientPlace?: ClientPlace | undefined;
  /** The media type form of the request (NEG-5). Undefined: Content-Type is not changed. */
  readonly answerForm?: MediaTemplate | undefined;
  readonly notice?: BodyNotice | undefined;
  /** Set if the request has an idempotency key. */
  readonly claim?: IdempotencyClaim | undefined;
}

/** The reservation of an idempotency key for this request. The first reported outcome counts. */
export interface IdempotencyClaim {
  readonly rules: IdempotencyRules;
  /** Renews the lock once the body has arrived. Returns a refusal if another request holds the key by then. */
  readonly renew: () => Promise<IdempotencyRefusal | undefined>;
  readonly judge: (status: number, headers: HeaderLines) => Retention;
  /** The part of the head that is stored. Call it before anything is added to the head. */
  readonly headOf: (status: number, headers: HeaderLines) => Pick<StoredResponse, 'status' | 'headers'>;
  /** Resolves when the response to `request` is stored, or will not be stored. Never rejects. */
  readonly store: (
    request: Uint8Array,
    answer: Pick<StoredResponse, 'status' | 'headers' | 'body'>,
  ) => Promise<void>;
  /** No memory is left for the request body. */
  readonly refuseForMemory: () => IdempotencyRefusal;
  /** The request was not executed, or may be executed again. */
  readonly release: () => void;
  /** The request continues without the key, so it may be executed again. */
  readonly continueWithoutKey: () => void;
  /** The request was executed and fully answered, but the response is a stream or too large to store (IDM-7). */
  readonly reportUnstorable: () => void;
  /** The request was sent and its outcome is unknown (IDM-6). */
  readonly reportUnknown: () => void;
}

/** Replays the response to an earlier request with the same key if the payload is the same (IDM-3). */
export interface ReplayOrder {
  readonly kind: 'replay';
  /** Only for the response headers. */
  readonly forward: ForwardOrder;
  readonly stored: StoredResponse;
  readonly isSame: (body: Uint8Array) => boolean;
  /** Bytes. A larger body counts as a different payload. */
  readonly maxBody: number;
  /** No memory is left for the request body or the response. */
  readonly refuseForMemory: () => IdempotencyRefusal;
}

/** Refusals for reasons that no version has. */
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
  /** The gateway serves the host, but the certificate of this connection does not cover it (TLS-4). */
  | { readonly reason: 'misdirected' }
  | { readonly reason: 'route_unknown' }
  /** `allowed`: the value of Allow. */
  | { readonly reason: 'method_not_allowed'; readonly allowed: string }
  | { readonly reason: 'credentials_in_url'; readonly parameter: string }
  /** `method`: of the request. `field` names another one. */
  | { readonly reason: 'method_overridden'; readonly field: string; readonly method: string }
  | RetryLater<'overloaded'>
  | RetryLater<'usage_unavailable'>
  /** The policy file of the API has errors, and no earlier accepted form of it is known. */
  | RetryLater<'api_left_out'>
  | { readonly reason: 'websockets_exhausted' }
  /** The Origin is not allowed to open a WebSocket to this API (WS-4). */
  | { readonly reason: 'origin_not_allowed' }
  /** `most`: bytes. */
  | { readonly reason: 'body_too_large'; readonly most: number };

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

/** Thrown, caught once at the listener, and answered with 5xx. The response never contains text of the cause. */
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
  /** Whole seconds, at least 1, until a retry may succeed. For codes answered with 503. */
  readonly retryAfterSeconds?: number;
  /** The Proxy-Status error type (RFC 9209) if it is more specific than the default of the code. */
  readonly proxyError?: string | undefined;
  readonly cause?: unknown;
}

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
