// A disconnect of the client, before or during a response or its own body, ends the upstream request at once.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, type Connect, overHttp1, overHttp2 } from '../support/http-client.ts';
import { type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let upstream: RawUpstream;

beforeAll(async () => {
  upstream = stack.use(
    await startRawUpstream((target, socket) => {
      if (target.startsWith('/slow/half')) {
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nthe first bytes');
      }
      if (target.startsWith('/slow/whole')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    }),
  );
  gateway = stack.use(await runGateway({ policies: 'client-leaves', environment: { SLOW: upstream.url } }));
});
afterAll(() => stack.disposeAsync());

const protocols: readonly (readonly [string, Connect])[] = [
  ['HTTP/1.1', overHttp1],
  ['HTTP/2', overHttp2],
];

describe.each(protocols)('over %s', (protocol, connect) => {
  let client: Client;
  beforeEach(() => {
    client = stack.use(connect(gateway.https));
  });

  const connectionOf = (target: string) =>
    vi.waitFor(
      () => {
        const connection = upstream.connections.find(({ received }) =>
          received.includes(` ${target} HTTP/1.1\r\n`),
        );
        if (connection === undefined) throw new Error(`no connection asked for ${target}`);
        return connection;
      },
      { timeout: 20_000 },
    );

  const untilGone = async (target: string) => {
    const connection = await connectionOf(target);
    await vi.waitFor(() => expect(connection.gone).toBe(true), { timeout: 20_000, interval: 5 });
    return connection;
  };

  it('a client disconnect before the response ends the upstream request', async () => {
    const target = `/slow/never?${protocol}`;
    const id = `leaves-before-${protocol.length}`;
    const { leave } = client.begin({ path: `/api${target}`, headers: { 'x-request-id': id } });
    expect((await connectionOf(target)).gone).toBe(false);
    leave();
    await untilGone(target);
    const line = await gateway.accessLine(id);
    expect(line).toMatchObject({ status: 499, aborted: true, bytes: 0 });
    expect(line).not.toHaveProperty('fault');
  });

  it('a client disconnect within the response ends the upstream request', async () => {
    const target = `/slow/half?${protocol}`;
    const id = `leaves-amid-${protocol.length}`;
    const { firstBytes, leave } = client.begin({ path: `/api${target}`, headers: { 'x-request-id': id } });
    await firstBytes;
    leave();
    await untilGone(target);
    const line = await gateway.accessLine(id);
    expect(line).toMatchObject({ status: 200, aborted: true, bytes: 'the first bytes'.length });
    expect(line).not.toHaveProperty('fault');
  });

  it('an interrupted upload never looks complete to the upstream', async () => {
    const target = `/slow/upload?${protocol}`;
    const body = new Readable({ read: () => undefined });
    body.push('the first bytes');
    const { leave } = client.begin({ path: `/api${target}`, method: 'POST', body });
    const connection = await connectionOf(target);
    await vi.waitFor(() => expect(connection.received).toContain('the first bytes'), { timeout: 20_000 });
    leave();
    const { received } = await untilGone(target);
    expect(received).toMatch(/\r\ntransfer-encoding: chunked\r\n/i);
    expect(received).not.toContain('\r\n0\r\n\r\n');
  });

  it('99 % of disconnects end the upstream request in a second; no socket stays', async () => {
    // Connects first, because the client's own connection would count as one more.
    expect((await client.ask({ path: '/' })).status).toBe(404);
    const before = openSockets();
    // A thousand in all. Over HTTP/1.1 each needs a connection of its own.
    const hundreds = protocol === 'HTTP/2' ? 9 : 1;
    const stillThere = (some: string) =>
      upstream.connections.filter(({ gone, received }) => !gone && received.includes(some)).length;
    let late = 0;
    for (let hundred = 0; hundred < hundreds; hundred += 1) {
      const some = `/slow/never?${protocol}&${hundred}&`;
      // A connection may reset only a limited number of streams.
      await using another = connect(gateway.https);
      const leaving = Array.from({ length: 100 }, (_, index) =>
        another.begin({ path: `/api${some}${index}` }),
      );
      await vi.waitFor(() => expect(stillThere(some)).toBe(100), { timeout: 20_000 });
      for (const { leave } of leaving) leave();
      const leftAt = performance.now();
      await vi.waitFor(
        () => {
          if (stillThere(some) > 0 && performance.now() - leftAt < 1_000) throw new Error('not yet');
        },
        { timeout: 20_000, interval: 20 },
      );
      late += stillThere(some);
    }
    expect(late).toBeLessThanOrEqual(hundreds);
    await vi.waitFor(
      () => {
        expect(stillThere('/slow/never?')).toBe(0);
        expect(openSockets()).toBeLessThanOrEqual(before);
      },
      { timeout: 20_000 },
    );
    expect(await client.ask({ path: '/api/slow/whole' })).toMatchObject({ status: 200, text: 'ok' });
  });
});

/** All sockets of this process: those of client, gateway and upstream. */
const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((each) => each === 'TCPSocketWrap').length;
