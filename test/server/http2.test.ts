// The TLS listener: HTTP/2 by node:http2, HTTP/1 beside it, names by SNI.
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect as connectPlain, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { describe, expect, it, vi } from 'vitest';
import { drain } from '../../gateway/server/drain.ts';
import { converseInHttp2 } from '../wire/http2-client.ts';
import { type Fields, frame, OPENING, readFrames, request } from '../wire/http2-frames.ts';
import { type Answering, type AnsweringBody, forEachTest, type Pair } from './gateway-pair.ts';
import type { GatewayOptions, GatewayUnderTest } from './gateway-under-test.ts';
import { get, OK, until } from './raw-sockets.ts';

const { defer, pair } = forEachTest();

async function open(
  answer?: Answering,
  options: GatewayOptions = {},
  onBody?: AnsweringBody,
): Promise<Pair & { session: ClientHttp2Session }> {
  const { upstream, gateway } = await pair(answer, { tls: true, ...options }, onBody);
  const session = connect(`https://127.0.0.1:${gateway.port}`, { rejectUnauthorized: false });
  session.on('error', () => undefined);
  defer(async () => session.destroy());
  return { upstream, gateway, session };
}

interface Seen {
  readonly status: number | undefined;
  readonly headers: Record<string, unknown>;
  readonly body: string;
  /** RST_STREAM code, or undefined when the stream ended cleanly. */
  readonly reset: number | undefined;
}

function read(stream: ClientHttp2Stream): Promise<Seen> {
  return new Promise((resolve) => {
    let headers: Record<string, unknown> = {};
    let body = '';
    stream.setEncoding('utf8');
    stream.on('response', (received) => {
      headers = { ...received };
    });
    stream.on('data', (chunk: string) => {
      body += chunk;
    });
    // The code is read at close.
    stream.on('error', () => undefined);
    stream.on('close', () => {
      const status = headers[':status'];
      const reset = stream.rstCode === constants.NGHTTP2_NO_ERROR ? undefined : stream.rstCode;
      resolve({ status: typeof status === 'number' ? status : undefined, headers, body, reset });
    });
  });
}

const send = (session: ClientHttp2Session, headers: OutgoingHttpHeaders = {}): Promise<Seen> =>
  read(session.request({ ':path': '/echo', ':authority': 'api.example.com', ...headers }));

describe('HTTP/2', () => {
  it('H2-2, FWD-6: is forwarded as HTTP/1.1 with a clean head', async () => {
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

  it('H2-5: an answer carries no connection-specific field', async () => {
    const { session } = await open(
      () =>
        'HTTP/1.1 200 Fine\r\nConnection: keep-alive, X-B\r\nX-B: 1\r\nKeep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    );
    const seen = await send(session);
    expect(seen).toMatchObject({ status: 200, body: 'ok', reset: undefined });
    expect(Object.keys(seen.headers)).not.toEqual(expect.arrayContaining(['connection']));
    expect(seen.headers).not.toHaveProperty('x-b');
  });

  it('H2-1: a Host that differs from :authority is malformed, the same with the default port is not', async () => {
    const { session } = await open();
    expect((await send(session, { host: 'other.example' })).status).toBe(400);
    expect((await send(session, { host: 'API.example.com:443' })).status).toBe(200);
  });

  it.each([
    ['H2-3: :scheme http on TLS', { ':scheme': 'http' }, 400],
    ['FWD-15: an unknown method', { ':method': 'BREW' }, 501],
    ['VER-7: dot segments', { ':path': '/echo/%2e%2e/x' }, 400],
    ['TLS-4: an authority nobody publishes', { ':authority': 'evil.example' }, 421],
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
    ['a field of no concern', { 'x-any': 'y ' }],
  ])(
    'H2-3: %s with a blank at an end is malformed, and never a request without it',
    async (_what, headers) => {
      const { session, upstream } = await open();
      expect(await send(session, headers)).toMatchObject({ status: 400 });
      expect(upstream.requests).toHaveLength(0);
      expect(await send(session)).toMatchObject({ status: 200 });
    },
  );

  it('FWD-20: streams a body, framed afresh', async () => {
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

  it('FWD-17: an upstream that dies mid-body resets the stream', async () => {
    const { session, upstream } = await open(
      () => 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n',
    );
    const stream = session.request({ ':path': '/echo', ':authority': 'api.example.com' });
    stream.once('data', () => upstream.requests[0]?.socket.destroy());
    expect(await read(stream)).toMatchObject({ status: 200, reset: constants.NGHTTP2_INTERNAL_ERROR });
  });

  it('FWD-17: a client that goes away cancels the upstream, whose body never looks complete', async () => {
    const { session, upstream, gateway } = await open(() => undefined);
    const stream = session.request({ ':method': 'POST', ':path': '/echo', ':authority': 'api.example.com' });
    stream.on('error', () => undefined);
    stream.write('hello');
    await until(() => upstream.requests[0]?.body.includes('hello') === true);
    // Node's client would send a regular end of the body before its reset, were only the stream closed.
    session.destroy();
    await until(() => upstream.requests[0]?.ended === true);
    expect(upstream.requests[0]?.body).not.toContain('0\r\n\r\n');
    await until(() => gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 499, aborted: true }]);
  });

  it('FWD-17: a stream the client resets before any headers cancels the upstream', async () => {
    const { session, upstream, gateway } = await open(() => undefined);
    const stream = session.request({ ':path': '/echo', ':authority': 'api.example.com' });
    stream.on('error', () => undefined);
    await until(() => upstream.requests.length === 1);
    stream.close(constants.NGHTTP2_CANCEL);
    await until(() => upstream.requests[0]?.ended === true && gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 499, aborted: true }]);
  });

  it.each<[string, GatewayOptions, number]>([
    ['the upstream', {}, 200],
    ['a refusal', { decide: () => ({ reason: 'credentials_missing' }) }, 401],
  ])(
    'RFC 9113 §8.1: what %s says before the end of a body ends before its stream is reset',
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
      // The rest of the body is waited for by nobody.
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
  ])('SMG-24, H2-6: %s is 431, as over HTTP/1', async (_what, headers) => {
    const { session, upstream } = await open();
    expect(await send(session, headers)).toMatchObject({ status: 431 });
    expect(upstream.requests).toHaveLength(0);
    // The session goes on: the streams beside this one have done nothing wrong.
    expect(await send(session)).toMatchObject({ status: 200 });
  });

  it('SMG-24: as many fields as over HTTP/1 are served', async () => {
    const { session, upstream } = await open();
    expect(await send(session, fields(240, 1))).toMatchObject({ status: 200 });
    expect(upstream.requests[0]?.head.match(/\r\nx-\d+: a/g)).toHaveLength(240);
  });

  it('FWD-10: a refused expectation gets its refusal and no 100', async () => {
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

function overTls(
  port: number,
  options: ConnectionOptions,
  text: string,
): Promise<{ answer: string; error: string }> {
  return new Promise((resolve) => {
    let answer = '';
    let error = '';
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () =>
      socket.write(text),
    );
    socket.on('data', (chunk) => {
      answer += chunk.toString('latin1');
      if (/\r\n\r\n/.test(answer)) socket.end();
    });
    socket.on('error', (cause) => {
      error = cause.message;
    });
    socket.on('close', () => resolve({ answer, error }));
  });
}

describe('TLS', () => {
  it('HTTP/1.1 is answered on the same port', async () => {
    const { gateway } = await open();
    const { answer } = await overTls(gateway.port, { ALPNProtocols: ['http/1.1'] }, get());
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('SMG-6: also there a missing Host is a 400 of ours', async () => {
    const { gateway } = await open();
    const { answer } = await overTls(
      gateway.port,
      { ALPNProtocols: ['http/1.1'] },
      'GET /echo HTTP/1.1\r\n\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*x-request-id/s);
  });

  it('TLS-3: a name nobody configured is refused, a configured one and none are served', async () => {
    const { gateway } = await open();
    expect((await overTls(gateway.port, { servername: 'api.example.com' }, get())).answer).toContain(
      '200 OK',
    );
    expect((await overTls(gateway.port, {}, get())).answer).toContain('200 OK');
    expect((await overTls(gateway.port, { servername: 'evil.example' }, get())).answer).toBe('');
  });

  it('TLS-1: nothing older than 1.2, and no cipher without forward secrecy', async () => {
    const { gateway } = await open();
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
    expect((await overTls(gateway.port, old, get())).error).not.toBe('');
    const weak = { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA:AES256-GCM-SHA384' } as const;
    expect((await overTls(gateway.port, weak, get())).error).not.toBe('');
  });

  it('TLS-1: a TLS 1.2 client cannot renegotiate', async () => {
    const { gateway } = await open();
    const socket = connectTls({
      port: gateway.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      maxVersion: 'TLSv1.2',
    });
    defer(async () => void socket.destroy());
    const failed = new Promise<boolean>((resolve) => {
      socket.on('error', () => resolve(true));
      socket.on('close', () => resolve(true));
      socket.once('secureConnect', () => {
        socket.renegotiate({}, (error) => resolve(error !== null));
      });
    });
    expect(await failed).toBe(true);
  });

  it('a handshake that fails is no request: nobody is answered and nothing is observed', async () => {
    const { gateway, session } = await open();
    session.destroy();
    const plain = await new Promise((resolve) => {
      let text = '';
      const socket = connectPlain(gateway.port, '127.0.0.1', () => socket.write(get()));
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
      });
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
    expect(plain).toBe('');
    await overTls(gateway.port, { servername: 'evil.example' }, get());
    await overTls(gateway.port, { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA' }, get());
    await until(() => gateway.listener.connections() === 0);
    expect(gateway.outcomes).toEqual([]);
  });

  it('TLS-2: a protocol nobody offers ends the handshake', async () => {
    const { gateway } = await open();
    expect((await overTls(gateway.port, { ALPNProtocols: ['spdy/1'] }, get())).error).toMatch(
      /no application protocol/i,
    );
  });
});

it('promise 23: what runs when the listener stops is finished, however long the heads of HTTP/1 are waited for', async () => {
  const { gateway, upstream, session } = await open(() => undefined);
  const running = send(session);
  await until(() => upstream.requests.length === 1);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const stopped = gateway.listener.stop();
  vi.advanceTimersByTime(60_000);
  vi.useRealTimers();
  // One round trip on the connection: what would have ended it is here by now.
  await until(() => session.closed);
  upstream.requests[0]?.socket.write(OK);
  expect(await running).toMatchObject({ status: 200, reset: undefined });
  await stopped;
});

describe('promise 23: a drain waits for no client that keeps its own side open', () => {
  const HALF_OF_A_HEAD = '\x00\x00\x64\x01\x04\x00\x00\x00\x01\x82';
  const HELLO = Buffer.from([0x16, 0x03, 0x01]);

  /** A client that never ends its connection by itself; `before` has been sent over TCP already. */
  function hold(port: number, protocol: string, over?: { readonly socket: Socket; readonly sent: number }) {
    let unsent = over?.sent ?? 0;
    const carrier = over && {
      socket: new Duplex({
        read: () => undefined,
        write(chunk: Buffer, _encoding, done) {
          over.socket.write(chunk.subarray(unsent), done);
          unsent = 0;
        },
      }),
    };
    over?.socket.on('data', (chunk) => carrier?.socket.push(chunk));
    const options = { port, ALPNProtocols: [protocol], rejectUnauthorized: false, allowHalfOpen: true };
    const client = connectTls({ ...options, ...carrier } as ConnectionOptions);
    client.on('error', () => undefined).resume();
    defer(async () => void client.destroy());
    return client;
  }

  async function drained(
    gateway: GatewayUnderTest,
    isReady: () => boolean,
    meanwhile: () => void | Promise<void> = () => undefined,
  ): Promise<boolean> {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      while (!isReady()) await vi.advanceTimersByTimeAsync(0);
      const times = { waitMs: 0, timeoutMs: 2 ** 31 - 1 };
      const whole = drain({ listeners: [gateway.listener], onDraining: () => undefined, ...times });
      await meanwhile();
      const end = performance.now() + 20_000;
      while (gateway.listener.connections() > 0 && performance.now() < end)
        await vi.advanceTimersByTimeAsync(100);
      const isOver = gateway.listener.connections() === 0;
      gateway.listener.destroy();
      return (await whole) && isOver;
    } finally {
      vi.useRealTimers();
    }
  }

  it.each([
    ['says nothing', '', false],
    ['is idle', OPENING, false],
    ['has sent half of a header section', OPENING + HALF_OF_A_HEAD, false],
    ['has ended its session', OPENING + frame(7, 0, 0, '\x00'.repeat(8)), true],
  ])('one that %s', async (_what, bytes, hasEnded) => {
    const { gateway, session } = await open();
    session.destroy();
    const client = hold(gateway.port, 'h2');
    let received = 0;
    client.on('data', ({ length }: Buffer) => {
      received += length;
    });
    client.write(bytes, 'latin1');
    const isReady = (): boolean => received > 0 && (!hasEnded || client.readableEnded);
    expect(await drained(gateway, isReady)).toBe(true);
    expect(client.readableEnded).toBe(true);
  });

  it('one whose next header section never ends, behind a request that was answered late', async () => {
    const bounds = { idleMs: 2 ** 31 - 1 };
    const { gateway, session, upstream } = await open(() => undefined, { bounds });
    session.destroy();
    const client = hold(gateway.port, 'h2');
    let received = '';
    client.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
    });
    const END_STREAM_ALONE = 1;
    const asked: Fields = [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':authority', 'api.example.com'],
      [':path', '/echo'],
    ];
    client.write(request(asked) + frame(1, END_STREAM_ALONE, 3, '\x82'), 'latin1');
    const answerLate = async (): Promise<void> => {
      await vi.advanceTimersByTimeAsync(1_000);
      upstream.requests[0]?.socket.write(OK);
      while (readFrames(received).body !== 'ok') await vi.advanceTimersByTimeAsync(0);
    };
    expect(await drained(gateway, () => upstream.requests.length === 1, answerLate)).toBe(true);
  });

  it.each(['h2', 'http/1.1'])('one that begins to speak %s meanwhile', async (protocol) => {
    const { gateway, session } = await open();
    const socket = connectPlain({ port: gateway.port, allowHalfOpen: true });
    defer(async () => void socket.destroy());
    socket.write(HELLO);
    // What came later has been read by then, once its connection has been accepted.
    do await send(session, { ':path': '/nowhere' });
    while (gateway.listener.connections() < 2);
    session.destroy();
    let shaken = false;
    const begin = (): void => {
      const client = hold(gateway.port, protocol, { socket, sent: HELLO.length });
      client.once('secureConnect', () => {
        shaken = true;
        client.write(protocol === 'h2' ? OPENING : 'GET /echo HTTP/1.1\r\nHost: a');
      });
    };
    expect(await drained(gateway, () => gateway.listener.connections() === 1, begin)).toBe(true);
    expect(shaken).toBe(true);
  });
});
