// Parses header field names and describes the well-known ones.

const NAME = /^[A-Za-z0-9!#$%&'*+.^`|~-]{1,64}$/;

/**
 * Lower case. Undefined for an invalid name, and for names with `_`, which some upstreams do not tell from `-` (SMG-25).
 */
export function parseFieldName(text: string): string | undefined {
  return NAME.test(text) ? text.toLowerCase() : undefined;
}

const CONTENT = 'what is sent, or wanted';
const FRAMING = 'connection framing';
const CALLER = 'who calls';
const TRACE = 'which trace it belongs to';

const MEANINGS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  authorization: 'which token is sent',
  cookie: 'what a browser keeps',
  host: 'which host is meant',
  origin: 'which page asks',
  referer: 'which page asks',
  'user-agent': 'which program asks',
  date: 'when it was sent',
  range: CONTENT,
  'cache-control': 'what caches may do',
  pragma: 'what caches may do',
  'idempotency-key': 'which request it is again',
  'x-request-id': 'which request it is',
  via: 'the way of a message',
  'max-forwards': 'the way of a message',
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
  [/^if-/, 'under which condition'],
  [/^(?:x-forwarded|x-client-cert|client-cert)(?:-|$)/, CALLER],
  [/^(?:transfer|proxy)(?:-|$)/, FRAMING],
  [/^sec-/, 'what a browser tells'],
  [/^access-control-/, 'which page asks'],
];

/** The meaning of a well-known field, for `<name> says …`. Undefined for any other. `name` in lower case. */
export function fieldMeaning(name: string): string | undefined {
  return MEANINGS[name] ?? FAMILIES.find(([family]) => family.test(name))?.[1];
}
