// The table of response fields that the gateway removes, replaces or rewrites, extended per upstream.
import type { HeaderRules } from '../../policy/headers/rules.ts';

/** Bits. A field may have several. */
export const FIELD = {
  dropped: 1,
  /** FWD-4: a message has at most one of these. With two, clients differ in the one they use. */
  singleton: 2,
  edited: 4,
  /** Holds addresses of the service. */
  address: 8,
  cacheControl: 16,
  /** Sets the freshness for some caches only. */
  otherCaches: 4_096,
  /** The gateway's own line replaces the upstream's. */
  lifecycle: 32,
  quota: 64,
  echo: 128,
  cors: 256,
  own: 512,
  list: 1_024,
  via: 2_048,
} as const;

export type AnswerFields = ReadonlyMap<string, number>;

const TABLE: readonly (readonly [bits: number, names: readonly string[]])[] = [
  [
    FIELD.dropped,
    [
      ...['connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'te', 'trailer'],
      ...['transfer-encoding', 'upgrade', 'http2-settings'],
      // RFC 7838: an alternative authority for the origin, which would let clients bypass the gateway.
      'alt-svc',
      // Commands for the proxy in front of the service. Another proxy in front of the gateway would execute them.
      ...['x-accel-redirect', 'x-sendfile', 'x-sendfile2', 'x-sendfile-temporary', 'x-lighttpd-send-file'],
      ...['x-litespeed-location', 'x-reproxy-url', 'x-reproxy-file', 'x-envoy-immediate-health-check-fail'],
    ],
  ],
  [FIELD.singleton, ['content-type', 'location', 'date', 'etag', 'last-modified', 'expires', 'age']],
  [FIELD.singleton, ['retry-after', 'content-location', 'content-range', 'server']],
  [FIELD.address, ['location', 'content-location', 'refresh', 'link', 'set-cookie']],
  [FIELD.cacheControl, ['cache-control']],
  // Fields with cache directives under other names are found by their name's form.
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
