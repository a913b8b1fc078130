// Upgrades other than WebSocket, CONNECT, and invalid handshakes: none of them opens a tunnel.
import { connect } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { forEachTest, whenComplete } from './gateway-pair.ts';
import type { GatewayOptions } from './gateway-under-test.ts';
import { get, sendRaw, until } from './raw-sockets.ts';

const { defer, pair: pairOf } = forEachTest();
const pair = (options: GatewayOptions = {}) => pairOf(whenComplete, options, whenComplete);

const WEBSOCKET = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];
const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'];
const CANARY = get('/echo/canary');

describe('WS-1, H2-7: an upgrade to anything but a valid WebSocket is served as a plain request', () => {
  // Node drops octets that arrive with an ignored upgrade, so the next octets may begin anywhere.
  it.each([
    ['h2c', get('/echo', H2C)],
    ['h2c with a body', get('/echo', [...H2C, 'Content-Length: 5'], 'POST', 'hello')],
    ['a WebSocket that Connection does not name', get('/echo', WEBSOCKET.slice(1))],
    ['a WebSocket in HTTP/1.0', get('/echo', WEBSOCKET).replace('HTTP/1.1', 'HTTP/1.0')],
    ['h2c, chunked', get('/echo', [...H2C, 'Transfer-Encoding: chunked'], 'POST', '1\r\nx\r\n0\r\n\r\n')],
  ])('%s: the connection closes after the response, and later octets are ignored', async (_what, bytes) => {
    const { upstream, gateway } = await pair();
    const { statuses, closed, text } = await sendRaw(gateway.port, bytes + CANARY);
    expect(statuses).toEqual([200]);
    expect(closed).toBe(true);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
    expect(upstream.requests).toHaveLength(1);
    expect(upstream.requests[0]?.head).not.toMatch(/\r\n(?:upgrade|http2-settings):/i);
  });

  it('a refusal closes the connection too', async () => {
    const { upstream, gateway } = await pair({ decide: () => ({ reason: 'credentials_missing' }) });
    const { statuses, closed } = await sendRaw(gateway.port, get('/echo', WEBSOCKET) + CANARY);
    expect({ statuses, closed }).toEqual({ statuses: [401], closed: true });
    expect(upstream.requests).toHaveLength(0);
  });

  it('a large body reaches the upstream completely', async () => {
    const { upstream, gateway } = await pair();
    const body = 'x'.repeat(1_000_000);
    const bytes = get('/echo', [...H2C, `Content-Length: ${body.length}`], 'POST', body);
    expect(await sendRaw(gateway.port, bytes)).toMatchObject({ statuses: [200], closed: true });
    expect(upstream.requests[0]?.body === body).toBe(true);
  });

  // Node does not report a parse error in such a body. The deadline of the request ends it.
  it('an invalid chunk gets 408 at the deadline, and the body never counts as complete', async () => {
    const { upstream, gateway } = await pair({
      bounds: { requestMs: 300, headersMs: 300 },
    });
    const bytes = get('/echo', [...H2C, 'Transfer-Encoding: chunked'], 'POST', 'zz\r\n');
    expect(await sendRaw(gateway.port, bytes)).toMatchObject({ statuses: [408], closed: true });
    await until(() => upstream.requests.every(({ ended }) => ended));
    expect(upstream.requests.filter(({ complete }) => complete)).toHaveLength(0);
  });
});

describe('WS-2: an invalid handshake', () => {
  const changed = (from: string, to: string): string =>
    get(
      '/echo',
      WEBSOCKET.map((line) => line.replace(from, to)),
    );

  it.each([
    [426, 'another version', changed('Version: 13', 'Version: 8')],
    [426, 'no version', changed('Version: 13', 'Versions: 13')],
    [426, 'two versions', get('/echo', [...WEBSOCKET, 'Sec-WebSocket-Version: 13'])],
    [400, 'no key', changed('Key: ', 'Keys: ')],
    [400, 'a key of fifteen bytes', changed('dGhlIHNhbXBsZSBub25jZQ==', 'dGhlIHNhbXBsZSBub25j')],
    [400, 'invalid base64', changed('dGhlIHNhbXBsZSBub25jZQ==', 'dGhlIHNhbXBsZSBub25jZR==')],
    [400, 'two keys', get('/echo', [...WEBSOCKET, 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='])],
    [400, 'a POST', get('/echo', WEBSOCKET, 'POST')],
    [400, 'a POST with a body', get('/echo', [...WEBSOCKET, 'Content-Length: 5'], 'POST', 'hello')],
    [400, 'a GET with a body', get('/echo', [...WEBSOCKET, 'Content-Length: 5'], 'GET', 'hello')],
    [400, 'an empty body', get('/echo', [...WEBSOCKET, 'Content-Length: 0'])],
    [400, 'chunks', get('/echo', [...WEBSOCKET, 'Transfer-Encoding: chunked'], 'GET', '0\r\n\r\n')],
    [400, 'two authorities', get('/echo', [...WEBSOCKET, 'Host: other.example.com'])],
    [400, 'a bad path', get('/echo/../x', WEBSOCKET)],
  ])('gets a complete %i and closes the connection: %s', async (status, _what, bytes) => {
    const { upstream, gateway } = await pair();
    const { statuses, closed, text } = await sendRaw(gateway.port, bytes + CANARY);
    expect({ statuses, closed }).toEqual({ statuses: [status], closed: true });
    expect(text).toMatch(/\r\n\r\n\{"error":"\w+"\}$/);
    expect(upstream.requests).toHaveLength(0);
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status, aborted: false }]);
  });
});

describe('FWD-8, WS-7: CONNECT', () => {
  const tunnel = 'CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n';

  it('gets 501 over HTTP/1, is observed, and closes the connection', async () => {
    const { upstream, gateway } = await pair();
    const answer = await sendRaw(gateway.port, tunnel + CANARY);
    expect(answer).toMatchObject({ statuses: [501], closed: true });
    expect(gateway.outcomes).toMatchObject([{ method: '-', status: 501, aborted: false }]);
    expect(upstream.requests).toHaveLength(0);
  });

  it.each([
    { plane: 'general', statuses: [200] },
    { plane: 'fast', statuses: [200, 501] },
  ] as const)(
    'after a pending request, it waits for that response and then closes the connection: $plane',
    async ({ plane, statuses }) => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      const { upstream, gateway } = await pair({ plane, decide: () => promise });
      const answer = sendRaw(gateway.port, get() + tunnel + CANARY, statuses.length);
      await until(() => gateway.views.length === 1);
      resolve(undefined);
      expect(await answer).toMatchObject({ statuses, closed: true });
      expect(upstream.requests).toHaveLength(1);
    },
  );

  it('gets 501 over HTTP/2', async () => {
    const { gateway } = await pair({ tls: true });
    const session = connect(`https://127.0.0.1:${gateway.port}`, { rejectUnauthorized: false });
    defer(async () => session.destroy());
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'api.example.com:443' });
    const status = await new Promise((resolve) => {
      stream.on('response', (headers) => resolve(headers[':status']));
      stream.on('error', resolve);
    });
    expect(status).toBe(501);
    stream.resume();
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ method: 'CONNECT', status: 501 }]);
  });

  it('gets 400 from a plain listener in mode reject', async () => {
    const { gateway } = await pair({ mode: 'reject' });
    expect(await sendRaw(gateway.port, tunnel)).toMatchObject({ statuses: [400], closed: true });
  });
});
