// What each header is for that the gateway reads, sends to services or sends to clients.

export interface HeaderNote {
  /** As usually written. Several belong together. */
  readonly names: readonly string[];
  /** Headers whose names a policy or the gateway file sets. */
  readonly others?: string;
  readonly standard: string;
  readonly when: string;
  /** What the gateway does with it, or what it contains. */
  readonly meaning: string;
}

const COMMON = 'common use';
const OWN = 'Sundial';
const QUOTA_DRAFT = 'draft-ietf-httpapi-ratelimit-headers';
const KEY_DRAFT = 'draft-ietf-httpapi-idempotency-key-header';

/** Of requests. */
export const READ_HEADERS: readonly HeaderNote[] = [
  {
    names: ['Host', ':authority'],
    standard: 'RFC 9110, RFC 9113',
    when: 'always',
    meaning: 'Selects the API. An unknown host gets 421.',
  },
  {
    names: ['API-Version'],
    others: 'the headers of `resolve`',
    standard: OWN,
    when: 'the API lists the header in `resolve`',
    meaning: 'Names the version.',
  },
  {
    names: ['Accept'],
    standard: 'RFC 9110',
    when: 'the API lists a media type in `resolve`; errors; published pages',
    meaning: 'Names the version. Selects the format of an error or a page.',
  },
  {
    names: ['Content-Type'],
    standard: 'RFC 9110',
    when: 'the API lists a media type in `resolve`, or has `idempotency`',
    meaning: 'Names the version. Is part of the comparison of an idempotency key.',
  },
  {
    names: ['Authorization'],
    others: 'the headers of API keys',
    standard: 'RFC 9110, RFC 6750',
    when: 'the API needs credentials',
    meaning: 'Names the consumer. The plain HTTP listener never redirects a request with credentials.',
  },
  {
    names: ['Cookie', 'Proxy-Authorization', 'X-API-Key', 'Api-Key', 'ApiKey', 'X-Auth-Token'],
    standard: 'RFC 6265, RFC 9110, common use',
    when: 'plain HTTP with `mode: redirect`',
    meaning: 'Count as credentials: the request gets 400 instead of a redirect.',
  },
  {
    names: ['Idempotency-Key'],
    standard: KEY_DRAFT,
    when: 'the operation has `idempotency`',
    meaning: 'The gateway carries out requests with the same key once.',
  },
  {
    names: ['If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Range', 'Range'],
    standard: 'RFC 9110',
    when: 'the response carries a notice in its body; `If-None-Match` also on published pages',
    meaning:
      'The gateway translates tags to those of the service. It removes conditions by date, and ranges.',
  },
  {
    names: ['Origin', 'Access-Control-Request-Method', 'Access-Control-Request-Headers'],
    standard: 'Fetch',
    when: 'the API has `cors`',
    meaning: 'The gateway answers preflights itself.',
  },
  {
    names: ['X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override'],
    standard: COMMON,
    when: 'the policy does not keep the header',
    meaning: 'A method other than that of the request gets 400.',
  },
  {
    names: ['traceparent', 'tracestate'],
    standard: 'W3C Trace Context',
    when: 'always',
    meaning: 'The gateway continues the trace.',
  },
  {
    names: ['X-Request-Id'],
    standard: COMMON,
    when: 'the value has 8 to 64 letters, digits and `-`',
    meaning: 'The id of the request. Otherwise the gateway makes an id.',
  },
  {
    names: ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host'],
    standard: COMMON,
    when: 'the connection comes from an address in `trusted_proxies`',
    meaning: 'Address, scheme and host of the client.',
  },
  {
    names: ['Via'],
    standard: 'RFC 9110',
    when: 'always',
    meaning: 'A request that has passed this gateway too often gets 502 `upstream_loop`.',
  },
  {
    names: ['Max-Forwards'],
    standard: 'RFC 9110',
    when: 'OPTIONS',
    meaning: 'The gateway answers a request with 0 itself. It decrements other numbers.',
  },
  {
    names: ['Expect'],
    standard: 'RFC 9110',
    when: 'HTTP/1.1 and HTTP/2',
    meaning: 'With `100-continue` the gateway decides before it reads the body. Any other value gets 417.',
  },
  {
    names: ['User-Agent'],
    standard: 'RFC 9110',
    when: 'always',
    meaning: 'Appears in the access log and the ledger.',
  },
  {
    names: ['Connection', 'Content-Length', 'Transfer-Encoding', 'TE', 'Upgrade'],
    standard: 'RFC 9110, RFC 9112',
    when: 'always',
    meaning: 'Framing of the message. A contradiction gets 400.',
  },
  {
    names: ['Sec-WebSocket-Key', 'Sec-WebSocket-Version'],
    standard: 'RFC 6455',
    when: 'WebSocket handshakes',
    meaning: 'A version other than 13 gets 426.',
  },
];

/** Of requests to services, besides those of the client. */
export const FORWARDED_HEADERS: readonly HeaderNote[] = [
  {
    names: ['API-Version'],
    others: 'the header of `version_as`',
    standard: OWN,
    when: 'the API has versions, and `version_as` names a header',
    meaning: 'The version.',
  },
  {
    names: ['Host'],
    standard: 'RFC 9110',
    when: 'always',
    meaning: '`host` of the upstream, by default the authority of the target.',
  },
  {
    names: ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host'],
    standard: COMMON,
    when: 'always',
    meaning: 'Address, scheme and host of the client, as the gateway knows them.',
  },
  {
    names: ['Forwarded'],
    standard: 'RFC 7239',
    when: 'the gateway file has `forwarded: rfc7239`',
    meaning: 'The same in one header.',
  },
  {
    names: ['X-Forwarded-Prefix'],
    standard: COMMON,
    when: '`locations: prefix`',
    meaning: 'The public path of the service.',
  },
  {
    names: ['X-Consumer-Id', 'X-Consumer-Scopes'],
    others: 'the headers of `identity_headers`',
    standard: OWN,
    when: 'the upstream has `identity_headers`, and the gateway knows the consumer',
    meaning: 'The consumer and the scopes.',
  },
  {
    names: ['Via'],
    standard: 'RFC 9110',
    when: 'always',
    meaning: 'The HTTP version of the client, and `sundial`.',
  },
  { names: ['X-Request-Id'], standard: COMMON, when: 'always', meaning: 'The id of the request.' },
  {
    names: ['traceparent', 'tracestate'],
    standard: 'W3C Trace Context',
    when: 'the client sends a trace, or `tracing` starts one',
    meaning: 'The trace.',
  },
  {
    names: ['Accept', 'Content-Type'],
    standard: 'RFC 9110',
    when: 'the request names its version there',
    meaning: 'The media type without the version.',
  },
  {
    names: ['Accept-Encoding'],
    standard: 'RFC 9110',
    when: 'the response carries a notice in its body',
    meaning: '`identity`.',
  },
  {
    names: ['Max-Forwards'],
    standard: 'RFC 9110',
    when: 'OPTIONS with this header',
    meaning: 'One less than the client sent.',
  },
];

/** Of responses to clients, besides those of the service. */
export const RESPONSE_HEADERS: readonly HeaderNote[] = [
  {
    names: ['Deprecation'],
    standard: 'RFC 9745',
    when: 'deprecated and ended versions, from `announced` on',
    meaning: '`@` and seconds since 1970, or the form in `deprecation_header`.',
  },
  {
    names: ['Sunset'],
    standard: 'RFC 8594',
    when: 'versions with a sunset, from `announced` on',
    meaning: 'An HTTP date.',
  },
  {
    names: ['Link'],
    standard: 'RFC 8288',
    when: 'the same versions and their successors; 404 `route_unknown`',
    meaning: 'Pages and related versions: see [links](../concepts/life-of-a-version.md#links).',
  },
  {
    names: ['Warning'],
    standard: 'RFC 7234 (obsolete)',
    when: 'deprecated versions',
    meaning: '`299` with a sentence.',
  },
  {
    names: ['X-API-Deprecation-Info'],
    standard: OWN,
    when: 'deprecated and ended versions',
    meaning: 'The URL of the status page.',
  },
  {
    names: ['X-API-Version-Requested', 'X-API-Version-Served', 'X-API-Lifecycle-Stage'],
    standard: OWN,
    when: '`echo: true`',
    meaning: 'The version that the request names, the version that serves it, and its stage.',
  },
  {
    names: ['X-RateLimit-Limit', 'X-RateLimit-Remaining'],
    standard: COMMON,
    when: 'APIs with limits',
    meaning: 'Units of the limit that is reached first.',
  },
  {
    names: ['X-RateLimit-Reset'],
    standard: COMMON,
    when: 'APIs without limits',
    meaning: 'That of the service. An API with limits removes it.',
  },
  {
    names: ['RateLimit-Policy', 'RateLimit'],
    standard: QUOTA_DRAFT,
    when: 'APIs with limits',
    meaning: 'All limits by name.',
  },
  {
    names: ['Retry-After'],
    standard: 'RFC 9110',
    when: '429, 503, brownouts, 409 for a running request',
    meaning: 'Seconds.',
  },
  {
    names: ['WWW-Authenticate'],
    standard: 'RFC 9110, RFC 6750',
    when: '401, 403',
    meaning: 'The credentials or scopes that the request needs.',
  },
  {
    names: ['Proxy-Status'],
    standard: 'RFC 9209',
    when: 'errors and redirects of the gateway',
    meaning: '`sundial; error=…`.',
  },
  {
    names: ['Idempotency-Replayed'],
    standard: COMMON,
    when: 'a response that repeats a stored one',
    meaning: '`true`.',
  },
  {
    names: ['Vary'],
    standard: 'RFC 9110',
    when: 'APIs with a version or a credential in a header; errors; `cors`',
    meaning: 'The request headers on which the response depends.',
  },
  {
    names: ['Cache-Control', 'Expires', 'X-Accel-Expires'],
    standard: 'RFC 9111, RFC 9213, nginx',
    when: 'always, where a cache could keep the response too long',
    meaning: 'Stricter than the service says: see [caches](../concepts/caches.md).',
  },
  {
    names: ['ETag', 'Last-Modified', 'Accept-Ranges'],
    standard: 'RFC 9110',
    when: 'responses with a notice in the body; published pages',
    meaning: 'A tag of the new body. `Last-Modified` and `Accept-Ranges` are removed.',
  },
  {
    names: ['Location', 'Content-Location', 'Refresh', 'Set-Cookie'],
    standard: 'RFC 9110, RFC 6265',
    when: '301 and 308 of the gateway; responses of services',
    meaning: 'A public address: see [addresses in responses](../concepts/addresses.md).',
  },
  {
    names: ['Strict-Transport-Security'],
    standard: 'RFC 6797',
    when: 'HTTPS with `hsts`',
    meaning: 'The time in seconds.',
  },
  { names: ['X-Request-Id'], standard: COMMON, when: 'always', meaning: 'The id in the access log.' },
  { names: ['Date'], standard: 'RFC 9110', when: 'always', meaning: 'The time of the response.' },
  {
    names: ['Via'],
    standard: 'RFC 9110',
    when: 'responses of services',
    meaning: 'The HTTP version of the service, and `sundial`.',
  },
  { names: ['Allow'], standard: 'RFC 9110', when: '405', meaning: 'The permitted methods.' },
  {
    names: ['Accept'],
    standard: 'RFC 9110',
    when: 'a `Content-Type` with an unknown version',
    meaning: 'The accepted media types.',
  },
  {
    names: ['Upgrade', 'Sec-WebSocket-Version'],
    standard: 'RFC 6455',
    when: '426',
    meaning: 'The supported version.',
  },
  {
    names: ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'],
    standard: 'Fetch',
    when: 'APIs with `cors`; published pages',
    meaning: 'The pages that may read the response, and the headers that they see.',
  },
  {
    names: ['Access-Control-Allow-Methods', 'Access-Control-Allow-Headers', 'Access-Control-Max-Age'],
    standard: 'Fetch',
    when: 'preflights',
    meaning: 'What a page may send.',
  },
  {
    names: ['Access-Control-Allow-Credentials'],
    standard: 'Fetch',
    when: 'APIs without `cors`',
    meaning: 'That of the service. An API with `cors` removes it.',
  },
  {
    names: ['Content-Type', 'Content-Length', 'Connection'],
    standard: 'RFC 9110, RFC 9112',
    when: 'responses of the gateway, and responses with a notice',
    meaning: 'Media type and framing.',
  },
  {
    names: ['X-Content-Type-Options', 'Content-Security-Policy', 'Referrer-Policy'],
    standard: 'Fetch, W3C',
    when: 'published pages',
    meaning: 'Restrict what a browser does with the page.',
  },
];
