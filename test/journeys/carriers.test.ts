// Version resolution through a whole gateway: every carrier, every pair of them, every cell of the status table,
// and what the upstream sees afterwards.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Received } from '../../upstreams/echo/received.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { head, sendBytes } from '../support/raw-client.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';
import { converseInHttp2 } from '../wire/http2-client.ts';
import { request } from '../wire/http2-frames.ts';
import { askFor, NAMES, PLACES, type Place } from './carriers/asks.ts';

const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();
let gateway: RunningGateway;
let upstream: RawUpstream;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  upstream = stack.use(
    await startRawUpstream(
      (_target, socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    ),
  );
  gateway = stack.use(
    await runGateway({ policies: 'carriers', environment: { ECHO: echo.url, BYTES: upstream.url } }),
  );
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

const ask = (request: Ask, protocol = 'HTTP/1.1'): Promise<Answer> =>
  clients.get(protocol)?.ask(request) ?? Promise.reject(new Error(protocol));

const seenBy = ({ json }: Answer): Received => json as unknown as Received;

const valuesOf = ({ headers }: Received, name: string) =>
  headers.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);

/** One path, one version, and nothing that could name another (VER-9). */
function expectOneVersion(answer: Answer, label: string): void {
  expect(answer.status).toBe(200);
  const seen = seenBy(answer);
  expect(seen.target).toBe('/echo/7?x=1');
  expect(valuesOf(seen, 'api-version')).toEqual([label]);
  for (const name of ['accept', 'content-type'])
    for (const value of valuesOf(seen, name)) expect(value).not.toMatch(/vnd|version/);
}

const pairs = PLACES.flatMap((one, index) => PLACES.slice(index + 1).map((other) => [one, other] as const));

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (protocol) => {
  it.concurrent.each(PLACES)('the %s alone names the version', async (place) => {
    const answer = await ask(askFor({ [place]: 'v2' }), protocol);
    expectOneVersion(answer, 'v2');
    const carrier = place === 'contentType' ? 'content_type' : place;
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({
      carrier,
      version: 'v2',
    });
  });

  it.concurrent.each(pairs)('VER-3: %s and %s that agree are one version', async (one, other) => {
    expectOneVersion(await ask(askFor({ [one]: 'v2', [other]: 'v2' }), protocol), 'v2');
  });

  it.concurrent.each(pairs)('VER-3: %s and %s that disagree are ambiguous', async (one, other) => {
    const answer = await ask(askFor({ [one]: 'v2', [other]: 'v3' }), protocol);
    expect(answer.status).toBe(400);
    // What is negotiated is named last.
    const values = [`"v2" in the ${NAMES[one]}`, `"v3" in the ${NAMES[other]}`];
    for (const value of values) expect(answer.json.message).toContain(value);
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({
      refusal: 'version_ambiguous',
    });
  });
});

describe('H2-3, VER-3: a version in a header with bytes that no field may hold, which nghttp2 leaves out unseen', () => {
  it.concurrent.each([
    ['is none where there is no default', '/api/orders/7', 'api-version', 400, 'version_missing', undefined],
    ['does not change the one in the path', '/api/v2/orders/7', 'api-version', 200, undefined, 'v2'],
    ['leaves the default', '/api/payments/7', 'payments-version', 200, undefined, '2026-06-01'],
  ] as const)('%s', async (_what, path, field, status, refusal, version) => {
    const port = gateway.https;
    const fields = [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', '127.0.0.1'],
      [':path', path],
      ['x-request-id', `left-out-${field}-${status}`],
      [field, 'v9\0'],
    ] as const;
    const address = { host: '127.0.0.1', port, tls: true, serverName: '' };
    const { answers } = await converseInHttp2(address, { pieces: [request(fields)], patienceMs: 20_000 });
    expect(answers).toMatchObject([{ status }]);
    const line = await gateway.accessLine(`left-out-${field}-${status}`);
    expect(line).toMatchObject({ status, ...(refusal && { refusal }), ...(version && { version }) });
  });
});

describe('the status table', () => {
  const cells: readonly (readonly [Place, number, number, number, number])[] = [
    // carrier, malformed, never existed, planned, retired
    ['path', 404, 404, 404, 301],
    ['subdomain', 404, 404, 404, 301],
    ['header', 400, 400, 400, 410],
    ['query', 400, 400, 400, 410],
    ['accept', 406, 406, 406, 410],
    ['contentType', 415, 415, 415, 410],
  ];

  it.concurrent.each(cells)('STAT-1: %s, malformed: %i', async (place, status) => {
    const answer = await ask(askFor({ [place]: 'v01' }));
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({
      message: `"v01" in the ${NAMES[place]} is not a version. Versions: v3, v2.`,
      supportedVersions: ['v3', 'v2'],
    });
  });

  it.concurrent.each(cells)(
    'STAT-1, STAT-2: %s, a version that never existed',
    async (place, _malformed, status) => {
      const answer = await ask(askFor({ [place]: 'v7' }));
      expect(answer.status).toBe(status);
      expect(answer.json).toMatchObject({
        message: `There is no such version: "v7" in the ${NAMES[place]}. Versions: v3, v2.`,
        supportedVersions: ['v3', 'v2'],
      });
      expect(answer.headers.accept).toBe(
        place !== 'contentType'
          ? undefined
          : [
              ...['v3', 'v2'].map((label) => `application/vnd.acme.${label}+json`),
              ...[3, 2].map((label) => `application/vnd.acme+json; version=${label}`),
            ].join(', '),
      );
    },
  );

  it.concurrent.each(cells)('STAT-1: %s, a version that is only planned', async (place, _m, _n, status) => {
    expect((await ask(askFor({ [place]: 'v9' }))).status).toBe(status);
  });

  it.concurrent.each(cells)('RET-5: %s, a retired version', async (place, _m, _n, _p, status) => {
    const answer = await ask(askFor({ [place]: 'v0' }));
    expect(answer.status).toBe(status);
    expect(answer.headers.location).toBe(
      status === 301 ? 'https://127.0.0.1/api/v2/orders/7?x=1' : undefined,
    );
  });

  it.concurrent.each(
    cells.flatMap(([place, , , , status]) =>
      (place === 'contentType' ? ['PUT', 'PATCH'] : ['HEAD', 'OPTIONS', 'POST', 'DELETE']).map(
        (method) => [method, place, status === 301 && method !== 'HEAD' ? 308 : status] as const,
      ),
    ),
  )('promise 46: %s, a retired version by the %s: %i', async (method, place, status) => {
    const asked = { ...askFor({ [place]: 'v0' }), method };
    for (const protocol of ['HTTP/1.1', 'HTTP/2']) expect((await ask(asked, protocol)).status).toBe(status);
  });

  it.concurrent.each(cells.filter(([place]) => place !== 'contentType'))(
    'promise 46: %s, a handshake for a retired version',
    async (place, _m, _n, _p, status) => {
      const { path, headers } = askFor({ [place]: 'v0' });
      const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(
        ([name, value]) => `${name}: ${value}`,
      );
      const websocket = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
      const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
      const bytes = head(`GET ${path} HTTP/1.1`, ...lines, ...websocket, key);
      expect((await sendBytes(gateway.https, bytes)).status).toBe(status);
    },
  );

  it.concurrent.each(pairs)(
    'promise 46: %s, a retired version, and %s, one that is served',
    async (one, other) => {
      for (const said of [
        { [one]: 'v0', [other]: 'v2' },
        { [one]: 'v2', [other]: 'v0' },
      ])
        expect((await ask(askFor(said))).status).toBe(400);
    },
  );

  it.each([
    ['no carrier', {}],
    ['a wildcard', { accept: '*/*' }],
    ['a version that only the type of no body names', { 'content-type': 'application/vnd.acme.v2+json' }],
  ])('STAT-1: %s and no default: 400', async (_name, headers) => {
    const answer = await ask({ path: '/api/orders', headers: headers as Record<string, string> });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ supportedVersions: ['v3', 'v2'] });
    expect(answer.headers.vary).toBe('API-Version, Accept');
  });

  it('a path without its version is no route; a host that is no version is not ours', async () => {
    expect((await ask({ path: '/api/vendors/orders' })).status).toBe(404);
    expect((await ask({ path: '/api/orders', headers: { host: 'www.api.example.com' } })).status).toBe(421);
  });

  it('RET-5: one header beside the path is enough to refuse a redirect that would meet it again', async () => {
    expect((await ask(askFor({ path: 'v0', accept: 'v0' }))).status).toBe(410);
    expect((await ask(askFor({ path: 'v0', subdomain: 'v0' }))).status).toBe(301);
  });

  it('NEG-3: who lists another version beside a retired one is served by that, and not sent away', async () => {
    const accept = 'application/vnd.acme.v0+json, application/vnd.acme.v2+json;q=0.5';
    expectOneVersion(await ask({ path: '/api/orders/7?x=1', headers: { accept } }), 'v2');
    const beside = { accept: 'application/vnd.acme.v0+json, text/html' };
    expect((await ask({ path: '/api/orders', headers: beside })).status).toBe(410);
  });

  it.each(['*/*;q=0', 'application/vnd.acme.v2+json;q=0, application/vnd.acme.v3+json;q=0, */*'])(
    'NEG-8: Accept: %s excludes all there is, and is told what that is',
    async (accept) => {
      const { status, json, headers } = await ask({ path: '/api/orders', headers: { accept } });
      expect(status).toBe(406);
      expect(json).toEqual({
        error: 'Not Acceptable',
        message: 'The Accept header excludes every version that is served. Versions: v3, v2.',
        supportedVersions: ['v3', 'v2'],
      });
      expect(headers.vary).toBe('API-Version, Accept');
      expect(await gateway.accessLine(headers['x-request-id'])).toMatchObject({
        refusal: 'version_unacceptable',
        carrier: 'accept',
      });
    },
  );

  it('CACHE-2, NEG-7: every header that could select a version stands in Vary, whichever did', async () => {
    for (const place of PLACES) {
      expect((await ask(askFor({ [place]: 'v2' }))).headers.vary).toBe('API-Version, Accept');
      expect((await ask(askFor({ [place]: 'v7' }))).headers.vary).toBe('API-Version, Accept');
    }
    const byDefault = await ask({ path: '/api/payments' });
    expect([byDefault.status, byDefault.headers.vary]).toEqual([200, 'Payments-Version']);
  });
});

it('NEG-5: an answer keeps the type of the service where the policy does not have it rewritten', async () => {
  const { headers } = await ask(askFor({ accept: 'v2' }));
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
});

describe('what the upstream sees', () => {
  it('VER-9: one version, whatever carriers name it and in whatever form', async () => {
    const wildcard = fc.constantFrom(
      '*/*;q=0.1',
      'text/html',
      'application/vnd.acme.v7+json',
      'application/vnd.acme.v3+json;q=0.2',
    );
    const said = fc.record(
      {
        path: fc.constantFrom('v2', '%762'),
        subdomain: fc.constant('v2'),
        header: fc.constantFrom('2', 'v2', '2, v2'),
        query: fc.constantFrom('2', 'v2', '%32', '2&%76ersion=v2'),
        accept: fc.constant('v2'),
        contentType: fc.constant('v2'),
      },
      { requiredKeys: [] },
    );
    const property = fc.asyncProperty(said, fc.array(wildcard, { maxLength: 2 }), async (places, others) => {
      const request = askFor(Object.keys(places).length === 0 ? { path: 'v2' } : places);
      const { accept } = { accept: undefined, ...request.headers };
      const headers =
        accept === undefined
          ? request.headers
          : { ...request.headers, accept: [accept, ...others].join(', ') };
      expectOneVersion(await ask({ ...request, ...(headers && { headers }) }), 'v2');
    });
    await fc.assert(property, { numRuns: 60 });
  });

  it('VER-8, VER-9: the rest of query, Accept and Content-Type', async () => {
    const answer = await ask({
      path: '/api/orders?a=%2f&version=2&&b=+&version=v2&version2=1',
      method: 'POST',
      body: '{}',
      headers: {
        accept: 'application/vnd.acme.v2+json;q=0.9, text/html;q=0.5,application/vnd.acme.v3+json;q=0.1',
        'content-type': 'application/vnd.acme+json; version=2; charset=utf-8',
      },
    });
    const seen = seenBy(answer);
    expect(seen.target).toBe('/echo?a=%2f&&b=+&version2=1');
    expect(valuesOf(seen, 'accept')).toEqual(['application/json; q=0.9, text/html;q=0.5']);
    expect(valuesOf(seen, 'content-type')).toEqual(['application/json; charset=utf-8']);
  });

  it('VER-9: an Accept that held nothing but versions to avoid is left out', async () => {
    const answer = await ask({
      path: '/api/v2/orders',
      headers: { accept: 'application/vnd.acme.v3+json;q=0' },
    });
    expect(valuesOf(seenBy(answer), 'accept')).toEqual([]);
  });

  it('VER-9: the version in the path, where the upstream wants it there', async () => {
    await ask({ path: '/api/hosts/8?x=1', headers: { 'api-version': '1' } });
    expect(upstream.count('/v2/hosts/8?x=1')).toBe(1);
  });

  it('VER-9: the version in the query, instead of a client’s own parameter of that name', async () => {
    const headers = { 'payments-version': '2025-04-01', 'api-version': '2' };
    const seen = seenBy(await ask({ path: '/api/payments?since=2025-03-01&edition=1&x=2', headers }));
    expect(seen.target).toBe('/echo?x=2&edition=2025-03-01');
    for (const name of Object.keys(headers)) expect(valuesOf(seen, name)).toEqual([]);
  });
});

describe('VER-7: a path that could be read in two ways reaches no upstream', () => {
  it.each([
    ['/api/v0/../v2/orders', 400],
    ['/api/v0/%2e%2e/v2/orders', 400],
    ['/api/v0%2Forders', 404],
    ['/api/v0%252Forders', 404],
    ['/api//v0/orders', 404],
    ['/api/v0;a=b/orders', 404],
    ['/api/v2\\..\\v0/orders', 400],
    ['/api/v2%5C..%5Cv0/orders', 400],
    ['/api/v0/orders%00', 400],
    ['/API/v0/orders', 404],
    ['/api/v0./orders', 404],
    ['/api/v0/orders%zz', 400],
    ['/api/v0/orders#x', 400],
    ['http://other.example.com/api/v0/orders', 421],
    ['/api/%76%30/orders', 301],
    ['/api/v%30/orders', 301],
  ])('%s: %i', async (target, status) => {
    const answer = await sendBytes(
      gateway.https,
      head(`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', 'Connection: close'),
    );
    expect(answer.status).toBe(status);
  });
});

describe('versions told apart by their hosts', () => {
  it('RET-2: redirect to the host of the successor where there is no path form', async () => {
    const answer = await ask({ path: '/api/hosts/7?x=%20', headers: { host: 'v1.hosts.example.com' } });
    expect(answer.status).toBe(301);
    expect(answer.headers.location).toBe('https://v2.hosts.example.com/api/hosts/7?x=%20');
    expect(answer.headers.link).toContain(
      '<https://v2.hosts.example.com/api/hosts/7>; rel="successor-version"',
    );
  });

  it('RET-6: a redirect to another host says that credentials do not go along; one to the same host does not', async () => {
    const away = await ask({ path: '/api/hosts/7', headers: { host: 'v1.hosts.example.com' } });
    expect(away.json.message).toBe(
      'API version v1 was retired on 2026-02-01. The redirect leads to another host, where most clients send no credentials: add them again.',
    );
    const toPath = await ask({ path: '/api/orders/7', headers: { host: 'v0.api.example.com' } });
    expect(toPath.json.message).toContain('another host');
    const here = await ask({ path: '/api/v0/orders/7' });
    expect(here.json.message).toBe('API version v0 was retired on 2026-02-01.');
  });

  it('STAT-1: the host without a version has the default, and needs no Vary', async () => {
    const answer = await ask({ path: '/api/hosts/7' });
    expect(answer.status).toBe(200);
    expect(answer.headers.vary).toBeUndefined();
  });
});

describe('versions that are days', () => {
  const day = (value: string) => ask({ path: '/api/payments', headers: { 'payments-version': value } });

  it.each([
    ['2025-03-01', '2025-03-01', 'the day itself'],
    ['2026-05-31', '2025-03-01', 'the day before the next'],
    ['2026-06-01', '2026-06-01', 'the next'],
    ['2026-11-20', '2026-06-01', 'today'],
  ])('VER-5: %s is answered by %s: %s', async (value, label) => {
    const answer = await day(value);
    expect(answer.status).toBe(200);
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({
      carrier: 'header',
      version: label,
    });
  });

  it.each([
    ['2024-02-01', 410, 'of a version that has ended'],
    ['2023-12-31', 400, 'before the first'],
    ['2026-11-21', 400, 'that has not come'],
    ['2099-01-01', 400, 'of a version that is only planned'],
    ['2026-02-30', 400, 'no calendar has'],
    ['2025-3-1', 400, 'in another form'],
  ])('VER-5: %s, a day: %i', async (value, status) => {
    expect((await day(value)).status).toBe(status);
  });

  it('VER-5: a carrier that matches exactly knows no other day', async () => {
    expect((await ask({ path: '/api/payments?since=2025-03-02' })).status).toBe(400);
    expect((await ask({ path: '/api/payments?since=2025-03-01' })).status).toBe(200);
  });

  it('VER-3: a day between two versions agrees with the version it means', async () => {
    const headers = { 'payments-version': '2025-07-01' };
    expect((await ask({ path: '/api/payments?since=2025-03-01', headers })).status).toBe(200);
    expect((await ask({ path: '/api/payments?since=2026-06-01', headers })).status).toBe(400);
  });
});
