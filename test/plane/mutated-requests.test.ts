// Mutated requests without a socket: the upstream gets the request that the exchange checked.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ForwardOrder } from '../../gateway/exchange/directive.ts';
import { createExchange, type Exchange } from '../../gateway/exchange/exchange.ts';
import { RecordFields, type RequestView } from '../../gateway/exchange/request-view.ts';
import { compileBounds } from '../../gateway/plan/compile/bounds.ts';
import { hasPlan } from '../../gateway/plan/load.ts';
import { createClientConnection } from '../../gateway/plane/client-connection.ts';
import { hasBody } from '../../gateway/plane/general/request/message.ts';
import { readRequest } from '../../gateway/plane/general/request/request-view.ts';
import type { Inbound } from '../../gateway/plane/port.ts';
import { type RequestReading, requestIdOf } from '../../gateway/plane/request-reading.ts';
import { readPreferences } from '../../gateway/policy/versioning/accept.ts';
import { parseMediaType, parseTemplate, versionIn } from '../../gateway/policy/versioning/media-type.ts';
import { createClientAddress } from '../../gateway/server/client-address.ts';
import { flatFields, forwardedField, upstreamHeaders } from '../../gateway/upstream/request-headers.ts';
import { NOW, workspace } from '../plan/workspace.ts';
import { fuzz } from '../support/fuzz.ts';
import { fieldLines, mutated } from '../support/mutated-bytes.ts';
import { createBytesParser } from '../support/parsed-request.ts';
import { quietPorts } from '../support/quiet-ports.ts';

const POLICY = `api: orders
base: /api/orders
resolve:
  - path: /api/{version}/orders
  - header: API-Version
  - query: version
  - media_type: application/vnd.acme.{version}+json
  - default: v2
access: public
headers: { request: { set: { X-Tenant: acme }, remove: [X-Debug] } }
upstreams:
  v1: { targets: [http://127.0.0.1:4001], path: /orders, version_as: { header: API-Version } }
  v2: { targets: [http://127.0.0.1:4002], path: /orders, version_as: { query: edition }, host: orders.internal }
versions:
  v1: { released: 2024-06-01 }
  v2: { released: 2026-01-15 }
`;

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const ONCE: ReadonlySet<string> = new Set([
  ...['via', 'x-forwarded-proto', 'x-forwarded-host', 'forwarded', 'x-request-id', 'content-length'],
]);
const NEVER =
  /^(?:connection|keep-alive|proxy-(?:connection|authenticate|authorization)|te|trailer|transfer-encoding|upgrade|http2-settings|expect|x-real-ip|x-user-.*|x-debug|.*_.*)$/;
const templates = [parseTemplate('application/vnd.acme.{version}+json') ?? expect.fail('no template')];

const whole = fc
  .record({
    method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'),
    start: fc.constantFrom('', '', '', 'http://api.example.com'),
    path: fc.constantFrom('/api/v1/orders/7', '/api/v2/orders', '/api/orders/a%2Fb;c', '/api/orders'),
    search: fc.constantFrom(
      '',
      '?',
      '?x=1&x=%2f',
      '?version=v1&x=1',
      '?x=1&version=2&%76ersion=2',
      '?&edition=9&',
    ),
    lines: fieldLines,
    body: fc.constantFrom('', 'Content-Length: 5', 'Transfer-Encoding: chunked'),
  })
  .map(({ method, start, path, search, lines, body }) =>
    [
      `${method} ${start}${path}${search} HTTP/1.1`,
      'Host: api.example.com',
      ...lines,
      ...(body === '' ? [] : [body]),
      '',
      body === '' ? '' : body.startsWith('C') ? 'hello' : '5\r\nhello\r\n0\r\n\r\n',
    ].join('\r\n'),
  );
const peer = fc.constantFrom('192.0.2.9', '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '');

const parser = createBytesParser();
const clientAddress = createClientAddress(['10.0.0.0/8']);
const bounds = compileBounds({});
const RUNS = 1_000;
let exchange: Exchange;

beforeAll(async () => {
  await using files = await workspace({ 'policies/orders.yaml': POLICY });
  const loaded = await files.load();
  if (!hasPlan(loaded)) throw new Error(JSON.stringify(loaded.problems));
  exchange = createExchange({
    ...quietPorts(
      () => loaded.plan,
      () => NOW,
    ),
    guard: () => expect.fail('no guard'),
    limiter: { take: () => expect.fail('no limits') },
  });
});

interface Read {
  readonly reading: RequestReading;
  readonly chain: string;
}

function read(raw: IncomingMessage, from: string, isHttp2 = false): Read {
  const address = clientAddress(from, raw.headers['x-forwarded-for']?.toString());
  const requestId = requestIdOf(raw);
  const context = {
    scheme: 'http',
    isHttp2,
    address,
    requestId,
    trace: undefined,
    headers: new RecordFields(raw.headers),
    bounds,
    connection: createClientConnection(clientAddress(from, undefined), undefined),
  } as const;
  return { reading: readRequest(raw, context), chain: address.chain };
}

interface Sent {
  readonly order: ForwardOrder;
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** The target and the fields that the forwarder would send. */
async function forwarded(
  raw: IncomingMessage,
  { view, forwardedHost }: Extract<RequestReading, { kind: 'view' }>,
  chain: string,
): Promise<Sent | undefined> {
  const directive = await exchange.decide(view, exchange.begin(view.requestId));
  if (directive.kind !== 'forward') return undefined;
  const inbound: Inbound = {
    view,
    httpVersion: raw.httpVersion,
    forwardedFor: chain,
    forwardedHost,
    forwarded: forwardedField({ chain, scheme: view.scheme, host: forwardedHost }),
    hasBody: hasBody(raw, new ServerResponse(raw)),
    body: raw,
    endedWhole: () => true,
    isPadded: undefined,
    bytes: 0,
    gone: false,
    onGone: undefined,
    onClosed: () => undefined,
  };
  const flat = flatFields(upstreamHeaders(inbound, directive.forward));
  const fields = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? ''] as const] : []));
  return { order: directive.forward, fields };
}

const CLEAR: Readonly<Partial<Record<keyof RequestView, RegExp>>> = {
  path: /^(?!.*(?:%(?![0-9A-F]{2})|%00|%0[AD]|\/\.{1,2}(?:\/|$)))\/[\x21\x22\x24-\x3e\x40-\x5b\x5d-\x7e]*$/,
  search: /^(?:\?[\x21\x22\x24-\x7e]*)?$/,
  host: /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/,
  requestId: /^[A-Za-z0-9-]{8,64}$/,
  clientAddress: /^[0-9a-f:.]*(?:::\/64)?$/,
};

function viewFaults(view: RequestView): readonly string[] {
  return Object.entries(CLEAR).flatMap(([part, pattern]) => {
    const text = String(view[part as keyof RequestView]);
    return pattern.test(text) ? [] : [`the ${part} judged is ${JSON.stringify(text)}`];
  });
}

const BASE = /^\/api\/(?:v[0-9.]+\/)?orders(?=\/|$)/;
/** The parts of a query that name no version. */
const partsBeside = (search: string): string =>
  search
    .slice(1)
    .split('&')
    .filter((part) => part !== '' && !/^(?:version|%76ersion|edition)(?:=|$)/.test(part))
    .join('&');

/** The path after the base and the query without the version must be unchanged. */
function targetFaults(view: RequestView, target: string): readonly string[] {
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const search = mark < 0 ? '' : target.slice(mark);
  const same =
    BASE.test(view.path) &&
    path === `/orders${view.path.replace(BASE, '')}` &&
    partsBeside(search) === partsBeside(view.search);
  return same ? [] : [`${view.path}${view.search} was judged, and ${target} forwarded`];
}

/** The gateway's own fields come once. All others are the client's, as checked, without hop-by-hop fields. */
function fieldFaults(raw: IncomingMessage, { order, fields }: Sent, chain: string): readonly string[] {
  const ours: Readonly<Record<string, string | undefined>> = {
    'x-forwarded-for': chain,
    'x-tenant': 'acme',
    'api-version': order.upstream.versionHeader === undefined ? undefined : order.label,
    host: order.upstream.host,
  };
  const nominated = (raw.headers.connection ?? '')
    .toLowerCase()
    .split(',')
    .map((each) => each.trim());
  const names = new Set(fields.map(([name]) => name.toLowerCase()));
  return [...names].flatMap((name) => {
    const values = fields.filter((field) => field[0].toLowerCase() === name).map(([, value]) => value);
    const what = `${JSON.stringify(name)}: ${JSON.stringify(values)}`;
    if (!TOKEN.test(name) || !values.every((value) => VALUE.test(value))) return [`no field: ${what}`];
    if (Object.hasOwn(ours, name))
      return values.length === 1 && values[0] === ours[name] ? [] : [`not ours: ${what}`];
    if (ONCE.has(name)) return values.length === 1 ? [] : [`twice: ${what}`];
    if (NEVER.test(name) || nominated.includes(name)) return [`ends at this hop: ${what}`];
    if (name === 'accept') {
      const claims = readPreferences(templates, new RecordFields({ accept: values })).filter(
        ({ claim }) => claim !== undefined,
      );
      return claims.length === 0 ? [] : [`another version: ${what}`];
    }
    if (name === 'max-forwards') return [];
    if (name === 'content-type') {
      const version = versionIn(templates, parseMediaType(values.join(', ')));
      return version === undefined ? [] : [`another version: ${what}`];
    }
    const sent = [raw.headers[name]].flat();
    return String(sent) === String(values) ? [] : [`${JSON.stringify(sent)} was judged: ${what}`];
  });
}

describe('ORD-2: mutated requests of a client', () => {
  it('the upstream gets the request that the exchange checked, with valid fields only', async () => {
    let judged = 0;
    let passed = 0;
    const property = fc.asyncProperty(mutated(whole), peer, async (bytes, from) => {
      for (const raw of await parser.parse(bytes)) {
        const { reading, chain } = read(raw, from);
        if (reading.kind !== 'view') continue;
        judged += 1;
        const sent = await forwarded(raw, reading, chain);
        const faults = viewFaults(reading.view);
        if (sent === undefined) {
          expect(faults).toEqual([]);
          continue;
        }
        passed += 1;
        expect([
          ...faults,
          ...targetFaults(reading.view, sent.order.target),
          ...fieldFaults(raw, sent, chain),
        ]).toEqual([]);
      }
    });
    await fuzz(property, RUNS);
    // Most draws must get this far, or the property proves little.
    expect(judged).toBeGreaterThan(RUNS / 3);
    expect(passed).toBeGreaterThan(RUNS / 6);
  });

  it('over HTTP/2, Host and :authority must agree, and no pseudo-header field is forwarded', async () => {
    let judged = 0;
    const authority = fc.constantFrom(
      'api.example.com',
      'API.example.com:80',
      'api.example.com:8443',
      '[::1]',
      'x@y',
      '',
    );
    const fields = fc.dictionary(
      fc.constantFrom(
        'host',
        'cookie',
        'x-a',
        'x_a',
        'te',
        'connection',
        'upgrade',
        'expect',
        'api-version',
        'accept',
      ),
      fc.constantFrom(
        'api.example.com',
        'api.example.com:80',
        'evil.example',
        'trailers',
        'close',
        'v1',
        '100-continue',
      ),
    );
    const path = mutated(fc.constantFrom('/api/v1/orders/7?x=1', '/api/orders'));
    const property = fc.asyncProperty(authority, fields, path, peer, async (name, sent, url, from) => {
      const headers = { ':method': 'GET', ':scheme': 'http', ':authority': name, ':path': url, ...sent };
      const raw = Object.assign(new IncomingMessage(new Socket()), {
        method: 'GET',
        url,
        httpVersion: '2.0',
        httpVersionMajor: 2,
        headers,
        rawHeaders: Object.entries(headers).flat(),
      });
      const { reading, chain } = read(raw, from, true);
      if (reading.kind !== 'view') return;
      judged += 1;
      expect(viewFaults(reading.view)).toEqual([]);
      expect(`${reading.view.host} `).toBe(`${name.toLowerCase().replace(/:\d+$/, '')} `);
      // H2-1: the same authority, or malformed.
      const plain = (text: string): string => text.toLowerCase().replace(/:80$/, '');
      if (sent.host !== undefined) expect(plain(sent.host)).toBe(plain(name));
      for (const gone of ['connection', 'upgrade']) expect(sent).not.toHaveProperty(gone);
      const order = await forwarded(raw, reading, chain);
      expect(order === undefined ? [] : fieldFaults(raw, order, chain)).toEqual([]);
    });
    await fuzz(property, 1_000);
    expect(judged).toBeGreaterThan(50);
  });
});
