// A client sends FIN or RST at any moment, on both planes: its request is cancelled, others are served.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { PLANES } from '../../../gateway/plan/bounds.ts';
import { forEachTest, type Pair } from '../gateway-pair.ts';
import { get, OK, odd, openRaw, type RawClient, type RawRequest, sendRaw, until } from '../raw-sockets.ts';

const { defer, pair } = forEachTest();

interface Moment {
  readonly name: string;
  readonly sent: string;
  /** Whether the moment has come. */
  readonly isThere: (pair: Pair, client: RawClient) => boolean;
  readonly observed: readonly { readonly status: number; readonly aborted: boolean }[];
}

const HALF = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello';
const LEFT = { status: 499, aborted: true };
const half = get('/echo/half');
const silent = get('/echo/silent');
const body = (line: string, part: string): string => get('/echo/silent', [line], 'POST', part);
const isAsked = ({ upstream }: Pair): boolean => upstream.requests.length > 0;
const isSent = ({ upstream }: Pair): boolean => upstream.requests[0]?.body.includes('hello') === true;
const isAccepted = ({ gateway }: Pair): boolean => gateway.listener.connections() === 1;

const MOMENTS: readonly Moment[] = [
  { name: 'before a request', sent: '', isThere: isAccepted, observed: [] },
  { name: 'within the request line', sent: 'GET /ec', isThere: isAccepted, observed: [] },
  { name: 'within a field', sent: silent.slice(0, -10), isThere: isAccepted, observed: [] },
  { name: 'before the empty line', sent: silent.slice(0, -2), isThere: isAccepted, observed: [] },
  { name: 'before its response', sent: silent, isThere: isAsked, observed: [LEFT] },
  { name: 'within its body', sent: body('Content-Length: 9', 'hello'), isThere: isSent, observed: [LEFT] },
  {
    name: 'within a chunk',
    sent: body('Transfer-Encoding: chunked', '9\r\nhello'),
    isThere: isSent,
    observed: [LEFT],
  },
  {
    name: 'between chunks',
    sent: body('Transfer-Encoding: chunked', '5\r\nhello\r\n'),
    isThere: isSent,
    observed: [LEFT],
  },
  {
    name: 'within its response',
    sent: half,
    isThere: (_pair, { text }) => text.endsWith('hello'),
    observed: [{ status: 200, aborted: true }],
  },
  {
    name: 'after a response',
    sent: get('/echo'),
    isThere: (_pair, { text }) => text.endsWith('ok'),
    observed: [{ status: 200, aborted: false }],
  },
  {
    name: 'within a request after a response',
    sent: `${get('/echo')}GET /echo HTTP`,
    isThere: (_pair, { text }) => text.endsWith('ok'),
    observed: [{ status: 200, aborted: false }],
  },
  {
    name: 'within the head of a request for Node’s parser',
    sent: 'GET http://api.example.com/echo HTTP/1.1\r\nHost: api',
    isThere: isAccepted,
    observed: [],
  },
  {
    name: 'before the response to a request for Node’s parser',
    sent: odd('/echo/silent'),
    isThere: isAsked,
    observed: [LEFT],
  },
  {
    name: 'within the response to a request for Node’s parser',
    sent: odd('/echo/half'),
    isThere: (_pair, { text }) => text.endsWith('hello'),
    observed: [{ status: 200, aborted: true }],
  },
  {
    name: 'after the refusal of CONNECT',
    sent: 'CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n',
    isThere: (_pair, { text }) => text.endsWith('}'),
    observed: [{ status: 501, aborted: false }],
  },
  {
    name: 'after the response to a request for Node’s parser',
    sent: odd('/echo'),
    isThere: (_pair, { text }) => text.endsWith('ok'),
    observed: [{ status: 200, aborted: false }],
  },
];

const TITLED = MOMENTS.map((moment) => [moment.name, moment] as const);

const WAYS: readonly (readonly [name: string, leave: (socket: Socket) => void])[] = [
  ['ends its side', (socket) => void socket.end()],
  ['resets its connection', (socket) => void socket.resetAndDestroy()],
];

const answer = ({ head }: RawRequest): string | undefined => {
  if (head.includes(' /echo/silent ')) return undefined;
  return head.includes(' /echo/half ') ? HALF : OK;
};

describe.each(PLANES)('FWD-17: on the %s plane', (plane) => {
  describe.each(WAYS)('a client that %s', (_way, leave) => {
    it.each(TITLED)('%s: other clients are served', async (_name, { sent, isThere, observed }) => {
      const started = await pair(answer, { plane });
      const { gateway, upstream } = started;
      const client = await openRaw(gateway.port);
      defer(async () => void client.socket.destroy());
      client.socket.write(sent, 'latin1');
      await until(() => isThere(started, client));
      leave(client.socket);
      await until(() => client.ended && gateway.listener.connections() === 0);
      await until(() => gateway.outcomes.length === observed.length);
      expect(gateway.outcomes).toMatchObject(observed);
      // Open calls are cancelled. A connection with a complete response stays open.
      const isOver = observed.every(({ aborted }) => !aborted);
      if (!isOver) await until(() => upstream.sockets.size === 0);
      expect(upstream.requests.every(({ complete }) => complete || observed.length > 0)).toBe(true);
      expect((await sendRaw(gateway.port, get('/echo'))).statuses).toEqual([200]);
    });
  });

  // Unread octets turn the reset into an error event, and Node has removed its own listener.
  it('a client that sends more after a refused CONNECT and resets affects only its connection', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtExceptionMonitor', note);
    defer(async () => void process.off('uncaughtExceptionMonitor', note));
    const { gateway } = await pair(answer, { plane });
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const client = await openRaw(gateway.port);
      client.socket.write('CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n\r\n');
      await once(client.socket, 'data');
      client.socket.write('x'.repeat(1_000));
      client.socket.resetAndDestroy();
      await once(client.socket, 'close');
    }
    await until(() => gateway.listener.connections() === 0);
    expect(gateway.outcomes.map(({ status }) => status)).toEqual(Array(20).fill(501));
    expect(uncaught).toEqual([]);
  });
});
