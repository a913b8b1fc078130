// A request moves to Node's parser at any moment of a connection: nothing is lost or repeated.
import { setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { forEachTest, whenComplete } from '../gateway-pair.ts';
import { carried } from '../gateway-under-test.ts';
import { get, odd, openRaw, type RawRequest, sendRaw, until } from '../raw-sockets.ts';

const { defer, pair: pairOf } = forEachTest();
const pair = (options: Parameters<typeof pairOf>[1] = {}) =>
  pairOf(whenComplete, { plane: 'fast', ...options }, whenComplete);

const ODD = 'X-Odd:\t1';
const HELLO = ['Content-Length: 10'];
const CHUNKED = ['Transfer-Encoding: chunked'];
const LAST = ['Connection: close'];

const pathOf = ({ head }: RawRequest): string => head.split(' ')[1] ?? '';
const contentOf = ({ body }: RawRequest): string => body.replaceAll(/\r\n|^[0-9a-f]+\r\n|\b[05]\b/g, '');

interface Moment {
  readonly name: string;
  /** Each is sent when the previous one has been read. */
  readonly pieces: readonly string[];
  readonly paths: readonly string[];
  readonly bodies?: readonly string[];
  readonly carried: { readonly fast: number; readonly general: number };
}

const oddHead = odd('/echo/1', HELLO, 'POST');
const MOMENTS: readonly Moment[] = [
  {
    name: 'at its first octet',
    pieces: [`\r\n${get('/echo/1', LAST)}`],
    paths: ['/echo/1'],
    carried: { fast: 0, general: 1 },
  },
  {
    name: 'within its request line',
    pieces: ['GET /ec', 'ho/1 HTTP/1.', '0\r\nHost: api.example.com\r\n\r\n'],
    paths: ['/echo/1'],
    carried: { fast: 0, general: 1 },
  },
  {
    name: 'within its fields',
    pieces: [
      'GET /echo/1 HTTP/1.1\r\nHost: api.example.com\r\nX-A: 1\r',
      `\nConnection: close\r\n${ODD}`,
      '\r\n\r\n',
    ],
    paths: ['/echo/1'],
    carried: { fast: 0, general: 1 },
  },
  {
    name: 'before the first octet of its body',
    pieces: [oddHead, 'helloworld', get('/echo/2', LAST)],
    paths: ['/echo/1', '/echo/2'],
    bodies: ['helloworld'],
    carried: { fast: 0, general: 2 },
  },
  {
    name: 'with half its body',
    pieces: [`${oddHead}hello`, 'world', get('/echo/2', LAST)],
    paths: ['/echo/1', '/echo/2'],
    bodies: ['helloworld'],
    carried: { fast: 0, general: 2 },
  },
  {
    name: 'with half a chunk of its body',
    pieces: [
      odd('/echo/1', CHUNKED, 'POST', '5\r\nhel'),
      'lo\r\n5\r\nwor',
      `ld\r\n0\r\n\r\n${get('/echo/2', LAST)}`,
    ],
    paths: ['/echo/1', '/echo/2'],
    bodies: ['helloworld'],
    carried: { fast: 0, general: 2 },
  },
  {
    name: 'with its body and another request',
    pieces: [`${oddHead}helloworld${get('/echo/2', LAST)}`],
    paths: ['/echo/1', '/echo/2'],
    bodies: ['helloworld'],
    carried: { fast: 0, general: 2 },
  },
  {
    name: 'after a response',
    pieces: [get('/echo/1'), odd('/echo/2', LAST)],
    paths: ['/echo/1', '/echo/2'],
    carried: { fast: 1, general: 1 },
  },
  {
    name: 'after a response, with half its body',
    pieces: [get('/echo/1'), odd('/echo/2', [...HELLO, ...LAST], 'PUT', 'hello'), 'world'],
    paths: ['/echo/1', '/echo/2'],
    bodies: ['helloworld'],
    carried: { fast: 1, general: 1 },
  },
  {
    name: 'together with the request before it',
    pieces: [`${get('/echo/1')}${odd('/echo/2')}${get('/echo/3', LAST)}`],
    paths: ['/echo/1', '/echo/2', '/echo/3'],
    carried: { fast: 1, general: 2 },
  },
  {
    name: 'together with the body before it',
    pieces: [`${get('/echo/1', HELLO, 'POST', 'hello')}`, `world${odd('/echo/2', LAST)}`],
    paths: ['/echo/1', '/echo/2'],
    bodies: ['helloworld'],
    carried: { fast: 1, general: 1 },
  },
  {
    name: 'with chunks before it and half its body',
    pieces: [
      get('/echo/1', CHUNKED, 'POST', '5\r\nhello\r\n'),
      `5\r\nworld\r\n0\r\n\r\n${odd('/echo/2', [...HELLO, ...LAST], 'POST', 'hello')}`,
      'world',
    ],
    paths: ['/echo/1', '/echo/2'],
    bodies: ['helloworld', 'helloworld'],
    carried: { fast: 1, general: 1 },
  },
];

describe('SMG-15: a request is left to Node’s parser', () => {
  it.each(MOMENTS)('$name', async ({ pieces, paths, bodies = [], carried: expected }) => {
    const { gateway, upstream } = await pair();
    const client = await openRaw(gateway.port);
    defer(async () => void client.socket.destroy());
    for (const piece of pieces) {
      client.socket.write(piece, 'latin1');
      await turn();
      await turn();
    }
    await until(() => client.ended);
    expect(client.text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(paths.length);
    expect(upstream.requests.map(pathOf)).toEqual(paths);
    expect(upstream.requests.filter(({ body }) => body !== '').map(contentOf)).toEqual(bodies);
    expect(carried(gateway)).toEqual(expected);
    expect(gateway.outcomes.map(({ aborted }) => aborted)).toEqual(paths.map(() => false));
  });

  it('after a request that waits for its response, in two pieces', async () => {
    const { gateway, upstream } = await pairOf(() => undefined, { plane: 'fast' });
    const client = await openRaw(gateway.port);
    defer(async () => void client.socket.destroy());
    client.socket.write(`${get('/echo/1')}GET /echo/2 HTTP/1.1\r\nHost: api.example.com\r\nX-O`, 'latin1');
    await until(() => upstream.requests.length === 1);
    client.socket.write('dd:\t1\r\nConnection: close\r\n\r\n', 'latin1');
    for (const count of [1, 2]) {
      await until(() => upstream.requests.length === count);
      upstream.requests.at(-1)?.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${count}`);
    }
    await until(() => client.ended);
    expect(client.text).toMatch(/\r\n\r\n1HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n2$/);
    expect(carried(gateway)).toEqual({ fast: 1, general: 1 });
  });

  it('and its refusal closes the connection, in each of these states', async () => {
    const { gateway, upstream } = await pair();
    const refused = get('/echo/canary', ['X-A : 1']);
    for (const before of ['', get('/echo/1'), get('/echo/1', HELLO, 'POST', 'helloworld')]) {
      const { statuses, closed } = await sendRaw(gateway.port, before + refused + get('/echo/canary'), 3);
      expect([statuses.at(-1), closed]).toEqual([400, true]);
    }
    expect(upstream.requests.map(pathOf)).not.toContain('/echo/canary');
  });

  it('with a large body', async () => {
    const { gateway, upstream } = await pair();
    const size = 3_000_000;
    const client = await openRaw(gateway.port);
    defer(async () => void client.socket.destroy());
    const body = Array.from({ length: size / 10 }, (_, at) => String(at).padStart(10, '.')).join('');
    client.socket.write(odd('/echo/1', [`Content-Length: ${size}`], 'POST', body.slice(0, 1_000)), 'latin1');
    await turn();
    client.socket.write(body.slice(1_000) + get('/echo/2', LAST), 'latin1');
    await until(() => client.ended);
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1', '/echo/2']);
    expect(upstream.requests[0]?.body === body).toBe(true);
  });

  it('if its head arrives in more pieces than the fast parser reads again', async () => {
    const { gateway, upstream } = await pair();
    const client = await openRaw(gateway.port);
    defer(async () => void client.socket.destroy());
    const value = 'v'.repeat(2_500);
    for (const octet of get('/echo/1', [`X-Long: ${value}`, ...LAST])) {
      client.socket.write(octet, 'latin1');
      await turn();
    }
    await until(() => client.ended);
    expect(upstream.requests[0]?.head).toContain(`\r\nx-long: ${value}`.slice(2));
    expect(carried(gateway)).toEqual({ fast: 0, general: 1 });
  });

  it('while the listener drains', async () => {
    const { gateway, upstream } = await pair();
    const client = await openRaw(gateway.port);
    defer(async () => void client.socket.destroy());
    client.socket.write('GET /echo/1 HTTP/1.1\r\nHost: api.example.com\r\n', 'latin1');
    await until(() => gateway.listener.connections() === 1);
    // By then the octets are read. A drain closes an idle connection at once.
    for (let left = 5; left > 0; left -= 1) await turn();
    const stopped = gateway.listener.stop();
    client.socket.write(`${ODD}\r\n\r\n`, 'latin1');
    await until(() => client.ended);
    client.socket.destroy();
    await stopped;
    expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n(?:.*\r\n)*connection: close\r\n/i);
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1']);
    expect(carried(gateway)).toEqual({ fast: 0, general: 1 });
  });

  it('over TLS, with half its body', async () => {
    const { gateway, upstream } = await pair({ tls: true });
    const socket = connectTls({ port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false });
    defer(async () => void socket.destroy());
    let text = '';
    let ended = false;
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      text += chunk;
    });
    socket.on('end', () => {
      ended = true;
    });
    socket.write(get('/echo/1') + odd('/echo/2', [...HELLO, ...LAST], 'POST', 'hello'), 'latin1');
    await until(() => text.endsWith('ok'));
    socket.write('world', 'latin1');
    await until(() => ended);
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1', '/echo/2']);
    expect(upstream.requests[1]?.body).toBe('helloworld');
    expect(carried(gateway)).toEqual({ fast: 1, general: 1 });
  });

  it('and observed once if its client then disconnects', async () => {
    const { gateway, upstream } = await pairOf(() => undefined, { plane: 'fast' });
    const client = await openRaw(gateway.port);
    client.socket.write(odd('/echo/1', HELLO, 'POST', 'hello'), 'latin1');
    await until(() => upstream.requests[0]?.body === 'hello');
    client.socket.resetAndDestroy();
    await until(() => gateway.outcomes.length === 1 && gateway.listener.connections() === 0);
    await until(() => upstream.sockets.size === 0);
    expect(gateway.outcomes).toMatchObject([{ status: 499, aborted: true }]);
    expect(upstream.requests[0]?.complete).toBe(false);
  });
});
