// Unexpected octets of an upstream, on both planes: they reach no client and close the connection (SMG-22).
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PLANES } from '../../../gateway/plan/bounds.ts';
import { forEachTest } from '../gateway-pair.ts';
import { get, openRaw, type RawRequest, until } from '../raw-sockets.ts';

const { defer, pair } = forEachTest();

const HEAD = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n`;
const STOLEN = `${HEAD}Content-Length: 6\r\n\r\nstolen`;

const pathOf = ({ head }: RawRequest): string => head.split(' ')[1] ?? '';
const answerTo = (path: string): string => `${HEAD}Content-Length: ${path.length}\r\n\r\n${path}`;

interface Octets {
  readonly name: string;
  readonly method?: string;
  readonly answer: string;
}

const BEHIND: readonly Octets[] = [
  { name: 'a sized response', answer: answerTo('/echo/1') },
  { name: 'an empty response', answer: `${HEAD}Content-Length: 0\r\n\r\n` },
  { name: 'a 204', answer: 'HTTP/1.1 204 No Content\r\n\r\n' },
  { name: 'a 304', answer: 'HTTP/1.1 304 Not Modified\r\n\r\n' },
  { name: 'the response to a HEAD', method: 'HEAD', answer: `${HEAD}Content-Length: 6\r\n\r\n` },
  { name: 'the response to a POST', method: 'POST', answer: answerTo('/echo/1') },
  { name: 'the last chunk', answer: `${CHUNKED}0\r\n\r\n` },
];

describe.each(PLANES)('on the %s plane, unexpected octets of an upstream', (plane) => {
  /** The upstream calls `odd` for the first request, and answers each other request with its path. */
  const opened = async (odd: (request: RawRequest) => void) => {
    const answer = (request: RawRequest): string | undefined => {
      if (!request.complete) return undefined;
      if (pathOf(request) !== '/echo/1') return answerTo(pathOf(request));
      odd(request);
      return undefined;
    };
    const started = await pair(answer, { plane }, answer);
    const client = await openRaw(started.gateway.port);
    defer(async () => void client.socket.destroy());
    return { ...started, client };
  };
  const first = (method = 'GET'): string =>
    method === 'POST' ? get('/echo/1', ['Content-Length: 2'], method, 'hi') : get('/echo/1', [], method);

  describe.each([
    [
      'in the same write',
      (request: RawRequest, answer: string) => void request.socket.write(answer + STOLEN),
    ],
    [
      'in the next write',
      ({ socket }: RawRequest, answer: string) => {
        socket.write(answer);
        socket.write(STOLEN);
      },
    ],
  ])('%s', (_how, write) => {
    it.each(BEHIND)(
      'after $name: the next request of the client gets its own response',
      async ({ method, answer }) => {
        const { client, upstream } = await opened((request) => write(request, answer));
        client.socket.write(first(method) + get('/echo/2') + get('/echo/3'));
        await until(() => client.ended || client.text.endsWith('/echo/3'));
        expect(client.text).not.toContain('stolen');
        expect(client.text).toMatch(/\r\n\r\n\/echo\/2HTTP\/1\.1 200 OK\r\n[^/]*\r\n\r\n\/echo\/3$/);
        expect(upstream.requests.map(pathOf)).toEqual(['/echo/1', '/echo/2', '/echo/3']);
        expect(upstream.requests[1]?.socket).not.toBe(upstream.requests[0]?.socket);
        await until(() => upstream.requests[0]?.ended === true);
      },
    );
  });

  it.each([
    ['a response in place of a chunk', `${CHUNKED}${STOLEN}`],
    ['a response in place of the trailers', `${CHUNKED}0\r\n${STOLEN}`],
  ])('%s: the response is aborted', async (_name, answer) => {
    const { client, upstream } = await opened(({ socket }) => void socket.write(answer));
    client.socket.write(first() + get('/echo/2'));
    await until(() => client.ended);
    expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(client.text).not.toMatch(/stolen|\r\n0\r\n/);
    await until(() => upstream.requests[0]?.ended === true);
  });

  it.each(['GET', 'POST'])(
    'on an idle connection: it closes, and the next %s is sent on another',
    async (method) => {
      const { client, upstream } = await opened(({ socket }) => void socket.write(answerTo('/echo/1')));
      client.socket.write(first());
      await until(() => client.text.endsWith('/echo/1'));
      const [idle] = upstream.sockets;
      for (let turns = 0; turns < 5; turns += 1) await turn();
      idle?.write(STOLEN);
      await until(() => upstream.sockets.size === 0);
      client.socket.write(get('/echo/2', ['Content-Length: 0'], method));
      await until(() => client.text.endsWith('/echo/2'));
      expect(client.text).not.toContain('stolen');
      expect(upstream.requests.map(pathOf)).toEqual(['/echo/1', '/echo/2']);
    },
  );

  it.each(['GET', 'POST'])(
    'that arrive just before a %s is sent are not returned as its response',
    async (method) => {
      const { upstream, gateway } = await pair((request) => answerTo(pathOf(request)), { plane });
      const client = await openRaw(gateway.port);
      defer(async () => void client.socket.destroy());
      const ask = async (path: string, request: string, meanwhile: () => void): Promise<void> => {
        client.text = '';
        client.socket.write(request);
        meanwhile();
        await until(() => client.text.endsWith(path) || client.text.endsWith('stolen'));
        expect(client.text).not.toContain('stolen');
      };
      for (let round = 0; round < 10; round += 1) {
        const [before, next] = [`/echo/before-${round}`, `/echo/next-${round}`];
        await ask(before, get(before), () => undefined);
        for (let turns = 0; turns < 5; turns += 1) await turn();
        // After the request, and read in the same iteration.
        await ask(next, get(next, ['Content-Length: 0'], method), () => {
          for (const socket of upstream.sockets) socket.write(STOLEN);
        });
      }
      const sent = upstream.requests.map(pathOf);
      expect(new Set(sent).size).toBe(sent.length);
    },
  );
});
