// The TLS listener: HTTP/2, forwarded over HTTP/1.1.
import { constants, type OutgoingHttpHeaders } from 'node:http2';
import { describe, expect, it } from 'vitest';
import { converseInHttp2 } from '../wire/http2-client.ts';
import { type Fields, request } from '../wire/http2-frames.ts';
import type { GatewayOptions } from './gateway-under-test.ts';
import { read, send, sessionForEachTest } from './http2-sessions.ts';
import { OK, until } from './raw-sockets.ts';

const { open } = sessionForEachTest();

describe('HTTP/2', () => {
  it('H2-2, FWD-6: is forwarded as HTTP/1.1 without pseudo-header fields', async () => {
    const { upstream, session, gateway } = await open();
    const seen = await send(session, {
      ':path': '/echo/a?x=1&x=2',
      cookie: ['a=1', 'b=2'],
      'x-a': ['1', '2'],
    });
    expect(seen).toMatchObject({ status: 200, body: 'ok', reset: undefined });
    const head = upstream.requests[0]?.head ?? '';
    expect(head).toMatch(/^GET \/echo\/a\?x=1&x=2 HTTP\/1\.1\r\n/);
    expect(head).not.toMatch(/\r\n:/);
    expect(head).toContain('\r\nvia: 2.0 sundial');
    expect(head).toContain('\r\nx-forwarded-proto: https');
    expect(head).toContain('\r\ncookie: a=1; b=2');
    expect(head).toContain('\r\nx-a: 1, 2');
    expect(gateway.outcomes).toMatchObject([{ status: 200, bytes: 2, aborted: false, protocol: 'HTTP/2.0' }]);
  });

  it('H2-5: a response has no connection-specific field', async () => {
    const { session } = await open(
      () =>
        'HTTP/1.1 200 Fine\r\nConnection: keep-alive, X-B\r\nX-B: 1\r\nKeep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    );
    const seen = await send(session);
    expect(seen).toMatchObject({ status: 200, body: 'ok', reset: undefined });
    expect(Object.keys(seen.headers)).not.toEqual(expect.arrayContaining(['connection']));
    expect(seen.headers).not.toHaveProperty('x-b');
  });

  it('H2-1: a Host that differs from :authority is malformed, but the default port is allowed', async () => {
    const { session } = await open();
    expect((await send(session, { host: 'other.example' })).status).toBe(400);
    expect((await send(session, { host: 'API.example.com:443' })).status).toBe(200);
  });

  it.each([
    ['H2-3: :scheme http on TLS', { ':scheme': 'http' }, 400],
    ['FWD-15: an unknown method', { ':method': 'BREW' }, 501],
    ['VER-7: dot segments', { ':path': '/echo/%2e%2e/x' }, 400],
    ['TLS-4: an unknown authority', { ':authority': 'evil.example' }, 421],
  ])('%s', async (_name, headers, status) => {
    const { session, upstream } = await open();
    expect((await send(session, headers)).status).toBe(status);
    expect(upstream.requests).toHaveLength(0);
    expect((await send(session)).status).toBe(200);
  });

  it('H2-3: a :path without a slash is malformed', async () => {
    const { session, upstream } = await open();
    const seen = await send(session, { ':path': 'echo' });
    expect(seen.status === 400 || seen.reset === constants.NGHTTP2_PROTOCOL_ERROR).toBe(true);
    expect(upstream.requests).toHaveLength(0);
  });

  it.each([
    ['a version', { 'api-version': ' v9' }],
    ['a condition', { 'if-match': '"x"\t' }],
    ['another field', { 'x-any': 'y ' }],
  ])(
    'H2-3: %s with a space at its start or end is malformed, and is not forwarded without it',
    async (_what, headers) => {
      const { session, upstream } = await open();
      expect(await send(session, headers)).toMatchObject({ status: 400 });
      expect(upstream.requests).toHaveLength(0);
      expect(await send(session)).toMatchObject({ status: 200 });
    },
  );

  it('FWD-20: forwards a body with its own framing', async () => {
    const { session, upstream } = await open(
      () => undefined,
      {},
      ({ complete }) => (complete ? OK : undefined),
    );
    const stream = session.request({ ':method': 'POST', ':path': '/echo', ':authority': 'api.example.com' });
    const seen = read(stream);
    stream.write('hel');
    stream.end('lo');
    expect(await seen).toMatchObject({ status: 200, reset: undefined });
    expect(upstream.requests[0]?.body.replace(/\r\n|\b\d\r\n/g, '')).toContain('hel');
  });

  it.each([
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['a length', 'Content-Length: 8\r\n\r\nhalf'],
    ['octets that wait for the client', `Content-Length: 2000000\r\n\r\n${'x'.repeat(1_000_000)}`],
  ])('FWD-17: an upstream that fails within a body with %s resets the stream', async (_what, answer) => {
    const { session, upstream } = await open(() => `HTTP/1.1 200 OK\r\n${answer}`);
    const stream = session.request({ ':path': '/echo', ':authority': 'api.example.com' });
    stream.once('data', () => upstream.requests[0]?.socket.destroy());
    expect(await read(stream)).toMatchObject({ status: 200, reset: constants.NGHTTP2_INTERNAL_ERROR });
  });

  it('FWD-17: a client that disconnects cancels the upstream request, which stays incomplete', async () => {
    const { session, upstream, gateway } = await open(() => undefined);
    const stream = session.request({ ':method': 'POST', ':path': '/echo', ':authority': 'api.example.com' });
    stream.on('error', () => undefined);
    stream.write('hello');
    await until(() => upstream.requests[0]?.body.includes('hello') === true);
    // If only the stream closed, Node's client would end the body before its reset.
    session.destroy();
    await until(() => upstream.requests[0]?.ended === true);
    expect(upstream.requests[0]?.body).not.toContain('0\r\n\r\n');
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 499, aborted: true }]);
  });

  it('FWD-17: a stream that the client resets before a response cancels the upstream request', async () => {
    const { session, upstream, gateway } = await open(() => undefined);
    const stream = session.request({ ':path': '/echo', ':authority': 'api.example.com' });
    stream.on('error', () => undefined);
    await until(() => upstream.requests.length === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await until(() => upstream.requests[0]?.ended === true && gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 499, aborted: true }]);
  });

  it.each<[string, GatewayOptions, number]>([
    ['a response', {}, 200],
    ['a refusal', { decide: () => ({ reason: 'credentials_missing' }) }, 401],
  ])(
    'RFC 9113 §8.1: %s before the end of the request body is complete before its stream is reset',
    async (_who, options, status) => {
      const { gateway } = await open(undefined, options);
      const fields: Fields = [
        [':method', 'POST'],
        [':scheme', 'https'],
        [':authority', 'api.example.com'],
        [':path', '/echo'],
      ];
      const { answers } = await converseInHttp2(
        { host: '127.0.0.1', port: gateway.port, tls: true, serverName: 'api.example.com' },
        { pieces: [request(fields, 'x'.repeat(16_000), false)], patienceMs: 20_000 },
      );
      expect(answers).toMatchObject([{ status, complete: true }]);
      // The rest of the body is not awaited.
      await until(() => gateway.outcomes.length === 1);
      expect(gateway.outcomes).toMatchObject([{ status, aborted: false }]);
    },
  );

  const fields = (count: number, length: number): OutgoingHttpHeaders =>
    Object.fromEntries(Array.from({ length: count }, (_each, index) => [`x-${index}`, 'a'.repeat(length)]));

  it.each([
    ['a header section above 16 KiB, spread over fields', fields(20, 1_000)],
    ['a header section above 16 KiB in two fields', fields(2, 9_000)],
    ['more fields than the cap', fields(260, 1)],
  ])('SMG-24, H2-6: %s gets 431, as over HTTP/1', async (_what, headers) => {
    const { session, upstream } = await open();
    expect(await send(session, headers)).toMatchObject({ status: 431 });
    expect(upstream.requests).toHaveLength(0);
    // The other streams of the session continue.
    expect(await send(session)).toMatchObject({ status: 200 });
  });

  it('SMG-24: 240 fields are served, as over HTTP/1', async () => {
    const { session, upstream } = await open();
    expect(await send(session, fields(240, 1))).toMatchObject({ status: 200 });
    expect(upstream.requests[0]?.head.match(/\r\nx-\d+: a/g)).toHaveLength(240);
  });

  it('FWD-10: a refused request with Expect: 100-continue gets no 100', async () => {
    const { session, upstream } = await open(undefined, {
      decide: () => ({ reason: 'credentials_missing' }),
    });
    const stream = session.request(
      { ':method': 'POST', ':path': '/echo', ':authority': 'api.example.com', expect: '100-continue' },
      { endStream: false },
    );
    let continued = false;
    stream.on('continue', () => {
      continued = true;
    });
    expect(await read(stream)).toMatchObject({ status: 401 });
    expect(continued).toBe(false);
    expect(upstream.requests).toHaveLength(0);
  });
});
