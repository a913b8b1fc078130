// The bounds of gateway.yaml on real sockets: requests beyond them are refused and counted, others pass.
import { connect as connectHttp2, constants, type OutgoingHttpHeaders } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { forEachTest, whenComplete } from './gateway-pair.ts';
import type { GatewayOptions, GatewayUnderTest } from './gateway-under-test.ts';
import { get, sendRaw, until } from './raw-sockets.ts';

const { defer, pair: pairOf } = forEachTest();
const pair = (options: GatewayOptions = {}) => pairOf(whenComplete, options, whenComplete);

/** How often each bound refused. */
function refusals({ samples }: GatewayUnderTest): Record<string, number> {
  return Object.fromEntries(
    [...samples.refusals()].filter(([, count]) => count > 0).map(([[bound = ''], count]) => [bound, count]),
  );
}

const many = (fields: number): string[] => Array.from({ length: fields }, (_each, index) => `X-${index}: v`);
const large = (bytes: number): string[] => [`X-Large: ${'v'.repeat(bytes)}`];

describe('SMG-24: the head of a request over HTTP/1', () => {
  it.each([
    ['a 20 kB target', get(`/echo/${'a'.repeat(20_000)}`), 414, 'target_bytes'],
    ['a 200 kB target', get(`/echo/${'a'.repeat(200_000)}`), 414, 'target_bytes'],
    ['a 20 kB query', get(`/echo?${'a'.repeat(20_000)}`), 414, 'target_bytes'],
    [
      'a 20 kB target before too many fields',
      get(`/echo/${'a'.repeat(20_000)}`, many(300)),
      414,
      'target_bytes',
    ],
    ['a 17 kB field', get('/echo', large(17_000)), 431, 'header_bytes'],
    ['a 200 kB field', get('/echo', large(200_000)), 431, 'header_bytes'],
    ['300 fields', get('/echo', many(300)), 431, 'header_fields'],
    ['2,500 fields', get('/echo', many(2_500)), 431, 'header_fields'],
  ])('%s is refused, and the connection closes', async (_what, bytes, status, bound) => {
    const { gateway, upstream } = await pair();
    const sentAt = performance.now();
    expect(await sendRaw(gateway.port, bytes + get())).toMatchObject({ statuses: [status], closed: true });
    expect(performance.now() - sentAt).toBeLessThan(8_000);
    expect(upstream.requests).toHaveLength(0);
    expect(refusals(gateway)).toEqual({ [bound]: 1 });
  });

  it.each([
    ['an 8,000 octet target', get(`/echo/${'a'.repeat(7_990)}`)],
    ['16 kB of fields', get('/echo', large(16_000))],
    ['an 8,000 octet target with 16 kB of fields', get(`/echo/${'a'.repeat(7_990)}`, large(16_000))],
    ['250 fields', get('/echo', many(250))],
  ])('%s passes', async (_what, bytes) => {
    const { gateway } = await pair();
    expect(await sendRaw(gateway.port, bytes)).toMatchObject({ statuses: [200] });
    expect(refusals(gateway)).toEqual({});
  });

  it.each([
    [{ targetBytes: 100 }, get(`/echo/${'a'.repeat(120)}`), 414],
    [{ targetBytes: 30_000 }, get(`/echo/${'a'.repeat(25_000)}`), 200],
    [{ headerBytes: 200 }, get('/echo', large(200)), 431],
    [{ headerBytes: 40_000 }, get('/echo', large(35_000)), 200],
    [{ headerFields: 5 }, get('/echo', many(6)), 431],
    [{ headerFields: 400 }, get('/echo', many(390)), 200],
  ])('has the bounds of the gateway file: %j', async (bounds, bytes, status) => {
    const { gateway } = await pair({ bounds });
    expect((await sendRaw(gateway.port, bytes)).statuses).toEqual([status]);
  });

  it.each([
    ['GET /echo HTTP/1.1\nHost: api.example.com\n\n', 400],
    ['GET /echo HTTP/1.0\nHost: api.example.com\n\n', 400],
    ['GET /echo HTTP/1.1 \r\nHost: api.example.com\r\n\r\n', 400],
    ['GET /echo HTTP/1.2\r\nHost: api.example.com\r\n\r\n', 505],
    ['GET /echo HTTP/3.0\nHost: api.example.com\n\n', 505],
  ])('SMG-11, SMG-15: %j gets %i, and 505 only for an unsupported version', async (bytes, status) => {
    const { gateway } = await pair();
    expect(await sendRaw(gateway.port, bytes)).toMatchObject({ statuses: [status], closed: true });
  });
});

describe('H2-6: the head of a request over HTTP/2', () => {
  const ask = (gateway: GatewayUnderTest, headers: OutgoingHttpHeaders): Promise<string> =>
    new Promise((resolve) => {
      const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, {
        rejectUnauthorized: false,
        maxSendHeaderBlockLength: 1_000_000,
      });
      defer(async () => session.destroy());
      session.on('error', () => undefined);
      session.on('goaway', (code) => resolve(`goaway ${code}`));
      const stream = session.request({ ':path': '/echo', ':authority': 'api.example.com', ...headers });
      stream.on('response', ({ ':status': status }) => resolve(String(status)));
      stream.on('error', () => undefined);
      stream.resume();
    });
  const fields = (bytes: number): OutgoingHttpHeaders =>
    Object.fromEntries(
      Array.from({ length: bytes / 1_000 }, (_each, index) => [`x-${index}`, `${index}`.padEnd(1_000, 'v')]),
    );

  it.each([
    ['a 20 kB target', { ':path': `/echo/${'a'.repeat(20_000)}` }, '414', { target_bytes: 1 }],
    ['a 20 kB header', fields(20_000), '431', { header_bytes: 1 }],
    ['a 100 kB header', fields(100_000), '431', { header_bytes: 1 }],
    ['300 fields', { 'x-many': Array<string>(300).fill('v') }, '431', { header_fields: 1 }],
    [
      'an 8,000 octet target with 15 kB of fields',
      { ':path': `/echo/${'a'.repeat(7_990)}`, ...fields(14_000) },
      '200',
      {},
    ],
  ])('with %s gets the expected status and counters', async (_what, headers, answer, counted) => {
    const { gateway } = await pair({ tls: true });
    expect(await ask(gateway, headers)).toBe(answer);
    expect(refusals(gateway)).toEqual(counted);
  });

  it('closes its connection and is counted if it has too many CONTINUATION frames', async () => {
    const { gateway } = await pair({ tls: true });
    expect(await ask(gateway, fields(500_000))).toMatch(/^goaway/);
    await until(() => refusals(gateway).header_bytes === 1);
  });
});

describe('H2-6: the streams of an HTTP/2 connection', () => {
  it('have the configured maximum in the SETTINGS of the gateway', async () => {
    const { gateway } = await pair({ tls: true, bounds: { streams: 7 } });
    const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, { rejectUnauthorized: false });
    defer(async () => session.destroy());
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    expect(session.remoteSettings.maxConcurrentStreams).toBe(7);
  });

  it('may be reset up to the configured rate, and then the gateway sends ENHANCE_YOUR_CALM', async () => {
    const { gateway } = await pair({ tls: true, bounds: { resets: { units: 20, windowMs: 60_000 } } });
    const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, { rejectUnauthorized: false });
    session.on('error', () => undefined);
    defer(async () => session.destroy());
    const goaway = new Promise((resolve) => session.on('goaway', resolve));
    const request = () => session.request({ ':path': '/echo', ':authority': 'api.example.com' });
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    for (let resets = 0; resets < 20; resets += 1) {
      const stream = request();
      stream.on('error', () => undefined);
      const closed = new Promise((resolve) => stream.on('close', resolve));
      stream.close(constants.NGHTTP2_CANCEL);
      await closed;
    }
    await until(() => gateway.outcomes.length === 20);
    expect(refusals(gateway)).toEqual({});
    const last = request();
    last.on('error', () => undefined);
    last.close(constants.NGHTTP2_CANCEL);
    expect(await goaway).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(refusals(gateway)).toEqual({ resets: 1 });
  });

  it('count towards that rate if they are reset with NO_ERROR', async () => {
    const { gateway } = await pair({ tls: true, bounds: { resets: { units: 20, windowMs: 60_000 } } });
    const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, { rejectUnauthorized: false });
    session.on('error', () => undefined);
    defer(async () => session.destroy());
    const goaway = new Promise((resolve) =>
      session.on('goaway', resolve).on('close', () => resolve('nothing')),
    );
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    for (let resets = 0; resets < 40 && !session.destroyed; resets += 1) {
      const stream = session.request({ ':path': '/echo', ':authority': 'api.example.com' });
      stream.on('error', () => undefined);
      const closed = new Promise((resolve) => stream.on('close', resolve));
      stream.close(constants.NGHTTP2_NO_ERROR);
      await closed;
    }
    session.close();
    expect(await goaway).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(refusals(gateway)).toEqual({ resets: 1 });
  });

  it('are rarely processed if they are reset at once after an earlier reset', async () => {
    const { upstream, gateway } = await pair({ tls: true });
    const session = connectHttp2(`https://127.0.0.1:${gateway.port}`, { rejectUnauthorized: false });
    defer(async () => session.destroy());
    const request = () => session.request({ ':path': '/echo', ':authority': 'api.example.com' });
    const reset = (): void => {
      const stream = request();
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
    };
    await new Promise((resolve) => session.once('remoteSettings', resolve));
    reset();
    await until(() => gateway.outcomes.length === 1);
    const before = gateway.views.length;
    for (let count = 0; count < 20; count += 1) reset();
    await until(() => gateway.outcomes.length === 21);
    // Requests whose reset came in a later segment may be processed.
    expect(gateway.views.length - before).toBeLessThan(6);
    expect(gateway.outcomes.every(({ status }) => status === 499)).toBe(true);
    const stays = request();
    const status = await new Promise((resolve) =>
      stays.on('response', (headers) => resolve(headers[':status'])),
    );
    expect([status, upstream.requests.length < 8]).toEqual([200, true]);
  });
});

describe('client connections', () => {
  const open = async (port: number, tls: boolean): Promise<Socket> => {
    const to = { port, host: '127.0.0.1' };
    const socket = tls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
    socket.on('error', () => undefined);
    defer(async () => void socket.destroy());
    await new Promise((resolve) => {
      socket.once(tls ? 'secureConnect' : 'connect', resolve);
      socket.once('close', resolve);
    });
    return socket;
  };

  it.each([
    [false, 'connections', { connections: 3 }],
    [true, 'connections', { connections: 3 }],
    [false, 'connections_per_address', { connectionsPerAddress: 3 }],
    [true, 'connections_per_address', { connectionsPerAddress: 3 }],
  ])(
    'TLS %s, %s: one more connection is closed without a byte until another one closes',
    async (tls, bound, bounds) => {
      const { gateway } = await pair({ tls, bounds });
      const [first] = await Promise.all([
        open(gateway.port, tls),
        open(gateway.port, tls),
        open(gateway.port, tls),
      ]);
      await until(() => gateway.listener.connections() === 3);
      const refused = await open(gateway.port, false);
      await until(() => refused.closed);
      expect(refused.bytesRead).toBe(0);
      expect(refusals(gateway)).toEqual({ [bound]: 1 });
      first?.destroy();
      await until(() => gateway.listener.connections() === 2);
      const admitted = await open(gateway.port, tls);
      admitted.write(get());
      await until(() => admitted.bytesRead > 0);
      expect(refusals(gateway)).toEqual({ [bound]: 1 });
    },
  );

  it('of a trusted proxy do not count as connections of one client', async () => {
    const { gateway } = await pair({ bounds: { connectionsPerAddress: 1 }, trustedProxies: ['127.0.0.1'] });
    await open(gateway.port, false);
    await open(gateway.port, false);
    expect((await sendRaw(gateway.port, get())).statuses).toEqual([200]);
    expect(refusals(gateway)).toEqual({});
  });
});

describe('pipelined requests', () => {
  it('beyond the bound are not read on the general plane, and the last response has close', async () => {
    const { gateway, upstream } = await pair({ plane: 'general', bounds: { pipelined: 4 } });
    const answer = await sendRaw(gateway.port, get().repeat(10), 10);
    expect(answer).toMatchObject({ statuses: [200, 200, 200, 200], closed: true });
    expect(answer.text.match(/connection: close/gi)).toHaveLength(1);
    expect(answer.text.lastIndexOf('connection: close')).toBeGreaterThan(
      answer.text.lastIndexOf('HTTP/1.1 200'),
    );
    expect(upstream.requests).toHaveLength(4);
    expect(refusals(gateway)).toEqual({ pipelined: 1 });
  });

  it('are not limited in total on one connection', async () => {
    const { gateway } = await pair({ bounds: { pipelined: 4 } });
    const socket = connect(gateway.port, '127.0.0.1');
    defer(async () => void socket.destroy());
    let read = '';
    socket.on('data', (chunk: Buffer) => {
      read += chunk.toString('latin1');
    });
    for (let batch = 1; batch <= 3; batch += 1) {
      socket.write(get().repeat(4));
      await until(() => read.split('HTTP/1.1 200').length === 4 * batch + 1);
      await until(() => gateway.outcomes.length === 4 * batch);
    }
    expect(refusals(gateway)).toEqual({});
  });
});
