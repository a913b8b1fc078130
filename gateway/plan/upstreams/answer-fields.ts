// What the gateway does with each field of an upstream's response: a table of names, extended per upstream.
import type { HeaderRules } from '../../policy/headers/rules.ts';

/** Bits, of which a field may have several. */
export const FIELD = {
  dropped: 1,
  /** FWD-4: of these a message has one; two leave it to the client which to believe. */
  singleton: 2,
  /** Removed or set by the `headers` of the policy. */
  edited: 4,
  /** Holds addresses of the service. */
  address: 8,
  cacheControl: 16,
  /** Says to some caches how long an answer may be reused. */
  otherCaches: 4_096,
  /** What the gateway says itself: its line takes the place of the upstream's. */
  lifecycle: 32,
  quota: 64,
  echo: 128,
  cors: 256,
  own: 512,
  /** Lists, to which the gateway adds. */
  list: 1_024,
  via: 2_048,
} as const;

/** The bits by lower-case name; none of a name that is not there. */
export type AnswerFields = ReadonlyMap<string, number>;

const TABLE: readonly (readonly [bits: number, names: readonly string[]])[] = [
  [
    FIELD.dropped,
    [
      ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'te', 'trailer'],
      ...['transfer-encoding', 'upgrade', 'http2-settings'],
      // RFC 7838: another authority for the origin, which would lead clients round the gateway.
      'alt-svc',
      // Orders to the proxy next to the service: another proxy before the gateway would obey them with its own files and places.
      ...['x-accel-redirect', 'x-sendfile', 'x-sendfile2', 'x-sendfile-temporary', 'x-lighttpd-send-file'],
      ...['x-litespeed-location', 'x-reproxy-url', 'x-reproxy-file', 'x-envoy-immediate-health-check-fail'],
    ],
  ],
  [FIELD.singleton, ['content-type', 'location', 'date', 'etag', 'last-modified', 'expires', 'age']],
  [FIELD.singleton, ['retry-after', 'content-location', 'content-range', 'server']],
  [FIELD.address, ['location', 'content-location', 'refresh', 'link', 'set-cookie']],
  [FIELD.cacheControl, ['cache-control']],
  // With all that have directives for caches, whatever those are called.
  [FIELD.otherCaches, ['expires', 'x-accel-expires']],
  [FIELD.lifecycle, ['deprecation', 'sunset', 'x-api-deprecation-info']],
  [FIELD.quota, ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'ratelimit-policy']],
  [FIELD.quota, ['ratelimit']],
  [FIELD.echo, ['x-api-version-requested', 'x-api-version-served', 'x-api-lifecycle-stage']],
  [FIELD.cors, ['access-control-allow-origin', 'access-control-allow-credentials']],
  [FIELD.cors, ['access-control-expose-headers']],
  [FIELD.own, ['x-request-id', 'strict-transport-security', 'idempotency-replayed']],
  [FIELD.list, ['link', 'warning', 'vary']],
  [FIELD.via, ['via']],
];

const EVERY_ANSWER = tableOf(TABLE);

/** With what the policy of an API changes in its answers. */
export function answerFieldsOf(rules: HeaderRules | undefined): AnswerFields {
  if (rules === undefined) return EVERY_ANSWER;
  const { remove, set } = rules.response;
  return tableOf([...TABLE, [FIELD.edited, [...remove, ...Object.keys(set)]]]);
}

function tableOf(rows: typeof TABLE): AnswerFields {
  const table = new Map<string, number>();
  for (const [bits, names] of rows) for (const name of names) table.set(name, (table.get(name) ?? 0) | bits);
  return table;
}
