// The cache of field sections does not change how requests are read and forwarded.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ForwardOrder } from '../../../gateway/exchange/directive.ts';
import { RecordFields, type RequestView } from '../../../gateway/exchange/request-view.ts';
import { compileBounds } from '../../../gateway/plan/compile/bounds.ts';
import { createHeadReader, type FastHead } from '../../../gateway/plane/fast/request-head.ts';
import type { Inbound } from '../../../gateway/plane/port.ts';
import { flatFields, upstreamHeaders } from '../../../gateway/upstream/request-headers.ts';
import { samples } from '../../support/fuzz.ts';

const bounds = compileBounds({});

const head = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'OPTIONS'),
    target: fc.constantFrom('/a', '/a/b?c=d', '/'),
    token: fc.nat(3),
    lines: fc.subarray([
      'Accept: */*',
      'X_Odd: 1',
      'Connection: close',
      'Content-Length: 2',
      'Expect: 100-continue',
    ]),
    end: fc.constantFrom('\r\n', '\r\n', '\r\n', '', 'X-A:\t1\r\n\r\n'),
  })
  .map(({ method, target, token, lines, end }) =>
    [`${method} ${target} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${token}`, ...lines, end].join('\r\n'),
  );

const plain = (read: FastHead | string): unknown =>
  typeof read === 'string' ? read : { ...read, headers: { ...read.headers }, fields: undefined };

describe('a head reader', () => {
  it('reads a head in the same way as a new reader with an empty cache', () => {
    const { seed, drawn } = samples(head, 2_000);
    const reader = createHeadReader(bounds);
    for (const text of drawn) {
      const bytes = Buffer.from(text, 'latin1');
      expect(plain(reader(bytes)), `seed ${seed}: ${text}`).toEqual(plain(createHeadReader(bounds)(bytes)));
    }
  });

  it('shares fields between requests with the same octets, and not after many new ones', () => {
    const reader = createHeadReader(bounds);
    const fieldsOf = (mark: string): unknown => {
      const read = reader(Buffer.from(`GET / HTTP/1.1\r\nHost: a\r\nX-Mark: ${mark}\r\n\r\n`, 'latin1'));
      return typeof read === 'string' ? read : read.fields;
    };
    expect(fieldsOf('same')).toBe(fieldsOf('same'));
    expect(fieldsOf('same')).not.toBe(fieldsOf('other'));
    for (let count = 0; count < 300; count += 1) fieldsOf(`new ${count}`);
    expect(fieldsOf('same')).not.toBe(fieldsOf('same'));
  });
});

interface Asked {
  readonly inbound: Omit<Inbound, 'view'> & { readonly view: Omit<RequestView, 'headers'> };
  readonly order: ForwardOrder;
}

const withheld = fc.constantFrom(...['', 'x-a', 'accept'].map((name) => new Set(name === '' ? [] : [name])));
const rules = fc.constantFrom(
  undefined,
  { request: { set: { 'x-tenant': 'acme' } }, response: { set: {}, remove: [] }, kept: undefined },
  {
    request: { set: {} },
    response: { set: {}, remove: [] },
    kept: { from: 'trusted', names: ['x-real-ip'] },
  },
);
const dimensions = fc.record({
  withheld,
  headerRules: rules,
  versionHeader: fc.constantFrom(undefined, 'api-version'),
  label: fc.constantFrom('v1', 'v2'),
  host: fc.constantFrom(undefined, 'orders.internal'),
  replaceHeaders: fc.constantFrom(undefined, undefined, undefined, { accept: 'application/json' }),
  setHeaders: fc.constantFrom(undefined, { 'x-consumer': 'acme' }),
  method: fc.constantFrom('GET', 'OPTIONS'),
  scheme: fc.constantFrom('http', 'https'),
  viaTrusted: fc.boolean(),
  hasBody: fc.boolean(),
  forwardedFor: fc.constantFrom('192.0.2.1', '192.0.2.2'),
  forwardedHost: fc.constantFrom('a', 'b:8443'),
  forwarded: fc.constantFrom(undefined, 'for=192.0.2.1'),
  requestId: fc.uuid(),
});
type Dimensions = typeof dimensions extends fc.Arbitrary<infer Value> ? Value : never;

function askedFor(drawn: Dimensions): Asked {
  const { method, scheme, viaTrusted, requestId, hasBody, forwardedFor, forwardedHost, forwarded } = drawn;
  const view = { method, scheme, viaTrusted, requestId };
  const inbound = { view, httpVersion: '1.1', hasBody, forwardedFor, forwardedHost, forwarded };
  const { versionHeader, host, label, headerRules, replaceHeaders, setHeaders } = drawn;
  const upstream = { versionHeader, withheld: drawn.withheld, host };
  return {
    inbound,
    order: { upstream, label, headerRules, replaceHeaders, setHeaders },
  } as unknown as Asked;
}

/** Two requests that differ in one dimension. */
const pairs = fc
  .tuple(dimensions, fc.nat(), dimensions)
  .map(([first, at, other]): readonly [Asked, Asked] => {
    const keys = Object.keys(first) as (keyof Dimensions)[];
    const key = keys[at % keys.length] ?? 'label';
    return [askedFor(first), askedFor({ ...first, [key]: other[key] })];
  });

const RECORD = {
  ...{ host: 'a', accept: 'text/html', 'x-a': '1', 'x-real-ip': '10.0.0.1', 'content-length': '2' },
  ...{ 'content-type': 'text/plain', via: '1.0 other', 'max-forwards': '3', connection: 'keep-alive' },
};

it('VER-9: cached fields are forwarded in the same way as new ones, after any earlier request', () => {
  const { seed, drawn } = samples(pairs, 4_000);
  const remembered = new RecordFields(RECORD);
  const forwarded = ({ inbound, order }: Asked, headers: RecordFields): readonly string[] =>
    flatFields(upstreamHeaders({ ...inbound, view: { ...inbound.view, headers } } as Inbound, order));
  let shared = 0;
  for (const [first, second] of drawn) {
    forwarded(first, remembered);
    const before = remembered.forwarded;
    expect(forwarded(second, remembered), `seed ${seed}`).toEqual(
      forwarded(second, new RecordFields(RECORD)),
    );
    if (remembered.forwarded === before) shared += 1;
  }
  expect(shared).toBeGreaterThan(drawn.length / 10);
});
