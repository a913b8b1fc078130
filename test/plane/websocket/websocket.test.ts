// WebSocket handshakes: what the upstream receives, and the switch.
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { HANDSHAKE } from '../../support/websocket-client.ts';
import { frame, TEXT } from '../../support/websocket-frames.ts';
import { get, startUpstream, until } from '../raw-sockets.ts';
import { pairsToTheEnd } from './websocket-pair.ts';

const { pair, stack } = pairsToTheEnd();

describe.concurrent.each([{ tls: false }, { tls: true }])(
  'WS-3: over a listener with TLS $tls',
  (options) => {
    it('a connection becomes a WebSocket after the 101 of the upstream, with frames both ways', async () => {
      const { upstream, gateway, open } = await pair(options);
      const client = await open('/echo/live?a=%2F&b=1');
      expect(client.status).toBe(101);
      expect(client.headers).toMatchObject({
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
        'sec-websocket-protocol': 'chat',
        'x-own': 'a, b',
        via: '1.1 sundial',
      });
      client.send('hello');
      const [answer] = await client.received(1);
      expect(answer).toMatchObject({ opcode: TEXT, masked: false });
      expect(answer?.payload.toString()).toBe('hello');
      expect(upstream.seen[0]).toMatchObject({ target: '/echo/live?a=%2F&b=1', frames: [{ masked: true }] });
      expect(gateway.outcomes).toMatchObject([{ status: 101, aborted: false, protocol: 'HTTP/1.1' }]);
    });
  },
);

describe.concurrent('the handshake at the upstream', () => {
  it('VER-9, FWD-1, WS-3: has the fields of any request, and the upgrade fields of the gateway', async () => {
    const { upstream, gateway, open } = await pair({ withheld: ['x-version'] });
    const lines = [
      'Origin: https://app.example.com',
      'Sec-WebSocket-Protocol: chat, superchat',
      'Sec-WebSocket-Extensions: permessage-deflate',
      'Authorization: Bearer t',
      'X-Version: 3',
      'API-Version: v7',
      'X-Forwarded-For: 6.6.6.6',
      'X-Real-IP: 6.6.6.6',
      'Keep-Alive: 5',
      'TE: trailers',
    ];
    await open('/echo', { lines });
    expect(upstream.seen[0]?.headers).toEqual({
      host: upstream.url.slice('http://'.length),
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol': 'chat, superchat',
      'sec-websocket-extensions': 'permessage-deflate',
      origin: 'https://app.example.com',
      authorization: 'Bearer t',
      'api-version': 'v1',
      via: '1.1 sundial',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'api.example.com',
      'x-request-id': gateway.views[0]?.requestId,
    });
  });

  it.each(['/echo/a//b', '/echo/%7Euser/%e4', "/echo/a;b='c'?", '/echo?q=a+b&&c={}|^`'])(
    'ORD-2: has the target that was checked: %s',
    async (path) => {
      const { upstream, gateway, open } = await pair();
      await open(path);
      const view = gateway.views[0];
      expect(upstream.seen[0]?.target).toBe(`${view?.path}${view?.search}`);
    },
  );

  it('FWD-1: keeps a field that is named like a property of every object', async () => {
    const { upstream, open } = await pair();
    await open('/echo', { lines: ['Constructor: mine', 'ToString: mine'] });
    expect(upstream.seen[0]?.headers).toMatchObject({ constructor: 'mine', tostring: 'mine' });
  });

  it('is followed by the frame that the client sent together with it', async () => {
    const { open } = await pair();
    const client = await open('/echo', { behind: frame(TEXT, 'early', true) });
    const [answer] = await client.received(1);
    expect(answer?.payload.toString()).toBe('early');
  });

  it('WS-3: Sec-WebSocket-Accept reaches the client even if the upstream nominates it', async () => {
    const { open } = await pair();
    const client = await open('/echo/nominating');
    expect(client).toMatchObject({
      status: 101,
      headers: { connection: 'Upgrade', 'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=' },
    });
  });

  it('waits until the request before it has its response', async () => {
    const { upstream, gateway } = await pair();
    const socket = stack.adopt(connect(gateway.port, '127.0.0.1'), (each) => void each.destroy());
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.write(get('/echo/first') + get('/echo/second', HANDSHAKE));
    await until(() => text.includes('101 Switching'));
    expect(text).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*plain[\s\S]*HTTP\/1\.1 101 Switching Protocols/);
    socket.write(frame(TEXT, 'still', true));
    await until(() => text.endsWith('still'));
    expect(gateway.outcomes.map(({ status }) => status)).toEqual([200, 101]);
    expect([upstream.requests, upstream.seen.length]).toEqual([['/echo/first'], 1]);
  });
});

it('a refused handshake gets a complete response and does not reach the upstream', async () => {
  const { upstream, open } = await pair({ decide: () => ({ reason: 'credentials_missing' }) });
  const client = await open('/echo', { behind: get('/echo/canary') });
  await client.ended();
  expect([client.status, JSON.parse(client.body())]).toEqual([401, { error: 'credentials_missing' }]);
  expect(client.headers).toMatchObject({ connection: 'close' });
  expect([upstream.seen, upstream.requests]).toEqual([[], []]);
});

it('a plain listener in mode reject refuses a handshake', async () => {
  const { open } = await pair({ mode: 'reject' });
  const client = await open('/echo');
  expect([client.status, JSON.parse(client.body())]).toEqual([400, { error: 'plain_http' }]);
});

it('a 101 without an accept key that is followed by a response gives 502', async () => {
  const upstream = await startUpstream(
    () => 'HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
  );
  stack.defer(upstream.stop);
  const { open } = await pair({ upstream: upstream.origin });
  const client = await open('/echo');
  expect(client.status).toBe(502);
});
