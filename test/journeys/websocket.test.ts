// WebSockets through a gateway: opening pages, invalid handshakes, upstreams that do not switch.
import { connect } from 'node:http2';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { expectNothingOfTheCause } from '../support/inside.ts';
import { head, sendBytes } from '../support/raw-client.ts';
import { HANDSHAKE } from '../support/websocket-client.ts';
import { createFixture } from './websocket/fixture.ts';
import { handshakes } from './websocket/handshakes.ts';
import { openOnes } from './websocket/open-ones.ts';

const fixture = createFixture();
const { client, gateway, open, upstream } = fixture;
beforeAll(fixture.start);
afterEach(fixture.tidy);
afterAll(fixture.close);

const warnings: Error[] = [];
const onWarning = (warning: Error): void => void warnings.push(warning);
beforeAll(() => void process.on('warning', onWarning));
afterAll(() => {
  process.off('warning', onWarning);
  expect(warnings.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
});

describe('WS-4: a page that opens a WebSocket', () => {
  it.each([
    ['is listed', '/api/pages', 'https://app.example.com', 101],
    ['is of the same host', '/api/pages', 'https://127.0.0.1', 101],
    ['is of the same host, on another port', '/api/pages', 'https://127.0.0.1:8443', 101],
    ['is not listed', '/api/pages', 'https://evil.example', 403],
    ['has an origin like a listed one', '/api/pages', 'https://app.example.com.evil.example', 403],
    ['has an origin that begins like the host', '/api/pages', 'https://127.0.0.1.evil.example', 403],
    ['has the host as user information', '/api/pages', 'https://127.0.0.1:x@evil.example', 403],
    ['has the host and an invalid port', '/api/pages', 'https://127.0.0.1:evil.example', 403],
    ['is listed for https only', '/api/pages', 'http://app.example.com', 403],
    ['has the origin null', '/api/pages', 'null', 403],
    ['is allowed if the API allows all', '/api/everyone', 'https://evil.example', 101],
    ['is allowed if the API has no rule', '/api/v1/live', 'https://evil.example', 101],
  ])('%s', async (_what, path, origin, status) => {
    const asked = upstream().seen.length;
    const made = await open(path, { lines: [`Origin: ${origin}`, 'Cookie: session=7'] });
    expect([made.status, upstream().seen.length - asked]).toEqual([status, status === 101 ? 1 : 0]);
    if (status === 101) return;
    expect(JSON.parse(made.body())).toEqual({
      error: 'Forbidden',
      message: 'Pages of this origin may not open a WebSocket to this API.',
    });
    const line = await gateway().accessLine(made.headers['x-request-id']);
    expect(line).toMatchObject({ api: 'pages', status: 403, refusal: 'origin_not_allowed' });
  });

  it('is checked; plain requests and clients without Origin are not', async () => {
    const headers = { origin: 'https://evil.example' };
    expect((await client().ask({ path: '/api/pages', headers })).status).not.toBe(403);
    expect((await open('/api/pages')).status).toBe(101);
  });
});

handshakes(fixture);

describe('an invalid WebSocket handshake', () => {
  const lines = ['GET /api/v1/live HTTP/1.1', 'Host: 127.0.0.1'];

  it('WS-2: websocket_version_unsupported: 426 with the supported version', async () => {
    const asked = [...lines, ...HANDSHAKE.map((line) => line.replace('Version: 13', 'Version: 8'))];
    const answer = await sendBytes(gateway().https, head(...asked));
    expect(answer).toMatchObject({
      status: 426,
      headers: { upgrade: 'websocket', 'sec-websocket-version': '13', connection: 'close, upgrade' },
      json: { error: 'Upgrade Required', message: 'The only WebSocket version supported is 13.' },
    });
    const line = await gateway().accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ status: 426, refusal: 'websocket_version_unsupported' });
  });

  it('WS-2: with a bad key gets 400', async () => {
    const asked = [...lines, ...HANDSHAKE.map((line) => line.replace(/Key: .*/, 'Key: short'))];
    const answer = await sendBytes(gateway().https, head(...asked));
    expect(answer).toMatchObject({
      status: 400,
      json: { error: 'Bad Request', message: 'Sec-WebSocket-Key must be sixteen bytes in base64.' },
    });
    const line = await gateway().accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'request_malformed' });
  });

  it('WS-1: h2c is served as a plain request, and its upgrade is not forwarded', async () => {
    const asked = [
      ...lines,
      'Connection: Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABk',
    ];
    const before = upstream().seen.length;
    const answer = await sendBytes(gateway().https, head(...asked));
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect([upstream().seen.length, upstream().requests.at(-1)]).toEqual([before, '/echo']);
  });

  it('WS-7: CONNECT over HTTP/2 is refused, and extended CONNECT is not offered', async () => {
    const session = connect(`https://127.0.0.1:${gateway().https}`, { rejectUnauthorized: false });
    using stack = new DisposableStack();
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
  it('has its response relayed with the signals', async () => {
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
    expect(await gateway().accessLine(failed.headers['x-request-id'])).toMatchObject({ status, fault });
    // Links have the public address of this gateway, which the check takes for part of a cause.
    const { link: _link, ...headers } = failed.headers;
    expectNothingOfTheCause({ lines: Object.entries(headers), text: failed.body() });
  });
});

openOnes(fixture);
