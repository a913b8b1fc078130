// Pipelined requests on one HTTP/1 connection are served in order, one at a time.
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createExchange } from '../../gateway/exchange/exchange.ts';
import { planOf } from '../plan/workspace.ts';
import { quietPorts, tokensAreConsumers } from '../support/quiet-ports.ts';
import { forEachTest } from './gateway-pair.ts';
import { get, OK, type RawRequest, sendRaw, until } from './raw-sockets.ts';

const { defer, pair, upstreamThat, gatewayTo } = forEachTest();

const pathOf = ({ head }: RawRequest): string => head.split(' ')[1] ?? '';
const three = get('/echo/1') + get('/echo/2') + get('/echo/3');

describe('RFC 9112 §9.3.2: pipelined requests', () => {
  it('reach the upstream one at a time and get their responses in order', async () => {
    let running = 0;
    let most = 0;
    const { upstream, gateway } = await pair((request) => {
      running += 1;
      most = Math.max(most, running);
      setTimeout(() => {
        running -= 1;
        request.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n${pathOf(request)}`);
      }, 15);
      return undefined;
    });
    const { text, statuses } = await sendRaw(gateway.port, three, 3);
    expect(statuses).toEqual([200, 200, 200]);
    expect(text.match(/\/echo\/\d/g)).toEqual(['/echo/1', '/echo/2', '/echo/3']);
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1', '/echo/2', '/echo/3']);
    expect(most).toBe(1);
  });

  it('are checked by the clock and the plan of their turn, not of their arrival', async () => {
    const upstream = await upstreamThat(() => undefined);
    const policy = (access: string) => `api: orders
base: /api/orders
access: ${access}
sunset: 2026-12-01
upstreams: { any: { targets: ["${upstream.origin}"] } }
versions: none
`;
    const [open, closed] = [
      await planOf(policy('public')),
      await planOf(policy('{ identity: main, scopes: any }')),
    ];
    const BEFORE = Date.UTC(2026, 10, 30);
    let [plan, now] = [open, BEFORE];
    const exchange = createExchange({
      ...quietPorts(
        () => plan,
        () => now,
      ),
      authenticators: tokensAreConsumers([]),
    });
    const gateway = await gatewayTo([upstream.origin], {}, { exchange });
    const answers = sendRaw(
      gateway.port,
      get('/api/orders/1') + get('/api/orders/2') + get('/api/orders/3'),
      3,
    );
    const answer = async (count: number) => {
      await until(() => upstream.requests.length === count);
      upstream.requests.at(-1)?.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    };
    await until(() => upstream.requests.length === 1);
    plan = closed;
    await answer(1);
    expect((await answers).statuses).toEqual([200, 401, 401]);
    plan = open;
    const later = sendRaw(gateway.port, get('/api/orders/4') + get('/api/orders/5'), 2);
    await until(() => upstream.requests.length === 2);
    now = Date.UTC(2026, 11, 2);
    await answer(2);
    expect((await later).statuses).toEqual([200, 410]);
  });

  it('of a client that does not read do not block other clients', async () => {
    const body = 'x'.repeat(4_000_000);
    const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const { upstream, gateway } = await pair(() => answer);
    const socket = connect(gateway.port, '127.0.0.1');
    defer(async () => void socket.destroy());
    socket.pause();
    socket.write(get('/echo').repeat(40));
    await until(() => upstream.requests.length > 0);
    expect((await sendRaw(gateway.port, get('/echo/-', ['Connection: close']))).statuses).toEqual([200]);
    expect(upstream.requests.length).toBeLessThan(8);
  });

  it('are not served after a request with Connection: close', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { upstream, gateway } = await pair(() => OK, { decide: () => promise });
    const answer = sendRaw(gateway.port, get('/echo/1', ['Connection: close']) + get('/echo/2'));
    await until(() => gateway.views.length > 0);
    resolve(undefined);
    expect(await answer).toMatchObject({ statuses: [200], closed: true });
    expect(upstream.requests.map(pathOf)).toEqual(['/echo/1']);
  });

  it('RFC 9112 §2.2: are served if empty lines are between or after them', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { gateway } = await pair(() => OK, { decide: () => promise });
    const answer = sendRaw(gateway.port, `${get('/echo/1')}\r\n${get('/echo/2')}\r\n\r\n`, 2);
    await until(() => gateway.views.length > 0);
    resolve(undefined);
    expect(await answer).toMatchObject({ statuses: [200, 200], closed: false });
  });

  it('are served although invalid bytes follow, and then the connection closes', async () => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const { gateway } = await pair(() => OK, { decide: () => promise });
    const answer = sendRaw(gateway.port, `${get('/echo/1')}${get('/echo/2')}\u0000\u0000\r\n\r\n`, 3);
    await until(() => gateway.views.length > 0);
    resolve(undefined);
    expect(await answer).toMatchObject({ statuses: [200, 200], closed: true });
  });

  it.each([
    { plane: 'general', observed: 3 },
    // The fast plane has not parsed the requests after the first one.
    { plane: 'fast', observed: 1 },
  ] as const)(
    'FWD-17: are observed when the client disconnects, and no further one is forwarded: $plane',
    async ({ plane, observed }) => {
      const { upstream, gateway } = await pair(() => undefined, { plane });
      const socket = connect(gateway.port, '127.0.0.1');
      socket.write(three);
      await until(() => upstream.requests.length > 0);
      socket.destroy();
      await until(() => gateway.outcomes.length === observed);
      expect(gateway.outcomes.map(({ status, aborted }) => ({ status, aborted }))).toEqual(
        Array(observed).fill({ status: 499, aborted: true }),
      );
      await until(() => upstream.sockets.size === 0);
      expect(upstream.requests.map(pathOf)).toEqual(['/echo/1']);
    },
  );
});
