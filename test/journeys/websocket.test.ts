// WebSockets through a whole gateway: the same rules as for any request, on the handshake and for as long as it is open.
import { connect } from 'node:http2';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';
import { expectNothingOfTheCause } from '../support/inside.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { beginPause, endPause } from '../support/pauses.ts';
import { freePorts } from '../support/ports.ts';
import { head, sendBytes } from '../support/raw-client.ts';
import { HANDSHAKE, type Opening, openWebSocket, type WebSocketClient } from '../support/websocket-client.ts';
import { closeCode, frame, TEXT } from '../support/websocket-frames.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '../support/websocket-upstream.ts';

const at = (text: string): number => Temporal.Instant.from(text).epochMilliseconds;
const TODAY = at('2026-11-20T00:00:00Z');
const SUNSET = at('2027-01-15T00:00:00Z');

const stack = new AsyncDisposableStack();
const tokens = new Map<string, string>();
let environment: Record<string, string> = {};
let upstream: WebSocketUpstream;
let gateway: RunningGateway;
let client: Client;
let now = TODAY;
let clients: WebSocketClient[] = [];
let sign: TestIssuer['sign'];

beforeAll(async () => {
  upstream = stack.use(await startWebSocketUpstream());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  sign = issuer.sign;
  const [dead] = await freePorts(1);
  environment = { UPSTREAM: upstream.url, ISSUER: issuer.url, DEAD: `http://127.0.0.1:${dead}` };
  gateway = stack.use(await runGateway({ policies: 'websocket', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
  for (const id of ['acme', 'other'])
    tokens.set(id, `Authorization: Bearer ${await issuer.sign({ client_id: id, scope: 'orders:read' })}`);
});
afterEach(() => {
  for (const each of clients) each.socket.destroy();
  clients = [];
  now = TODAY;
});
afterAll(() => stack.disposeAsync());

async function open(path: string, opening: Opening = {}): Promise<WebSocketClient> {
  const made = await openWebSocket(gateway.https, path, opening);
  clients.push(made);
  return made;
}

async function echoes(each: WebSocketClient): Promise<void> {
  const before = each.frames.length;
  each.send('hello');
  const frames = await each.received(before + 1);
  expect(frames[before]).toMatchObject({ opcode: TEXT });
}

const openNow = (api: string, version: string) =>
  gateway.metric(`sundial_websocket_connections{api="${api}",version="${version}"}`);

describe('WS-4: a page that opens a WebSocket', () => {
  it.each([
    ['is listed', '/api/pages', 'https://app.example.com', 101],
    ['is of the same host', '/api/pages', 'https://127.0.0.1', 101],
    ['is of the same host, on another port', '/api/pages', 'https://127.0.0.1:8443', 101],
    ['is not listed', '/api/pages', 'https://evil.example', 403],
    ['only begins like one that is listed', '/api/pages', 'https://app.example.com.evil.example', 403],
    ['only begins like the host', '/api/pages', 'https://127.0.0.1.evil.example', 403],
    ['has the host where its user would stand', '/api/pages', 'https://127.0.0.1:x@evil.example', 403],
    ['has the host and no port', '/api/pages', 'https://127.0.0.1:evil.example', 403],
    ['is not listed in the clear', '/api/pages', 'http://app.example.com', 403],
    ['says null', '/api/pages', 'null', 403],
    ['is any page, where all may', '/api/everyone', 'https://evil.example', 101],
    ['is any page, where nothing is said of pages', '/api/v1/live', 'https://evil.example', 101],
  ])('%s', async (_what, path, origin, status) => {
    const asked = upstream.seen.length;
    const made = await open(path, { lines: [`Origin: ${origin}`, 'Cookie: session=7'] });
    expect([made.status, upstream.seen.length - asked]).toEqual([status, status === 101 ? 1 : 0]);
    if (status === 101) return;
    expect(JSON.parse(made.body())).toEqual({
      error: 'Forbidden',
      message: 'Pages of this origin may not open a WebSocket here.',
    });
    const line = await gateway.accessLine(made.headers['x-request-id']);
    expect(line).toMatchObject({ api: 'pages', status: 403, refusal: 'origin_not_allowed' });
  });

  it('is meant, and no plain request, nor a client that is no browser', async () => {
    const headers = { origin: 'https://evil.example' };
    expect((await client.ask({ path: '/api/pages', headers })).status).not.toBe(403);
    expect((await open('/api/pages')).status).toBe(101);
  });
});

describe('a handshake is a request like any other', () => {
  it('WS-5, DEP-2, DEP-7: the 101 of a deprecated version carries every signal, one line each', async () => {
    const live = await open('/api/v1/live/room?id=7');
    expect(live.status).toBe(101);
    expect(live.headers).toMatchObject({
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-protocol': 'chat',
      deprecation: '@1768435200',
      sunset: 'Fri, 15 Jan 2027 00:00:00 GMT',
      'x-api-deprecation-info': 'https://status.example.com/live-v1',
      'x-ratelimit-limit': '300',
      via: '1.1 sundial',
      'strict-transport-security': 'max-age=86400',
    });
    expect(live.headers.warning).toMatch(
      /^299 - "Version v1 is deprecated and will be removed on 2027-01-15/,
    );
    expect(live.headers.link).toContain('<https://docs.example.com/live/v1-to-v2>; rel="deprecation"');
    expect(live.headers.link).toContain('<https://127.0.0.1/api/v2/live/room>; rel="successor-version"');
    expect(live.headers.vary).toMatch(/API-Version/i);
    for (const name of ['deprecation', 'sunset', 'link', 'warning', 'x-request-id', 'via', 'vary'])
      expect([name, live.lines(name)]).toEqual([name, 1]);
    expect(live.lines('content-length')).toBe(0);
    await echoes(live);
    const line = await gateway.accessLine(live.headers['x-request-id']);
    expect(line).toMatchObject({
      status: 101,
      method: 'GET',
      version: 'v1',
      stage: 'deprecated',
      aborted: false,
    });
  });

  it('VER-9: the upstream sees the one path and the one version', async () => {
    await open('/api/live/room?x=1', { lines: ['API-Version: v2', 'Sec-WebSocket-Protocol: chat'] });
    const seen = upstream.seen.at(-1);
    expect(seen?.target).toBe('/echo/room?x=1');
    expect(seen?.headers).toMatchObject({
      'api-version': 'v2',
      'sec-websocket-protocol': 'chat',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': '127.0.0.1',
    });
  });

  it('is counted as one, and the open ones in a gauge', async () => {
    const series = 'sundial_requests_total{api="live",version="v2",stage="active",method="GET",code="101"}';
    const before = (await gateway.metric(series)) ?? 0;
    const both = [await open('/api/v2/live'), await open('/api/v2/live')];
    expect(await gateway.metric(series)).toBe(before + 2);
    await vi.waitFor(async () => expect(await openNow('live', 'v2')).toBe(2), { timeout: 20_000 });
    for (const { socket } of both) socket.end();
    await vi.waitFor(async () => expect(await openNow('live', 'v2')).toBe(0), { timeout: 20_000 });
  });

  const refusals: readonly [number, string, string, string, readonly string[]][] = [
    [410, 'version_retired', 'RET-1', '/api/v0/live', []],
    [301, 'version_moved', 'RET-1', '/api/v1/moved/room?a=b', []],
    [401, 'credentials_missing', 'ORD-3', '/api/v2/members', []],
    [404, 'version_unknown', 'STAT-1', '/api/v9/live', []],
    [400, 'version_ambiguous', 'VER-3', '/api/v1/live', ['API-Version: v2']],
    [404, 'route_unknown', 'WS-1', '/api/nothing', []],
    [421, 'host_unknown', 'SMG-7', '/api/v1/live', []],
    [400, 'credentials_in_url', 'AUTH-1', '/api/v2/members?access_token=x', []],
  ];

  it.each(refusals)(
    '%i %s, whole, with the end of the connection (%s)',
    async (status, reason, _rule, path, lines) => {
      const before = upstream.seen.length;
      const host = reason === 'host_unknown' ? 'other.example.com' : '127.0.0.1';
      const refused = await open(path, { host, lines, behind: frame(TEXT, 'canary', true) });
      await refused.ended();
      expect(refused.status).toBe(status);
      expect(refused.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'content-length': String(refused.body().length),
        connection: 'close',
        date: expect.stringMatching(/ GMT$/),
      });
      expect(JSON.parse(refused.body())).toHaveProperty('message');
      const line = await gateway.accessLine(refused.headers['x-request-id']);
      expect(line).toMatchObject({ status, refusal: reason, aborted: false });
      expect(upstream.seen.length).toBe(before);
    },
  );

  it('RET-9: the 301 leads to the same resource, the 410 of a tombstone carries its signals', async () => {
    const moved = await open('/api/v1/moved/room?a=b');
    expect(moved.headers.location).toBe('https://127.0.0.1/api/v2/moved/room?a=b');
    const gone = await open('/api/v0/live');
    expect(gone.headers).toMatchObject({
      deprecation: '@1704067200',
      sunset: 'Sat, 01 Feb 2025 00:00:00 GMT',
    });
  });

  it('brownout: 410 in its window, for new handshakes; what is open stays open', async () => {
    const live = await open('/api/v1/live');
    now = at('2026-12-01T14:05:00Z');
    const refused = await open('/api/v1/live');
    await refused.ended();
    expect(refused).toMatchObject({
      status: 410,
      headers: { 'retry-after': '600', 'cache-control': 'no-store' },
    });
    expect(await gateway.accessLine(refused.headers['x-request-id'])).toMatchObject({ refusal: 'brownout' });
    await echoes(live);
  });

  it('rate_limited: 429 beyond the limit of its consumer', async () => {
    const lines = [tokens.get('acme') ?? ''];
    const first = await open('/api/v2/members', { lines });
    expect(first).toMatchObject({ status: 101, headers: { 'x-ratelimit-remaining': '0' } });
    expect(upstream.seen.at(-1)?.headers).not.toHaveProperty('authorization');
    const second = await open('/api/v2/members', { lines });
    await second.ended();
    expect(second.status).toBe(429);
    expect(Number(second.headers['retry-after'])).toBeGreaterThan(3_000);
  });

  it('mode observe: a version past its sunset is served, signalled and counted', async () => {
    const watched = await open('/api/v1/watched');
    expect(watched).toMatchObject({ status: 101, headers: { sunset: 'Sun, 01 Feb 2026 00:00:00 GMT' } });
    const line = await gateway.accessLine(watched.headers['x-request-id']);
    expect(line).toMatchObject({ status: 101, would_refuse: 'version_retired' });
    await echoes(watched);
  });
});

describe('what is no WebSocket handshake', () => {
  const lines = ['GET /api/v1/live HTTP/1.1', 'Host: 127.0.0.1'];

  it('WS-2: websocket_version_unsupported is 426 and names the version that is', async () => {
    const asked = [...lines, ...HANDSHAKE.map((line) => line.replace('Version: 13', 'Version: 8'))];
    const answer = await sendBytes(gateway.https, head(...asked));
    expect(answer).toMatchObject({
      status: 426,
      headers: { upgrade: 'websocket', 'sec-websocket-version': '13', connection: 'close, upgrade' },
      json: { error: 'Upgrade Required', message: 'The only WebSocket version supported is 13.' },
    });
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ status: 426, refusal: 'websocket_version_unsupported' });
  });

  it('WS-2: a bad key is 400', async () => {
    const asked = [...lines, ...HANDSHAKE.map((line) => line.replace(/Key: .*/, 'Key: short'))];
    const answer = await sendBytes(gateway.https, head(...asked));
    expect(answer).toMatchObject({
      status: 400,
      json: { error: 'Bad Request', message: 'Sec-WebSocket-Key must be sixteen bytes in base64.' },
    });
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'request_malformed' });
  });

  it('WS-1: h2c is served as the plain request it also is, and its upgrade goes no further', async () => {
    const asked = [
      ...lines,
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABk',
    ];
    const before = upstream.seen.length;
    const answer = await sendBytes(gateway.https, head(...asked));
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect([upstream.seen.length, upstream.requests.at(-1)]).toEqual([before, '/echo']);
  });

  it('WS-7: CONNECT over HTTP/2 stays refused, and the extended form is not offered', async () => {
    const session = connect(`https://127.0.0.1:${gateway.https}`, { rejectUnauthorized: false });
    stack.defer(() => session.destroy());
    const settings = await new Promise<{ enableConnectProtocol?: boolean }>((resolve) =>
      session.once('remoteSettings', resolve),
    );
    expect(settings.enableConnectProtocol ?? false).toBe(false);
    const stream = session.request({ ':method': 'CONNECT', ':authority': '127.0.0.1' });
    const status = await new Promise((resolve) => {
      stream.once('response', (headers) => resolve(headers[':status']));
      stream.once('error', resolve);
    });
    expect(status).toBe(501);
  });
});

describe('WS-3: an upstream that does not switch', () => {
  it('gives an answer, which is relayed with its signals', async () => {
    const refused = await open('/api/v1/live/forbidden');
    await refused.ended();
    expect(refused).toMatchObject({
      status: 403,
      headers: { deprecation: '@1768435200', connection: 'close' },
    });
    expect(refused.body()).toBe('no');
  });

  it.each([
    [502, 'upstream_invalid', '/api/v1/live/unaccepted'],
    [502, 'upstream_reset', '/api/v1/live/reset'],
    [502, 'upstream_refused', '/api/dead'],
  ])('%i %s at %s, as for any request', async (status, fault, path) => {
    const failed = await open(path);
    await failed.ended();
    expect([failed.status, failed.headers.connection]).toEqual([status, 'close']);
    const body = JSON.parse(failed.body());
    expect(body).toMatchObject({ error: 'Bad Gateway', service: path === '/api/dead' ? 'dead' : 'live-v1' });
    expect(await gateway.accessLine(failed.headers['x-request-id'])).toMatchObject({ status, fault });
    // Its links lead to the public address of this gateway, which is one of those that a cause would name.
    const { link: _link, ...headers } = failed.headers;
    expectNothingOfTheCause({ lines: Object.entries(headers), text: failed.body() });
  });
});

describe('an open WebSocket', () => {
  it('promise 48: an upstream that dies, a client that dies: the other side is closed, and the gateway lives', async () => {
    const first = await open('/api/v2/live');
    upstream.seen.at(-1)?.socket.resetAndDestroy();
    await first.ended();
    const second = await open('/api/v2/live');
    const seen = upstream.seen.at(-1);
    second.socket.destroy();
    await vi.waitFor(() => expect(seen?.ended).toBe(true), { timeout: 20_000 });
    await echoes(await open('/api/v2/live'));
  });

  it('WS-6: is closed with 1001 once its version ends, and not a moment before', async () => {
    now = SUNSET - 1;
    const [ending, staying] = [await open('/api/v1/live'), await open('/api/v2/live')];
    await echoes(ending);
    const seen = upstream.seen.at(-2);
    now = SUNSET;
    expect((await ending.received(2)).slice(1).map(closeCode)).toEqual([1001]);
    await ending.ended();
    await vi.waitFor(() => expect(seen?.frames.map(closeCode).at(-1)).toBe(1001), { timeout: 20_000 });
    const late = await open('/api/v1/live');
    expect(late.status).toBe(410);
    await echoes(staying);
  });

  it('WS-6: a pause keeps it open past the date, and its end closes it', async () => {
    now = SUNSET - 1000;
    const live = await open('/api/v1/live');
    const id = await beginPause(gateway, { api: 'live', until: SUNSET + 86_400_000 });
    now = SUNSET + 1000;
    expect((await open('/api/v1/live')).status).toBe(101);
    await echoes(live);
    await endPause(gateway, id);
    expect((await live.received(2)).slice(1).map(closeCode)).toEqual([1001]);
  });

  it('WS-6: one whose token has come to its end is closed with 1008', async () => {
    // Over by its own word, and good for the last three seconds of what clocks may differ by.
    const exp = Math.floor(Date.now() / 1000) - 27;
    const token = await sign({ client_id: 'brief', scope: 'orders:read', iat: exp - 600, exp });
    const tied = await open('/api/v2/members', { lines: [`Authorization: Bearer ${token}`] });
    expect(tied.status).toBe(101);
    expect((await tied.received(1)).map(closeCode)).toEqual([1008]);
    await tied.ended();
  });

  it('WS-6: an exception keeps that of its consumer open until its own last day', async () => {
    const lines = (id: string) => [tokens.get(id) ?? ''];
    const acme = await open('/api/v1/members', { lines: lines('acme') });
    const other = await open('/api/v1/members', { lines: lines('other') });
    expect([acme.status, other.status]).toEqual([101, 101]);
    now = SUNSET;
    expect((await other.received(1)).map(closeCode)).toEqual([1001]);
    await echoes(acme);
    now = at('2027-06-30T00:00:00Z');
    expect((await acme.received(2)).slice(1).map(closeCode)).toEqual([1001]);
  });

  it('mode observe: ends nothing', async () => {
    const [watched, live] = [await open('/api/v1/watched'), await open('/api/v1/live')];
    now = SUNSET;
    await live.received(1);
    await echoes(watched);
  });

  it('WS-6: is closed with 1001 at a drain, which waits for no client that is slow to go', async () => {
    const draining = await runGateway({ policies: 'websocket', lifecycleNow: () => now, environment });
    const live = await openWebSocket(draining.https, '/api/v1/live/mute');
    expect(live.status).toBe(101);
    clients.push(live);
    const begun = performance.now();
    await draining[Symbol.asyncDispose]();
    expect(live.frames.map(closeCode)).toEqual([1001]);
    expect(performance.now() - begun).toBeLessThan(8_000);
  });

  it('lives on through a reload', async () => {
    const live = await open('/api/v1/live');
    await gateway.reload();
    await echoes(live);
    expect((await client.ask({ path: '/api/v1/live' })).status).toBe(200);
  });
});
