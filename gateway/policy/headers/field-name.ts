// Parses header field names and describes the well-known ones.

const NAME = /^[A-Za-z0-9!#$%&'*+.^`|~-]{1,64}$/;

/**
 * Lower case. Undefined for an invalid name, and for names with `_`, which some upstreams do not tell from `-` (SMG-25).
 */
export function parseFieldName(text: string): string | undefined {
  return NAME.test(text) ? text.toLowerCase() : undefined;
}

const CONTENT = 'the description of a body';
const FRAMING = 'connection framing';
const CALLER = 'the identity or address of the caller';
const TRACE = 'the trace of the request';

const MEANINGS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  authorization: 'the token',
  cookie: 'the cookies of a browser',
  host: 'the host',
  origin: 'the page that sends the request',
  referer: 'the page that sends the request',
  'user-agent': 'the program that sends the request',
  date: 'the time of the message',
  range: CONTENT,
  'cache-control': 'the rules for caches',
  pragma: 'the rules for caches',
  'idempotency-key': 'the key of a retried request',
  'x-request-id': 'the id of the request',
  via: 'the proxies that forwarded the message',
  'max-forwards': 'the limit of proxies',
  traceparent: TRACE,
  tracestate: TRACE,
  baggage: TRACE,
  forwarded: CALLER,
  'x-real-ip': CALLER,
  connection: FRAMING,
  expect: FRAMING,
  'http2-settings': FRAMING,
  'keep-alive': FRAMING,
  te: FRAMING,
  trailer: FRAMING,
  upgrade: FRAMING,
});

const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^(?:accept|content)(?:-|$)/, CONTENT],
  [/^if-/, 'a condition of the request'],
  [/^(?:x-forwarded|x-client-cert|client-cert)(?:-|$)/, CALLER],
  [/^(?:transfer|proxy)(?:-|$)/, FRAMING],
  [/^sec-/, 'data of the browser'],
  [/^access-control-/, 'a CORS preflight'],
];

/** What a well-known field carries. Undefined for any other. `name` in lower case. */
export function fieldMeaning(name: string): string | undefined {
  return MEANINGS[name] ?? FAMILIES.find(([family]) => family.test(name))?.[1];
}
