// When each refusal and fault occurs, and its cure. The compiler requires a note for a new reason.
import type { FaultCode, RefusalReason } from '../../gateway/exchange/directive.ts';

export interface ErrorNote {
  readonly when: string;
  /** For the client or the operator. */
  readonly cure: string;
}

export const REFUSAL_NOTES: Readonly<Record<RefusalReason, ErrorNote>> = {
  request_malformed: {
    when: 'The request breaks the HTTP grammar, has dot segments in its path, repeats a field that may come once, is too large in its target or header, or is too slow.',
    cure: 'Correct the client. `bounds` in the gateway file sets the sizes and times.',
  },
  plain_http: {
    when: 'The request came over plain HTTP.',
    cure: 'Call the https URL. `listeners.http.mode: redirect` redirects requests without credentials.',
  },
  plain_http_moved: {
    when: 'The request came over plain HTTP, and `listeners.http.mode` is `redirect`.',
    cure: 'Call the URL in `Location`.',
  },
  method_unknown: {
    when: 'The gateway does not support the method.',
    cure: 'Use a method of RFC 9110 or PATCH.',
  },
  transfer_coding_unknown: {
    when: 'The request has a transfer coding other than `chunked`.',
    cure: 'Send `Content-Length` or `Transfer-Encoding: chunked`.',
  },
  protocol_version_unsupported: {
    when: 'The request has an unsupported HTTP version.',
    cure: 'Use HTTP/1.1 or HTTP/2.',
  },
  websocket_version_unsupported: {
    when: 'A WebSocket handshake asks for another version than 13.',
    cure: 'Use version 13 (RFC 6455).',
  },
  host_unknown: {
    when: 'No policy and no `public` names the host of the request. Over plain HTTP the status is 404.',
    cure: 'Add the host to `host` of the policy, or correct the `Host` header that a proxy in front sends.',
  },
  misdirected: {
    when: 'The certificate of this connection is not for the host of the request.',
    cure: 'Open a connection for that host. Browsers and most clients do so by themselves.',
  },
  route_unknown: {
    when: 'No API has this path.',
    cure: 'Compare the path with `base` and `resolve` of the policy. `sundial explain` shows the match.',
  },
  method_not_allowed: {
    when: 'The request asks to change a page that the gateway itself publishes.',
    cure: 'Use GET or HEAD.',
  },
  credentials_in_url: {
    when: 'The query has a parameter listed in `credentials_in_url`.',
    cure: 'Send the token in `Authorization`. Revoke the token: it is in logs.',
  },
  method_overridden: {
    when: '`X-HTTP-Method`, `X-HTTP-Method-Override` or `X-Method-Override` names another method than the request.',
    cure: 'Send the intended method, or keep the header in the policy.',
  },
  overloaded: {
    when: 'The process has more requests or WebSockets than `overload` or `bounds` allows, or its event loop is late.',
    cure: 'Retry after `Retry-After`. Add gateways or workers.',
  },
  usage_unavailable: {
    when: 'The store is unavailable, so the usage of the caller cannot be read.',
    cure: 'Retry after `Retry-After`. Check the store.',
  },
  api_left_out: {
    when: 'With `start: partial`, the policy file of the API is refused and no accepted form can be served.',
    cure: 'Correct the policy file. `sundial status` names it.',
  },
  websockets_exhausted: {
    when: 'The consumer or address has as many WebSockets open as `bounds.websockets_per_client` allows.',
    cure: 'Close a WebSocket, or raise the bound.',
  },
  origin_not_allowed: {
    when: 'A page of an origin that `cors.origins` does not list opens a WebSocket.',
    cure: 'Add the origin to `cors.origins`.',
  },
  body_too_large: {
    when: 'The body is larger than `max_body` of the operation, version or API, or than `bounds.body`.',
    cure: 'Send less, or raise the bound.',
  },
  version_ambiguous: {
    when: 'Two places of the request name different versions.',
    cure: 'Name one version, or the same version in both places.',
  },
  version_malformed: {
    when: 'A value in the place of a version is not a version.',
    cure: 'Write `v1`, `1.2.3` or `2026-06-01`. The body lists the versions.',
  },
  version_unknown: {
    when: 'The request names a version that does not exist or is not released yet.',
    cure: 'Use a version from `supportedVersions` in the body.',
  },
  version_missing: {
    when: 'The request names no version, and the API has no default.',
    cure: 'Name a version, or write `default` in `resolve`.',
  },
  version_unacceptable: {
    when: '`Accept` excludes every version that is served.',
    cure: 'Accept one of the versions that the body lists.',
  },
  pins_unavailable: {
    when: 'The request names no version, and the store that has the pin of the account is unavailable.',
    cure: 'Name a version in the request. Check the store.',
  },
  version_retired: {
    when: 'The sunset of the version or operation has passed.',
    cure: 'Call the successor. To serve the version again, use `sundial pause` or `sundial extend`.',
  },
  version_moved: {
    when: 'The sunset has passed, and the policy redirects to another version.',
    cure: 'Follow `Location`, and change the URL in the client.',
  },
  brownout: {
    when: 'The version is in an announced brownout.',
    cure: 'Retry after `Retry-After`, and migrate. `sundial pause` stops brownouts.',
  },
  adoption_frozen: {
    when: 'The consumer first called the version after its `freeze`.',
    cure: 'Call the successor. An exception with `from: [freeze]` admits one consumer.',
  },
  maintenance: {
    when: 'The policy file says `maintenance`.',
    cure: 'Retry after `Retry-After`.',
  },
  credentials_missing: {
    when: 'The request has no credentials, and the API needs some.',
    cure: 'Send the credentials that `WWW-Authenticate` names.',
  },
  credentials_malformed: {
    when: 'The field with the credentials is malformed, such as `Bearer` with two tokens.',
    cure: 'Send one token.',
  },
  token_invalid: {
    when: 'The token is expired, forged, or for another audience.',
    cure: 'Get a new token. `token_flaw` in the access log says what failed.',
  },
  key_invalid: {
    when: 'The API key is unknown, mistyped, revoked or expired.',
    cure: 'Use a valid key. `key_flaw` in the access log says which case it is.',
  },
  certificate_invalid: {
    when: 'The client certificate has expired, or does not name exactly one consumer.',
    cure: 'Renew the certificate, or change `certificate.consumer` of the identity.',
  },
  scope_insufficient: {
    when: 'The credentials lack a scope.',
    cure: 'Get credentials with the scope that `WWW-Authenticate` names.',
  },
  operation_not_granted: {
    when: '`access` grants this method to no consumer.',
    cure: 'Write `read` or `write` in `access.scopes` of the policy.',
  },
  rate_limited: {
    when: 'The subject of a limit has used it up.',
    cure: 'Retry after `Retry-After`. The limit is lower while a version is deprecated.',
  },
  guard_limited: {
    when: 'The address sends more requests than `guard` allows.',
    cure: 'Retry after `Retry-After`. Behind a proxy, list the proxy in `trusted_proxies`.',
  },
  tokens_limited: {
    when: 'The address sent 60 opaque tokens in a minute that were not valid.',
    cure: 'Keep the token, and retry after `Retry-After`.',
  },
  limits_unavailable: {
    when: 'The store is unavailable, and the limit says `on_store_failure: refuse`.',
    cure: 'Retry after `Retry-After`. Check the store.',
  },
  precondition_failed: {
    when: '`If-Match` names a response with another deprecation notice than the current one.',
    cure: 'Read the resource again, and repeat the write with its new `ETag`.',
  },
  idempotency_key_missing: {
    when: 'The policy requires an `Idempotency-Key`, and the request has none.',
    cure: 'Send a key that is new for each operation.',
  },
  idempotency_key_malformed: {
    when: 'The `Idempotency-Key` is not one string of 1 to 255 visible characters.',
    cure: 'Send a UUID, for example.',
  },
  idempotency_key_anonymous: {
    when: 'An anonymous caller sends an `Idempotency-Key`.',
    cure: 'Send credentials, leave the key out, or write `anonymous: address` in the policy.',
  },
  idempotency_conflict: {
    when: 'The first request with this key is still running.',
    cure: 'Send the same request again after `Retry-After`.',
  },
  idempotency_unknown: {
    when: 'The outcome of the first request with this key is unknown.',
    cure: 'Look up whether the operation was carried out. If it was not, use a new key.',
  },
  idempotency_mismatch: {
    when: 'The key belongs to a request with another payload.',
    cure: 'Use a new key for a new payload.',
  },
  idempotency_unavailable: {
    when: 'A key is required and the store is unavailable, or there is no memory for the comparison.',
    cure: 'Retry after `Retry-After`. Check the store.',
  },
};

export const FAULT_NOTES: Readonly<Record<FaultCode, ErrorNote>> = {
  upstream_refused: {
    when: 'The target refuses the connection.',
    cure: 'Start the service, or correct `targets`.',
  },
  upstream_dns: { when: 'The name of the target has no address.', cure: 'Correct `targets`, or DNS.' },
  upstream_reset: {
    when: 'The target closed the connection before it answered.',
    cure: 'Read the log of the service. It often restarts, or crashes on this request.',
  },
  upstream_invalid: {
    when: 'The response of the target breaks the HTTP grammar.',
    cure: 'Look at the response with `curl --http1.1 -v` at the target. An `https` service on an `http:` target is the usual cause.',
  },
  upstream_tls: {
    when: 'The certificate of the target is not trusted or is for another name.',
    cure: 'Write `tls.ca` or `tls.name` in the upstream.',
  },
  upstream_loop: {
    when: 'The request has passed this gateway before.',
    cure: 'Correct `targets`: they lead back to the gateway.',
  },
  upstream_busy: {
    when: 'The target has `connections.max` requests, and the queue is full or `connections.wait` has passed.',
    cure: 'Add targets, or raise `connections`.',
  },
  upstream_connect_timeout: {
    when: 'The target did not accept a connection within `timeout.connect`.',
    cure: 'Check the network and the firewall.',
  },
  upstream_headers_timeout: {
    when: 'The target sent no response within `timeout.headers`.',
    cure: 'Make the service faster, or raise the timeout.',
  },
  upstream_idle_timeout: {
    when: 'The target sent nothing for `timeout.idle`.',
    cure: 'Make the service send, or raise the timeout.',
  },
  upstream_total_timeout: {
    when: 'The response was not complete within `timeout.total`.',
    cure: 'Make the service faster, or raise the timeout.',
  },
  upstream_unavailable: {
    when: 'No target is in service: health checks or a circuit breaker took all of them out.',
    cure: 'Repair the service. `/-/upstreams` and the dashboard show each target.',
  },
  identity_unavailable: {
    when: 'The key set or the introspection endpoint of the issuer does not answer, or the store cannot look up an API key.',
    cure: 'Check the issuer and the store. `sundial check --live` tries the issuer and Redis.',
  },
  internal: {
    when: 'The gateway has a bug.',
    cure: 'Report it with the `requestId` of the body and the log line that has it.',
  },
};
