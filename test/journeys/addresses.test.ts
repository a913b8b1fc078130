// Addresses in responses lead clients back through the gateway, whatever form the service writes.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawnAddress } from '../exchange/drawn-addresses.ts';
import { fuzz } from '../support/fuzz.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, type Fields, overHttp1, overHttp2 } from '../support/http-client.ts';
import { head, sendBytes } from '../support/raw-client.ts';
import { startToldService, type ToldAnswer, type ToldService, telling } from './addresses/service.ts';

const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();
let gateway: RunningGateway;
let service: ToldService;

beforeAll(async () => {
  service = stack.use(await startToldService());
  const environment = { SERVICE: service.url, OTHER: 'http://127.0.0.1:9' };
  gateway = stack.use(await runGateway({ policies: 'addresses', environment }));
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

interface Asked {
  readonly path: string;
  readonly headers?: Fields;
  readonly method?: string;
  readonly over?: string;
}

/** The target that the service received. */
const targetOf = ({ json }: Answer): unknown => json.target;

function ask({ path, headers, method = 'GET', over = 'HTTP/1.1' }: Asked, told: ToldAnswer): Promise<Answer> {
  const client = clients.get(over);
  if (client === undefined) throw new Error(over);
  return client.ask({ path, method, headers: { ...headers, ...telling(told) } });
}

const locationOf = async (asked: Asked, location: string): Promise<string | undefined> =>
  (await ask(asked, { status: 201, headers: { location } })).headers.location;

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (over) => {
  it.each([
    ['/v1/bookings', '/inner/bookings/9', '/v1/bookings/9'],
    ['/bookings/7?version=1', '../bookings/9', '/bookings/9?version=1'],
    ['/v1/bookings/7', '9', '9'],
    ['/bookings?version=v1&x=1', '/inner/bookings/9?y=2', '/bookings/9?y=2&version=v1'],
    ['/v2/bookings', '/bookings/9', '/v2/bookings/9'],
    ['/v2/bookings', 'http://bookings.internal:8080/bookings/9', 'https://127.0.0.1/v2/bookings/9'],
    ['/v2/bookings', 'https://login.example.net/x', 'https://login.example.net/x'],
    ['/open', '/inner/open/9', '/open/9'],
  ])('FWD-9: for %s, Location %s becomes %s', async (path, sent, got) => {
    expect(await locationOf({ path, over }, sent)).toBe(got);
  });

  it('FWD-9: an address of a target becomes an address of the gateway', async () => {
    expect(await locationOf({ path: '/v1/bookings', over }, `${service.url}/inner/bookings/9`)).toBe(
      'https://127.0.0.1/v1/bookings/9',
    );
    expect(await locationOf({ path: '/open', over }, `${service.url}/inner/open/9`)).toBe(
      'https://127.0.0.1/open/9',
    );
  });

  it('FWD-9: Content-Location, Refresh, Link and cookie paths are mapped; other addresses stay', async () => {
    const answer = await ask(
      { path: '/v1/bookings/7', over },
      {
        headers: {
          'content-location': '/inner/bookings/7',
          refresh: '5; url=/inner/bookings/7',
          link: '</inner/bookings?page=2>; rel="next", <https://docs.example.com/>; rel="help"',
          'set-cookie': ['a=1; Path=/inner/bookings; HttpOnly', 'b=2; Path=/'],
        },
      },
    );
    expect(answer.headers).toMatchObject({
      'content-location': '/v1/bookings/7',
      refresh: '5; url=/v1/bookings/7',
      link: expect.stringMatching(
        /^<\/v1\/bookings\?page=2>; rel="next", <https:\/\/docs\.example\.com\/>; rel="help"/,
      ),
    });
    const cookies = answer.lines.filter(([name]) => name === 'set-cookie').map(([, value]) => value);
    expect(cookies).toEqual(['a=1; Path=/v1/bookings; HttpOnly', 'b=2; Path=/']);
  });

  it('C304-2: the Content-Location of a 304 is mapped as in a 200', async () => {
    const headers = { 'content-location': '/inner/bookings/7', etag: '"1"' };
    const answer = await ask({ path: '/v1/bookings/7', over }, { status: 304, headers });
    expect([answer.status, answer.headers['content-location']]).toEqual([304, '/v1/bookings/7']);
  });
});

it('FWD-9: the host that names the version stays, whatever host the address has', async () => {
  const headers = { host: 'v1.hosts.example.com' };
  expect(await locationOf({ path: '/hosts', headers }, `${service.url}/9`)).toBe(
    'https://v1.hosts.example.com/hosts/9',
  );
  expect(await locationOf({ path: '/hosts', headers }, '/9')).toBe('/hosts/9');
  expect(await locationOf({ path: '/hosts', headers }, 'http://v1.hosts.example.com/9')).toBe(
    'https://v1.hosts.example.com/hosts/9',
  );
});

describe('FWD-9: an address within the path of another version leads to that version', () => {
  it.each([
    ['/rooms/v1/7', '/v2/9', '/rooms/v2/9'],
    ['/rooms/v1/7', '/v2', '/rooms/v2'],
    ['/rooms/v1/7', '/v2/v3/9?x=1#y', '/rooms/v3/9?x=1#y'],
    ['/rooms/v2/7', '/v2/v3/9', '/rooms/v3/9'],
    ['/rooms/v2/7', 'v3/9', '/rooms/v3/9'],
    ['/rooms/v2/7', '/v2/v30/9', '/rooms/v2/v30/9'],
    ['/rooms/v3/7', '/v2/v3/9', '/rooms/v3/9'],
    ['/rooms/v1/7', '/rooms/v1/9', '/rooms/v1/9'],
    ['/rooms/x?version=v1', '/v2/9', '/rooms/v2/9'],
    ['/rooms', '/v2/v3//9', '/rooms/v3//9'],
    ['/lists/7', '/lists/next/9', '/lists/9?version=v2'],
    ['/lists/7?version=1', '/lists/next/9?version=1&x=1', '/lists/9?x=1&version=v2'],
    ['/lists/7?version=1', '/lists/next', '/lists?version=v2'],
    ['/lists/7?version=1', '/lists/last/9', '/lists/last/9?version=1'],
    ['/halls/7', '/halls/v2/9', 'https://v2.halls.example.com/halls/9', 'v1.halls.example.com'],
    ['/halls/7', '/halls/9', '/halls/9', 'v1.halls.example.com'],
  ])('for %s, %s becomes %s', async (path, sent, got, host = '127.0.0.1') => {
    const from = { path, headers: { host } };
    expect(await locationOf(from, sent)).toBe(got);
    if (!sent.startsWith('/')) return;
    const whole = new URL(got, `https://${host}`);
    expect(await locationOf(from, service.url + sent)).toBe(whole.href);
    if (sent.includes('//')) return;
    const there = { path: whole.pathname + whole.search, headers: { host: whole.host } };
    const { pathname, search } = new URL(sent.replace(/version=1&?/, ''), service.url);
    const meant = sent.startsWith('/rooms/') ? pathname.slice('/rooms/v1'.length) : pathname;
    expect(targetOf(await ask(there, { headers: {} }))).toBe(meant + search);
  });

  it('an address is counted if no public address can name its version', async () => {
    const series = 'sundial_addresses_outside_total{api="desks",version="v1"}';
    const before = (await gateway.metric(series)) ?? 0;
    const asked = { path: '/desks/7', headers: { 'api-version': 'v1' } };
    expect(await locationOf(asked, '/v2/9')).toBe('/desks/9');
    expect(await locationOf(asked, '/v20/9')).toBe('/desks/v20/9');
    expect(await gateway.metric(series)).toBe(before + 1);
  });

  it('IDM-3: a replayed response is mapped in the same way', async () => {
    const location = `${service.url}/v2/v3/9`;
    const headers = { 'idempotency-key': 'inside' };
    const again = () =>
      ask({ path: '/rooms/v1/7', method: 'POST', headers }, { status: 201, headers: { location } });
    for (const answer of [await again(), await again()])
      expect(answer.headers.location).toBe('https://127.0.0.1/rooms/v3/9');
  });
});

describe('RET-3: an API on its own hosts', () => {
  const headers = { host: 'private.example.com' };

  it('sends redirects and links to its own host', async () => {
    const moved = await ask({ path: '/private/v0/7?x=1', headers }, { headers: {} });
    expect([moved.status, moved.headers.location]).toEqual([
      301,
      'https://private.example.com/private/v2/7?x=1',
    ]);
    const old = await ask({ path: '/private/v1/7', headers }, { headers: {} });
    const link = '<https://private.example.com/private/v2/7>; rel="successor-version"';
    expect(old.headers.link).toContain(link);
    const named = { 'api-version': 'v1', host: 'other.example.com' };
    expect((await ask({ path: '/private/x', headers: named }, { headers: {} })).headers.link).toContain(
      link.replace('/7>', '/x>'),
    );
  });

  it('FWD-9: puts addresses of its service on the requested host', async () => {
    const host = 'other.example.com';
    for (const [sent, got] of [
      [`${service.url}/inner/9`, '/private/v1/9'],
      [`${service.url}/9`, '/9'],
    ])
      expect(await locationOf({ path: '/private/v1/7', headers: { host } }, sent ?? '')).toBe(
        `https://${host}${got}`,
      );
  });
});

it('WS-3: a handshake response other than 101 is mapped like any other response', async () => {
  const told = telling({ status: 302, headers: { location: '/inner/bookings/9' } });
  const answer = await sendBytes(
    gateway.https,
    head(
      'GET /v1/bookings/live HTTP/1.1',
      'Host: 127.0.0.1',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      ...Object.entries(told).map(([name, value]) => `${name}: ${value}`),
    ),
  );
  expect([answer.status, answer.headers.location]).toEqual([302, '/v1/bookings/9']);
});

it('IDM-3: a replayed response has addresses that fit the path of each request', async () => {
  const location = `${service.url}/inner/bookings/9`;
  const place = (path: string, headers: Fields = {}) =>
    ask(
      { path, method: 'POST', headers: { 'idempotency-key': 'places', ...headers } },
      { status: 201, headers: { location, 'content-location': '/inner/bookings/9' } },
    );
  const first = await place('/v1/bookings');
  expect(first.headers).toMatchObject({
    location: 'https://127.0.0.1/v1/bookings/9',
    'content-location': '/v1/bookings/9',
  });
  const again = await place('/v1/bookings');
  expect(again.headers).toMatchObject({
    'idempotency-replayed': 'true',
    location: 'https://127.0.0.1/v1/bookings/9',
    'content-location': '/v1/bookings/9',
  });
  const elsewhere = await place('/bookings', { 'api-version': 'v1' });
  expect(elsewhere.headers).toMatchObject({
    'idempotency-replayed': 'true',
    location: 'https://127.0.0.1/bookings/9',
    'content-location': '/bookings/9',
  });
});

it('locations: keep leaves every field as the service writes it', async () => {
  const headers = {
    location: `${service.url}/inner/kept/9`,
    link: '</inner/kept/9>; rel="next"',
    refresh: '5; url=/inner/kept',
    'set-cookie': 'a=1; Path=/inner/kept; Domain=127.0.0.1',
  };
  const answer = await ask({ path: '/kept/7' }, { headers });
  expect(answer.headers).toMatchObject(headers);
  expect(answer.json.headers).not.toHaveProperty('x-forwarded-prefix');
});

it('locations: prefix sends the public prefix to the service, and leaves responses unchanged', async () => {
  const location = '/v1/prefixed/9';
  const forged = { 'x-forwarded-prefix': '/elsewhere' };
  const byPath = await ask({ path: '/v1/prefixed/7', headers: forged }, { headers: { location: '/9' } });
  expect([byPath.headers.location, targetOf(byPath)]).toEqual(['/9', '/7']);
  expect(byPath.json.headers).toMatchObject({ 'x-forwarded-prefix': '/v1/prefixed' });
  const headers = { ...forged, 'api-version': 'v1' };
  const byHeader = await ask({ path: '/prefixed', headers, over: 'HTTP/2' }, { headers: { location } });
  expect([byHeader.headers.location, targetOf(byHeader)]).toEqual([location, '/']);
  expect(byHeader.json.headers).toMatchObject({ 'x-forwarded-prefix': '/prefixed' });
});

it('XFF-1: where addresses are mapped, no X-Forwarded-Prefix reaches the service', async () => {
  const headers = { 'x-forwarded-prefix': '/elsewhere' };
  const { json } = await ask({ path: '/v1/bookings', headers }, { headers: {} });
  expect(json.headers).not.toHaveProperty('x-forwarded-prefix');
});

it('addresses outside the path of the service are counted', async () => {
  const series = 'sundial_addresses_outside_total{api="bookings",version="v2"}';
  const before = (await gateway.metric(series)) ?? 0;
  const link = '</schemas/a>; rel="describedby", </bookings/9>; rel="next"';
  await ask({ path: '/v2/bookings/7' }, { status: 302, headers: { location: '/login', link } });
  expect(await gateway.metric(series)).toBe(before + 2);
  await ask({ path: '/v2/bookings/7' }, { headers: { location: '/bookings/9' } });
  expect(await gateway.metric(series)).toBe(before + 2);
});

it('an address followed through the gateway leads to the resource that the service meant', async () => {
  const asked = fc.constantFrom(
    { path: '/v1/bookings/7', from: '/inner/bookings/7', servicePath: '/inner/bookings' },
    { path: '/bookings/7?version=v1', from: '/inner/bookings/7', servicePath: '/inner/bookings' },
    { path: '/v2/bookings/7/', from: '/bookings/7/', servicePath: '/bookings' },
    { path: '/open/7', from: '/inner/open/7', servicePath: '/inner/open' },
    { path: '/hosts/7', from: '/7', servicePath: '', headers: { host: 'v1.hosts.example.com' } },
    {
      path: '/bookings/7',
      from: '/inner/bookings/7',
      servicePath: '/inner/bookings',
      headers: { 'api-version': 'v1' },
    },
  );
  const drawn = asked.chain((request) => {
    const { servicePath, from } = request;
    const address = drawnAddress({ servicePath, from, own: [service.url] });
    return fc.record({ request: fc.constant(request), address });
  });
  let followed = 0;
  const property = fc.asyncProperty(
    drawn,
    fc.constantFrom('HTTP/1.1', 'HTTP/2'),
    async ({ request: { path, from, servicePath, headers = {} }, address }, over) => {
      const first = await ask(
        { path, headers, over },
        { status: 201, headers: { location: address.written } },
      );
      expect(targetOf(first)).toBe(from);
      const { location = '' } = first.headers;
      if (address.meant !== undefined) expect(location).not.toMatch(/:\d+\//);
      const isThere = address.meant?.startsWith(`${servicePath}/`) === true || address.meant === servicePath;
      if (!isThere) return;
      const { host } = { host: '127.0.0.1', ...headers };
      const url = new URL(location, `https://${host}${path}`);
      expect(url.origin).toBe(`https://${host}`);
      const second = await ask({ path: url.pathname + url.search, headers, over }, { headers: {} });
      expect(targetOf(second)).toBe(address.meant + address.search);
      followed += 1;
    },
  );
  await fuzz(property, 120);
  expect(followed).toBeGreaterThan(40);
});
