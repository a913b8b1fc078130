// An upstream closes, resets or sends invalid octets at each moment: safe retries, no mixed responses.
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLANES, type PlaneName } from '../../../gateway/plan/bounds.ts';
import { type GatewayUnderTest, startGateway } from '../gateway-under-test.ts';
import {
  get,
  openRaw,
  type RawClient,
  type RawRequest,
  type RawUpstream,
  startUpstream,
  until,
} from '../raw-sockets.ts';

const HEAD = 'HTTP/1.1 200 OK\r\n';
const SIZED = `${HEAD}Content-Length: 10\r\n\r\n`;
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const UNTIL_END = `${HEAD}Connection: close\r\n\r\n`;

interface Moment {
  readonly name: string;
  /** The part of the response that the upstream has written. */
  readonly part: string;
  /** The content that has reached the client. Undefined: the client has no head. */
  readonly content?: string;
  /** Any next octets are content. */
  readonly takesAny?: boolean;
}

const WITHOUT_HEAD: readonly Moment[] = [
  { name: 'after an interim response', part: 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' },
  { name: 'within the status line', part: 'HTTP/1.1 20' },
  { name: 'after the status line', part: HEAD },
  { name: 'within the name of a field', part: `${HEAD}Content-Le` },
  { name: 'within the value of a field', part: `${HEAD}Content-Length: 1` },
  { name: 'before the empty line', part: `${HEAD}Content-Length: 10\r\n` },
];
const WITHIN_BODY: readonly Moment[] = [
  { name: 'between the head and a sized body', part: SIZED, content: '', takesAny: true },
  { name: 'within a sized body', part: `${SIZED}hello`, content: 'hello', takesAny: true },
  { name: 'between the head and the first chunk', part: CHUNKED, content: '' },
  { name: 'within the size of a chunk', part: `${CHUNKED}a`, content: '' },
  { name: 'within a chunk', part: `${CHUNKED}a;x=y\r\nhello`, content: 'hello', takesAny: true },
  { name: 'between chunks', part: `${CHUNKED}5\r\nhello\r\n`, content: 'hello' },
  { name: 'within the last chunk', part: `${CHUNKED}5\r\nhello\r\n0\r\n`, content: 'hello' },
  { name: 'within the trailers', part: `${CHUNKED}5\r\nhello\r\n0\r\nX-T: 1\r\n`, content: 'hello' },
];

type End = (socket: Socket) => void;
const end: End = (socket) => void socket.end();
const reset: End = (socket) => void socket.resetAndDestroy();
const misspeak: End = (socket) => void socket.write('this is no HTTP\r\n\r\n');

interface Way {
  readonly name: string;
  readonly way: End;
  /** How often a GET without any octet of its response is sent. */
  readonly tries: number;
  readonly withinBody: readonly Moment[];
}

const WAYS: readonly Way[] = [
  { name: 'ends its connection', way: end, tries: 2, withinBody: WITHIN_BODY },
  { name: 'resets its connection', way: reset, tries: 2, withinBody: WITHIN_BODY },
  {
    name: 'sends octets that are not HTTP',
    way: misspeak,
    tries: 1,
    withinBody: WITHIN_BODY.filter(({ takesAny }) => !takesAny),
  },
];
const METHODS = ['GET', 'POST'] as const;

const pathOf = ({ head }: RawRequest): string => head.split(' ')[1] ?? '';
const answerTo = (path: string): string => `${HEAD}Content-Length: ${path.length}\r\n\r\n${path}`;

describe.each(PLANES)('on the %s plane an upstream', (plane) => {
  const { breakOff } = pairFor(plane);

  describe.each(WAYS)('$name', ({ way, tries: mostTries, withinBody }) => {
    it.each(METHODS)('FWD-16: before its response to a %s: only a GET may be retried', async (method) => {
      const { tries, text } = await breakOff({ way, method, part: '' });
      expect(tries).toBe(method === 'GET' ? mostTries : 1);
      expect(text).toMatch(tries === 2 ? /^HTTP\/1\.1 200 / : /^HTTP\/1\.1 502 /);
    });

    it.each(WITHOUT_HEAD)('$name: the client gets 502 without a retry', async ({ part }) => {
      for (const method of METHODS) {
        const { tries, text } = await breakOff({ way, method, part });
        expect([method, tries]).toEqual([method, 1]);
        expect(text).toMatch(/^HTTP\/1\.1 502 /);
      }
    });

    it.each(withinBody)('FWD-17: $name: the response is aborted', async ({ part, content }) => {
      for (const method of METHODS) {
        const { tries, text, isCut } = await breakOff({ way, method, part, content });
        expect([method, tries, isCut]).toEqual([method, 1, true]);
        expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
        expect(contentOf(text)).toBe(content);
        expect(text).not.toMatch(/\r\n0\r\n/);
      }
    });
  });

  describe.each(METHODS)('within a response to a %s without a length', (method) => {
    const part = `${UNTIL_END}hello`;

    it('ends its connection: the response is complete', async () => {
      const { tries, text, isCut } = await breakOff({ way: end, method, part, content: 'hello' });
      expect([tries, isCut]).toEqual([1, false]);
      expect(text).toMatch(/\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/);
    });

    it('FWD-17: resets its connection: the response is aborted', async () => {
      const { tries, text, isCut } = await breakOff({ way: reset, method, part, content: 'hello' });
      expect([tries, isCut, contentOf(text)]).toEqual([1, true, 'hello']);
      expect(text).not.toMatch(/\r\n0\r\n/);
    });
  });
});

interface BreakOff {
  readonly way: End;
  readonly method: string;
  readonly part: string;
  readonly content?: string | undefined;
}

interface BrokenOff {
  /** How often the upstream received the request. */
  readonly tries: number;
  readonly text: string;
  readonly isCut: boolean;
}

function pairFor(plane: PlaneName): { readonly breakOff: (wanted: BreakOff) => Promise<BrokenOff> } {
  let upstream: RawUpstream;
  let gateway: GatewayUnderTest;
  let broken: BreakOff | undefined;
  let client: RawClient;
  let count = 0;

  async function breakNow(socket: Socket, { way, part, content }: BreakOff): Promise<void> {
    if (part !== '') await new Promise<void>((resolve) => void socket.write(part, 'latin1', () => resolve()));
    // In these turns the gateway reads octets that do not reach the client.
    for (let turns = 0; turns < 4; turns += 1) await turn();
    if (content !== undefined) await until(() => contentOf(client.text) === content);
    way(socket);
  }

  const answer = (request: RawRequest): string | undefined => {
    const path = pathOf(request);
    if (!request.complete || path.startsWith('/echo/beside')) return undefined;
    const wanted = broken;
    if (wanted === undefined || !path.startsWith('/echo/broken')) return answerTo(path);
    broken = undefined;
    void breakNow(request.socket, wanted);
    return undefined;
  };

  beforeAll(async () => {
    upstream = await startUpstream(answer, answer);
    gateway = await startGateway({ upstream: upstream.origin, plane });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
  });

  const requestsTo = (path: string): readonly RawRequest[] =>
    upstream.requests.filter((each) => pathOf(each) === path);

  /** Sends a request on `on` and waits for the response that repeats its path. */
  async function ask(on: RawClient, path: string): Promise<void> {
    on.text = '';
    on.socket.write(get(path));
    await until(() => on.text.endsWith(path));
    expect(on.text.split('\r\n\r\n')).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n/), path]);
  }

  /**
   * Breaks the response on a connection that has served another request, during a request of another client.
   * Then both clients send one more request: each gets its own responses.
   */
  async function breakOff(wanted: BreakOff): Promise<BrokenOff> {
    count += 1;
    const [beside, path] = [`/echo/beside-${count}`, `/echo/broken-${count}`];
    client = await openRaw(gateway.port);
    const other = await openRaw(gateway.port);
    try {
      other.socket.write(get(beside));
      await until(() => requestsTo(beside).length === 1);
      await ask(client, `/echo/first-${count}`);
      // A connection is reused only after some turns.
      for (let turns = 0; turns < 4; turns += 1) await turn();
      client.text = '';
      broken = wanted;
      const { method } = wanted;
      client.socket.write(
        method === 'POST' ? get(path, ['Content-Length: 2'], method, 'hi') : get(path, [], method),
      );
      await until(() => client.ended || client.text.endsWith(path) || /"}$|\r\n0\r\n\r\n$/.test(client.text));
      const { text, ended: isCut } = client;
      const tries = requestsTo(path);
      expect(tries[0]?.socket).toBe(requestsTo(`/echo/first-${count}`)[0]?.socket);
      requestsTo(beside)[0]?.socket.write(answerTo(beside));
      await until(() => other.text.endsWith(beside));
      await ask(other, `/echo/other-${count}`);
      if (!isCut) await ask(client, `/echo/next-${count}`);
      return { tries: tries.length, text, isCut };
    } finally {
      client.socket.destroy();
      other.socket.destroy();
    }
  }

  return { breakOff };
}

/** The decoded content. Undefined if the head is incomplete. */
function contentOf(text: string): string | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  let rest = text.slice(end + 4);
  if (!/\r\ntransfer-encoding: chunked/i.test(text.slice(0, end))) return rest;
  let content = '';
  for (let line = rest.indexOf('\r\n'); line >= 0; line = rest.indexOf('\r\n')) {
    const size = Number.parseInt(rest.slice(0, line), 16);
    content += rest.slice(line + 2, line + 2 + size);
    rest = rest.slice(line + 2 + size + 2);
  }
  return content;
}
