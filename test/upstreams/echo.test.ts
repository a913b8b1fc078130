// Tests of the echo over real sockets: its description of a request, and every fault it can simulate.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Received } from '../../upstreams/echo/received.ts';
import type { Service } from '../../upstreams/service/listen.ts';

let service: Service;
beforeAll(async () => {
  service = await startEcho({ port: 0 });
});
afterAll(() => service.close());
beforeEach(() => fetch(`${service.url}/echo/-/count`, { method: 'DELETE' }));

interface Tally {
  readonly count: number;
  readonly active: number;
  readonly aborted: readonly { method: string; target: string }[];
}

async function tally(): Promise<Tally> {
  return (await (await fetch(`${service.url}/echo/-/count`)).json()) as Tally;
}

/** All bytes of the response to a raw request. */
async function exchange(text: string): Promise<string> {
  const socket = connect(service.port, '127.0.0.1');
  socket.end(text.replaceAll('\n', '\r\n'));
  let answer = '';
  for await (const chunk of socket) answer += String(chunk);
  return answer;
}

describe('the received request', () => {
  it('is returned exactly: method, target, and headers in their order and case', async () => {
    const answer = await exchange(
      'PROPFIND /echo//a/%2e%2E?x=1&x=%41 HTTP/1.1\nHost: localhost\nX-Twice: one\nx-twice: two\nConnection: close\n\n',
    );
    const received = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as Received;
    expect(received).toMatchObject({
      method: 'PROPFIND',
      target: '/echo//a/%2e%2E?x=1&x=%41',
      httpVersion: '1.1',
      headers: [
        ['Host', 'localhost'],
        ['X-Twice', 'one'],
        ['x-twice', 'two'],
        ['Connection', 'close'],
      ],
      body: { length: 0, base64: '' },
    });
  });

  it.each([0, 1, 65_536, 65_537, 3_000_000])(
    'a body of %i bytes is returned as length, digest and first 64 KiB',
    async (length) => {
      const body = Buffer.alloc(length, 'sundial');
      const received = (await (
        await fetch(`${service.url}/echo`, { method: 'POST', body })
      ).json()) as Received;
      expect(received.body.length).toBe(length);
      expect(received.body.sha256).toBe(createHash('sha256').update(body).digest('hex'));
      expect(Buffer.from(received.body.base64, 'base64').equals(body.subarray(0, 65_536))).toBe(true);
    },
  );

  it('is counted, and reading the count is not', async () => {
    await (await fetch(`${service.url}/echo/a`)).text();
    await (await fetch(`${service.url}/echo/b`)).text();
    expect(await tally()).toEqual({ count: 2, active: 0, aborted: [] });
  });
});

describe('faults on request', () => {
  it('returns another status, a Retry-After and chosen headers', async () => {
    const answer = await fetch(
      `${service.url}/echo?status=503&retry-after=7&header=X-A:%201&header=set-cookie:a=b&header=set-cookie:c=d`,
    );
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.headers.get('x-a')).toBe('1');
    expect(answer.headers.getSetCookie()).toEqual(['a=b', 'c=d']);
    expect(await answer.json()).toMatchObject({ method: 'GET' });
  });

  it.each([204, 304])('a %i has no body', async (status) => {
    const answer = await fetch(`${service.url}/echo?status=${status}`);
    expect(answer.status).toBe(status);
    expect(await answer.text()).toBe('');
  });

  it('responds after the delay and not before', async () => {
    const started = performance.now();
    expect((await fetch(`${service.url}/echo?delay=60`)).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(50);
  });

  it('streams chunks of a given size', async () => {
    const text = await (await fetch(`${service.url}/echo?chunks=3&bytes=100000&every=1`)).text();
    expect(text).toHaveLength(300_000);
    expect(text.match(/chunk \d\n/g)).toEqual(['chunk 0\n', 'chunk 1\n', 'chunk 2\n']);
  });

  it('closes the connection before the first byte of a response', async () => {
    expect(await exchange('GET /echo?hangup=before HTTP/1.1\nHost: localhost\n\n')).toBe('');
    expect((await tally()).aborted).toEqual([]);
  });

  it.each(['', '&chunks=6'])('closes the connection in the middle of a body (%s)', async (more) => {
    const answer = await fetch(`${service.url}/echo?hangup=middle${more}`);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow();
    const raw = await exchange(`GET /echo?hangup=middle${more} HTTP/1.1\nHost: localhost\n\n`);
    expect(raw.split('\r\n\r\n')[1]).not.toBe('');
    expect((await tally()).aborted).toEqual([]);
  });

  it.each([
    'status=99',
    'status=x',
    'chunks=-1',
    'delay=1.5',
    'hangup=after',
    'header=x',
    'header=a%20b:c',
    'header=a:b%0d%0ac',
    'retry-after=%0d%0a1',
  ])('ERR-1: ?%s is refused', async (query) => {
    const answer = await fetch(`${service.url}/echo?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({ error: 'Bad Request', message: expect.any(String) });
  });

  it('ERR-1: no resource exists outside of /echo', async () => {
    expect((await fetch(`${service.url}/echoes`)).status).toBe(404);
  });
});

describe('a client that disconnects early', () => {
  function open(target: string, method = 'GET'): ClientRequest {
    const sent = request(service.url + target, { method });
    sent.on('error', () => sent.destroy()); // its own abort is emitted as an error
    return sent;
  }

  it.each(['hang=1', 'delay=60000'])('is recorded before a response (%s)', async (query) => {
    const target = `/echo/slow?${query}`;
    const sent = open(target);
    sent.end();
    await vi.waitFor(async () => expect((await tally()).active).toBe(1), { timeout: 20_000 });
    sent.destroy();
    await vi.waitFor(
      async () => {
        expect(await tally()).toEqual({ count: 1, active: 0, aborted: [{ method: 'GET', target }] });
      },
      { timeout: 20_000 },
    );
  });

  it('is recorded in the middle of the response, whose rest is not written', async () => {
    const sent = open('/echo?chunks=1000000&bytes=65536');
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    await once(answer, 'readable');
    answer.on('error', () => answer.destroy());
    answer.destroy();
    await vi.waitFor(
      async () => expect(await tally()).toMatchObject({ active: 0, aborted: [{ method: 'GET' }] }),
      { timeout: 20_000 },
    );
  });

  it('is recorded in the middle of its request body', async () => {
    const sent = open('/echo/upload', 'POST');
    sent.setHeader('content-length', 1000);
    sent.write('the beginning');
    await vi.waitFor(async () => expect((await tally()).active).toBe(1), { timeout: 20_000 });
    sent.destroy();
    await vi.waitFor(
      async () => {
        expect((await tally()).aborted).toEqual([{ method: 'POST', target: '/echo/upload' }]);
      },
      { timeout: 20_000 },
    );
  });
});
