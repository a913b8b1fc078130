// Requests that only Node's parser reads use an in-memory connection. Their client stays on the fast plane.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { type Duplex, PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { PLANES } from '../../../gateway/plan/bounds.ts';
import { createClientConnection } from '../../../gateway/plane/client-connection.ts';
import { isOneMessage, MessageDuplex } from '../../../gateway/plane/fast/message-duplex.ts';
import { forEachTest } from '../gateway-pair.ts';
import { carried, type GatewayOptions, type GatewayUnderTest } from '../gateway-under-test.ts';
import { get, OK, odd, openRaw, type RawClient, type RawRequest, until } from '../raw-sockets.ts';

const { defer, pair: pairOf } = forEachTest();
type Answering = Parameters<typeof pairOf>[0];
const pair = (answer?: Answering, options: GatewayOptions = {}) =>
  pairOf(answer, { plane: 'fast', ...options });
const LAST = ['Connection: close'];
const silent: Answering = () => undefined;

async function open(port: number, tls = false): Promise<RawClient> {
  const client = await openRaw(port, tls);
  defer(async () => void client.socket.destroy());
  return client;
}

/** Sends `request` and waits until the received text ends with `end`. */
async function ask(client: RawClient, request: string, end = 'ok'): Promise<void> {
  client.text = '';
  client.socket.write(request, 'latin1');
  await until(() => client.text.endsWith(end));
}

const pathOf = ({ head }: RawRequest): string => head.split(' ')[1] ?? '';
const connectionsOf = ({ samples }: GatewayUnderTest) =>
  Object.fromEntries([...samples.connectionsByPlane()].map(([[plane], count]) => [plane, count]));
const statusesOf = ({ text }: RawClient): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

describe.each([false, true])('a request that only Node’s parser reads, TLS %s', (tls) => {
  it('keeps its connection on the fast plane, even if a hundred of them arrive', async () => {
    const { gateway, upstream } = await pair(undefined, { tls });
    const client = await open(gateway.port, tls);
    for (let left = 100; left > 0; left -= 1) {
      await ask(client, odd('/echo/odd'));
      await ask(client, get('/echo/usual'));
    }
    expect(carried(gateway)).toEqual({ fast: 100, general: 100 });
    expect([...gateway.samples.byPlane()]).toContainEqual([['general', 'unusual'], 100]);
    expect(connectionsOf(gateway)).toEqual({ fast: 1, general: 0 });
    expect(gateway.outcomes).toHaveLength(200);
    expect(gateway.outcomes.every(({ status, aborted }) => status === 200 && !aborted)).toBe(true);
    expect(upstream.requests.map(pathOf)).toEqual(
      Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? '/echo/odd' : '/echo/usual')),
    );
    client.socket.end();
    await until(() => gateway.listener.connections() === 0);
    await expect.poll(() => connectionsOf(gateway)).toEqual({ fast: 0, general: 0 });
  });

  it('gets its response before later requests, which may be complete or in pieces', async () => {
    const { gateway, upstream } = await pair(silent, { tls });
    const client = await open(gateway.port, tls);
    client.socket.write(odd('/echo/1'), 'latin1');
    await until(() => upstream.requests.length === 1);
    client.socket.write(`${get('/echo/2')}GET /ec`, 'latin1');
    // The gateway has read these octets once it answers another connection.
    await ask(await open(gateway.port, tls), get('/nowhere', LAST), '}');
    for (const count of [1, 2, 3]) {
      await until(() => upstream.requests.length === count);
      if (count === 2) client.socket.write(odd('ho/3', LAST).slice('GET '.length), 'latin1');
      upstream.requests.at(-1)?.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${count}`);
    }
    await until(() => client.ended);
    expect(client.text).toMatch(/\r\n\r\n1HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n2HTTP[\s\S]*\r\n\r\n3$/);
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1', '/echo/2', '/echo/3']);
    expect(carried(gateway)).toEqual({ fast: 2, general: 2 });
  });

  it('is the last one served if invalid octets follow it', async () => {
    const { gateway, upstream } = await pair(silent, { tls });
    const client = await open(gateway.port, tls);
    client.socket.write(odd('/echo/1'), 'latin1');
    await until(() => upstream.requests.length === 1);
    client.socket.write(`{"a":1}${get('/echo/canary')}`, 'latin1');
    await ask(await open(gateway.port, tls), get('/nowhere', LAST), '}');
    upstream.requests[0]?.socket.write(OK);
    await until(() => client.ended);
    expect(statusesOf(client)).toEqual([200]);
    expect(client.text).toMatch(/\r\nconnection: close\r\n/i);
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1']);
  });

  it('is aborted if its client does not read a large response', async () => {
    const body = 'x'.repeat(60_000_000);
    const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const timeouts = { connect: 1_000, headers: 20_000, idle: 20_000, total: 20_000 };
    const { gateway, upstream } = await pair(() => answer, {
      ...{ tls, plan: { timeouts }, bounds: { unreadMs: 400 } },
    });
    const client = await open(gateway.port, tls);
    client.socket.pause();
    client.socket.write(odd(), 'latin1');
    await until(() => upstream.requests.length === 1);
    await until(() => gateway.listener.connections() === 0);
    expect([...gateway.samples.refusals()]).toContainEqual([['unread'], 1]);
    expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
    await until(() => upstream.sockets.size === 0);
  });

  it('gets a large response completely if its client reads slowly', async () => {
    const body = 'abcdefghij'.repeat(2_000_000);
    const { gateway } = await pair(
      ({ head }) =>
        head.includes('/echo/large')
          ? `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`
          : OK,
      { tls },
    );
    const client = await open(gateway.port, tls);
    client.socket.on('data', () => {
      client.socket.pause();
      setImmediate(() => client.socket.resume());
    });
    client.socket.write(odd('/echo/large'), 'latin1');
    await until(() => client.text.length > body.length && gateway.outcomes.length === 1);
    expect(client.text.endsWith(`\r\n\r\n${body}`)).toBe(true);
    await ask(client, get());
    expect(carried(gateway)).toEqual({ fast: 1, general: 1 });
  });

  it('may wait for its upstream longer than the idle timeout of its connection', async () => {
    const { gateway, upstream } = await pair(silent, { tls, bounds: { headersMs: 400, idleMs: 400 } });
    const client = await open(gateway.port, tls);
    client.socket.write(odd(), 'latin1');
    await until(() => upstream.requests.length === 1);
    // The sweep that ends this connection would also end the first one.
    const late = await open(gateway.port, tls);
    late.socket.write('GET /echo', 'latin1');
    await until(() => late.ended);
    expect(late.text).toContain(' 408 ');
    upstream.requests[0]?.socket.write(OK);
    await until(() => client.text.endsWith('ok'));
    // From then on the connection is idle.
    await until(() => client.ended);
    expect(gateway.outcomes).toMatchObject([{ status: 408 }, { status: 200, aborted: false }]);
  });

  it('gets Connection: close during a drain, and its connection closes', async () => {
    const { gateway, upstream } = await pair(silent, { tls });
    const client = await open(gateway.port, tls);
    client.socket.write(odd(), 'latin1');
    await until(() => upstream.requests.length === 1);
    const half = await open(gateway.port, tls);
    half.socket.write('GET /echo', 'latin1');
    await ask(await open(gateway.port, tls), get('/nowhere', LAST), '}');
    const stopped = gateway.listener.stop();
    // The grace period for begun heads has passed, so idle connections are closed too.
    await until(() => half.ended);
    half.socket.destroy();
    upstream.requests[0]?.socket.write(OK);
    await until(() => client.ended);
    client.socket.destroy();
    await stopped;
    expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*connection: close\r\n/i);
    expect(client.text).toMatch(/ok$/);
    await expect.poll(() => connectionsOf(gateway)).toEqual({ fast: 0, general: 0 });
  });

  it('closes its connection after its response if the response began before a drain', async () => {
    const { gateway, upstream } = await pair(silent, { tls });
    const client = await open(gateway.port, tls);
    client.socket.write(odd(), 'latin1');
    await until(() => upstream.requests.length === 1);
    const socket = upstream.requests[0]?.socket;
    socket?.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no');
    await until(() => client.text.endsWith('o'));
    const stopped = gateway.listener.stop();
    socket?.write('k');
    await until(() => client.ended);
    client.socket.destroy();
    await stopped;
    expect(client.text).toMatch(/\r\n\r\nok$/);
  });

  it('has its own client address and the scheme of its connection', async () => {
    const trustedProxies = ['127.0.0.1'];
    const { gateway } = await pair(undefined, { tls, trustedProxies });
    const client = await open(gateway.port, tls);
    await ask(client, odd('/echo', ['X-Forwarded-For: 192.0.2.7']));
    await ask(client, get('/echo', ['X-Forwarded-For: 192.0.2.8']));
    await ask(client, odd());
    expect(gateway.outcomes.map(({ clientAddress }) => clientAddress)).toEqual([
      '192.0.2.7',
      '192.0.2.8',
      '127.0.0.1',
    ]);
    expect(gateway.outcomes.map(({ scheme }) => scheme)).toEqual(Array(3).fill(tls ? 'https' : 'http'));
  });
});

it('TLS-4: the host of a request that only Node’s parser reads is matched to the certificate', async () => {
  const { gateway } = await pair(undefined, { tls: true });
  const client = await open(gateway.port, true);
  for (const host of ['api.example.com', 'other.example.com']) {
    client.socket.write(`GET http://${host}/echo HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await until(() => gateway.views.at(-1)?.host === host);
  }
  expect(gateway.views.map(({ misdirected }) => misdirected)).toEqual([false, true]);
});

interface Ending {
  readonly name: string;
  readonly request: string;
  readonly answer: string;
  /** What the client receives after the head. */
  readonly body: RegExp;
  readonly bytes: number;
}

const ENDINGS: readonly Ending[] = [
  {
    name: 'a response to HEAD',
    request: odd('/echo', [], 'HEAD'),
    answer: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
    body: /^$/,
    bytes: 0,
  },
  { name: 'a 204', request: odd(), answer: 'HTTP/1.1 204 No Content\r\n\r\n', body: /^$/, bytes: 0 },
  { name: 'a 304', request: odd(), answer: 'HTTP/1.1 304 Not Modified\r\n\r\n', body: /^$/, bytes: 0 },
  {
    name: 'a chunked response',
    request: odd(),
    answer: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n',
    body: /^(?:3\r\nhel\r\n2\r\nlo|5\r\nhello)\r\n0\r\n\r\n$/,
    bytes: 5,
  },
  {
    name: 'a response that ends with its connection',
    request: odd(),
    answer: 'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello',
    body: /^5\r\nhello\r\n0\r\n\r\n$/,
    bytes: 5,
  },
  {
    name: 'an empty response',
    request: odd(),
    answer: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
    body: /^$/,
    bytes: 0,
  },
  {
    name: 'an absolute target',
    request: get('http://api.example.com/echo'),
    answer: OK,
    body: /^ok$/,
    bytes: 2,
  },
  {
    name: 'HTTP/1.0 with keep-alive',
    request: 'GET /echo HTTP/1.0\r\nHost: api.example.com\r\nConnection: keep-alive\r\n\r\n',
    answer: OK,
    body: /^ok$/,
    bytes: 2,
  },
];

it.each(ENDINGS)(
  '$name: after a request that only Node’s parser reads, the fast plane serves the next one',
  async ({ request, answer, body, bytes }) => {
    const { gateway } = await pair(({ head, socket }) => {
      if (head.includes(' /echo/2 ')) return OK;
      socket.write(answer);
      if (answer.includes('close')) socket.end();
      return undefined;
    });
    const client = await open(gateway.port);
    client.socket.write(request, 'latin1');
    await until(() => gateway.outcomes.length === 1);
    await until(
      () => client.text.includes('\r\n\r\n') && body.test(client.text.replace(/^[\s\S]*?\r\n\r\n/, '')),
    );
    await ask(client, get('/echo/2'));
    expect(statusesOf(client)).toEqual([200]);
    expect(carried(gateway)).toEqual({ fast: 1, general: 1 });
    expect(gateway.outcomes[0]).toMatchObject({ bytes, aborted: false });
  },
);

/** Without the fields that differ in each response. */
const steady = (text: string): string => text.replaceAll(/^(?:date|x-request-id):.*\r\n/gim, '');

const refused = (start: string, ...lines: readonly string[]): string =>
  [start, 'Host: api.example.com', ...lines, '', ''].join('\r\n');
const REFUSED: readonly (readonly [status: number, name: string, request: string])[] = [
  [400, 'two hosts', refused('GET /echo HTTP/1.1', 'Host: api.example.com')],
  [400, 'a space before a colon', refused('GET /echo HTTP/1.1', 'X-A : 1')],
  [400, 'no host', 'GET /echo HTTP/1.1\r\n\r\n'],
  [400, 'a folded line', refused('GET /echo HTTP/1.1', 'X-A: 1', ' 2')],
  [400, 'a fragment', refused('GET /echo#a HTTP/1.1')],
  [505, 'no version', 'GET /echo\r\n\r\n'],
  [414, 'a long target', refused(`GET /${'a'.repeat(20_000)} HTTP/1.1`)],
  [431, 'a long field', refused('GET /echo HTTP/1.1', `X-A: ${'a'.repeat(70_000)}`)],
  [431, 'many fields', refused('GET /echo HTTP/1.1', ...Array(300).fill('X-A: 1'))],
  [501, 'an unknown method', refused('PROPFIND /echo HTTP/1.1')],
  [501, 'CONNECT', 'CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n'],
  [505, 'another version', refused('GET /echo HTTP/2.0')],
  [417, 'another expectation', refused('GET /echo HTTP/1.1', 'Expect: a-miracle')],
];

it.each(REFUSED)(
  '%d for %s: response and counters equal those of the general plane, and the connection closes',
  async (status, _name, request) => {
    const [fast, general] = await Promise.all(
      PLANES.map(async (plane) => {
        const { gateway, upstream } = await pair(undefined, { plane });
        const client = await open(gateway.port);
        await ask(client, get('/echo/1'));
        client.text = '';
        client.socket.write(request, 'latin1');
        await until(() => client.ended);
        await until(() => gateway.listener.connections() === 0);
        expect(upstream.requests.map(pathOf)).toEqual(['/echo/1']);
        return {
          text: steady(client.text),
          refusals: [...gateway.samples.refusals()],
          outcomes: gateway.outcomes.slice(1),
          general: carried(gateway).general - (plane === 'general' ? 1 : 0),
        };
      }),
    );
    expect(fast).toEqual(general);
    expect(fast?.text).toMatch(
      new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\r\\nconnection: close\\r\\n`, 'i'),
    );
    expect(fast?.outcomes).toMatchObject([{ status }]);
  },
);

it('a refusal reaches a client that has ended its side, on both planes', async () => {
  for (const plane of PLANES) {
    const { gateway } = await pair(undefined, { plane });
    const client = await open(gateway.port);
    await ask(client, get());
    client.text = '';
    client.socket.end(odd('/echo', ['Host: api.example.com']), 'latin1');
    await until(() => client.ended && gateway.listener.connections() === 0);
    expect(client.text).toMatch(/^HTTP\/1\.1 400 /);
  }
});

it('an in-memory connection closes after its last response, so that Node frees its parser', async () => {
  const known = createClientConnection(
    { full: '', key: '', chain: '', viaTrusted: false, isNear: true },
    undefined,
  );
  const socket = new PassThrough();
  const ends: boolean[] = [];
  const message = new MessageDuplex(socket as Duplex as Socket, known, Buffer.from(odd()), (isLast) => {
    ends.push(isLast);
  });
  message.write('answer');
  message.destroySoon();
  await once(message, 'close');
  expect([ends, String(socket.read()), socket.destroyed]).toEqual([[true], 'answer', false]);
});

describe('a connection moves to the general plane permanently', () => {
  it.each([
    ['a body', odd('/echo/1', ['Content-Length: 5'], 'POST', 'hello')],
    ['an empty body', odd('/echo/1', ['CONTENT-LENGTH: 0'], 'POST')],
    ['chunks', odd('/echo/1', ['Transfer-Encoding: chunked'], 'POST', '0\r\n\r\n')],
    ['an upgrade', odd('/echo/1', ['Connection: upgrade', 'Upgrade: h2c'])],
    ['another request after it', `${odd('/echo/1')}GET /echo/2 HT`],
  ])('for %s', async (_what, request) => {
    const { gateway } = await pair(silent);
    const client = await open(gateway.port);
    client.socket.write(request, 'latin1');
    await until(() => carried(gateway).general === 1);
    expect(connectionsOf(gateway)).toEqual({ fast: 0, general: 1 });
  });
});

describe('isOneMessage', () => {
  it.each([
    [true, 'a GET', odd()],
    [true, 'a request of a browser', odd('/', ['Upgrade-Insecure-Requests: 1'])],
    [true, 'HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n'],
    [false, 'nothing', ''],
    [false, 'three octets', 'GET'],
    [false, 'half a head', odd().slice(0, -1)],
    [false, 'an octet after it', `${odd()}\r`],
    [false, 'another request after it', odd() + odd()],
    [false, 'empty lines only', '\r\n\r\n'],
    [false, 'an empty line before it', `\r\n${odd()}`],
    [false, 'an unknown method', odd('/', [], 'PROPFIND')],
    [false, 'an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\n'],
    [false, 'a length', odd('/', ['content-LENGTH: 0'])],
    [false, 'a length without a space', odd('/', ['Content-Length:0'])],
    [false, 'a length in a folded line', odd('/', ['X-A: 1', ' Content-Length: 1'])],
    [false, 'a coding', odd('/', ['TRANSFER-ENCODING: chunked'])],
    [false, 'an upgrade', odd('/', ['upgrade: h2c'])],
    [false, 'an upgrade that is only nominated', odd('/', ['Connection: keep-alive, Upgrade'])],
  ])('is %s for %s', (expected, _what, bytes) => {
    expect(isOneMessage(Buffer.from(bytes, 'latin1'))).toBe(expected);
  });
});
