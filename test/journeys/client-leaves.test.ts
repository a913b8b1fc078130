// Clients that leave: before an answer, in the middle of one, in the middle of their own body. The upstream is told at once.
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
    vi.waitFor(() => {
      const connection = upstream.connections.find(({ received }) =>
        received.includes(` ${target} HTTP/1.1\r\n`),
      );
      if (connection === undefined) throw new Error(`no connection asked for ${target}`);
      return connection;
    });

  const untilGone = async (target: string) => {
    const connection = await connectionOf(target);
    await vi.waitFor(() => expect(connection.gone).toBe(true), { timeout: 1_000, interval: 5 });
    return connection;
  };

  it('promise 20: a client that leaves before the answer ends the upstream request within a second', async () => {
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

  it('promise 20: a client that leaves in the middle of the answer ends it at the upstream as well', async () => {
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

  it('promise 15: an upload that breaks off never looks complete to the upstream', async () => {
    const target = `/slow/upload?${protocol}`;
    const body = new Readable({ read: () => undefined });
    body.push('the first bytes');
    const { leave } = client.begin({ path: `/api${target}`, method: 'POST', body });
    const connection = await connectionOf(target);
    await vi.waitFor(() => expect(connection.received).toContain('the first bytes'));
    leave();
    const { received } = await untilGone(target);
    expect(received).toMatch(/\r\ntransfer-encoding: chunked\r\n/i);
    expect(received).not.toContain('\r\n0\r\n\r\n');
  });

  it('promise 20: a hundred who leave leave nothing behind', async () => {
    const targets = Array.from({ length: 100 }, (_, index) => `/slow/never?${protocol}&${index}`);
    const leaving = targets.map((target) => client.begin({ path: `/api${target}` }));
    await vi.waitFor(() => expect(targets.every((target) => upstream.count(target) === 1)).toBe(true), {
      timeout: 10_000,
    });
    for (const { leave } of leaving) leave();
    await vi.waitFor(() => expect(upstream.connections.filter(({ gone }) => !gone)).toHaveLength(0), {
      timeout: 5_000,
    });
    const answer = await client.ask({ path: '/api/slow/whole' });
    expect(answer).toMatchObject({ status: 200, text: 'ok' });
  });
});
