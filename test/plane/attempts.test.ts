// Which target a call uses, over real sockets: connection limits, retries, and names whose address changes.
import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { atOnce } from '../../gateway/system/time-slices.ts';
import { createDeadlines, type Deadline, processClock } from '../../gateway/upstream/deadlines.ts';
import { plan, upstream as sample } from '../support/exchange-samples.ts';
import { freePorts } from '../support/ports.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { startWebSocketUpstream } from '../support/websocket-upstream.ts';
import { forEachTest, whenComplete } from './gateway-pair.ts';
import type { GatewayOptions } from './gateway-under-test.ts';
import { get, OK, type RawRequest, sendRaw, until } from './raw-sockets.ts';

const { defer, gatewayTo, upstreamThat } = forEachTest();
const unusedOrigin = async (): Promise<string> => {
  const [port] = await freePorts(1);
  return `http://127.0.0.1:${port}`;
};

const CLOSE = ['Connection: close'];
const silent = (): undefined => undefined;
const reset = ({ socket }: RawRequest): undefined => void socket.resetAndDestroy();
const NARROW = { max: 1, queue: 1, waitMs: 60_000 };

it('the deadline of a finished request is removed', async () => {
  const begun: Deadline[] = [];
  const start = createDeadlines(processClock);
  const startDeadline: typeof start = (ms, onExpired) => {
    const deadline = start(ms, onExpired);
    begun.push(deadline);
    return deadline;
  };
  const upstream = await upstreamThat(() => OK);
  const gateway = await gatewayTo([upstream.origin], {}, { startDeadline });
  await sendRaw(gateway.port, get('/echo', CLOSE));
  await until(() => gateway.outcomes.length === 1);
  expect(begun.map((deadline) => deadline.next === deadline)).toEqual([true]);
});

describe('slots of a target', () => {
  it('a request waits for a slot, and gets upstream_busy if the queue is full', async () => {
    const upstream = await upstreamThat(silent);
    const gateway = await gatewayTo([upstream.origin], { connections: NARROW });
    const first = sendRaw(gateway.port, get());
    await until(() => upstream.requests.length === 1);
    const second = sendRaw(gateway.port, get('/echo/second', CLOSE));
    await until(() => gateway.views.length === 2);
    const third = await sendRaw(gateway.port, get('/echo/third', CLOSE));
    expect([third.statuses, gateway.facts[2]?.completion.fault?.code]).toEqual([[503], 'upstream_busy']);
    expect(upstream.requests).toHaveLength(1);
    upstream.requests[0]?.socket.write(OK);
    expect((await first).statuses).toEqual([200]);
    await until(() => upstream.requests.length === 2);
    upstream.requests[1]?.socket.write(OK);
    expect((await second).statuses).toEqual([200]);
  });

  it('slow uploads occupy at most half of the slots', async () => {
    const upstream = await upstreamThat(
      ({ head }) => (head.startsWith('GET') ? OK : undefined),
      whenComplete,
    );
    const connections = { max: 2, queue: 0, waitMs: 60_000 };
    const gateway = await gatewayTo([upstream.origin], { connections });
    const slow = connect(gateway.port, '127.0.0.1');
    defer(async () => void slow.destroy());
    slow.write(get('/echo/slow', ['Content-Length: 2'], 'POST', 'x'));
    await until(() => upstream.requests.length === 1);
    const second = await sendRaw(gateway.port, get('/echo', ['Content-Length: 2', ...CLOSE], 'POST', 'x'));
    expect([second.statuses, gateway.facts[1]?.completion.fault?.code]).toEqual([[503], 'upstream_busy']);
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([200]);
    const whole = get('/echo', ['Content-Length: 2', ...CLOSE], 'POST', 'xy');
    expect((await sendRaw(gateway.port, whole)).statuses).toEqual([200]);
    expect(upstream.requests).toHaveLength(3);
    // After its last octet, the upload counts like any other request.
    slow.write('y');
    await until(() => upstream.requests[0]?.complete === true);
  });

  it('a request that has waited for `wait` gets 503', async () => {
    const upstream = await upstreamThat(silent);
    const gateway = await gatewayTo([upstream.origin], { connections: { ...NARROW, waitMs: 50 } });
    void sendRaw(gateway.port, get()).catch(() => undefined);
    await until(() => upstream.requests.length === 1);
    const second = await sendRaw(gateway.port, get('/echo', CLOSE));
    expect(second.statuses).toEqual([503]);
  });

  it('a request that waits for a slot during a reload is served', async () => {
    const upstream = await upstreamThat(silent);
    const gateway = await gatewayTo([upstream.origin], { connections: { ...NARROW, queue: 9 } });
    const answers = [1, 2, 3].map((number) => sendRaw(gateway.port, get(`/echo/${number}`, CLOSE)));
    await until(() => upstream.requests.length === 1 && gateway.views.length === 3);
    atOnce(gateway.upstreams.keepSteps(plan([])));
    for (const count of [1, 2, 3]) {
      await until(() => upstream.requests.length === count);
      upstream.requests.at(-1)?.socket.write(OK);
    }
    for (const answer of answers) expect((await answer).statuses).toEqual([200]);
    await until(() => upstream.sockets.size === 0);
  });

  it('a request of a replaced plan leaves no connection pool of its target', async () => {
    const upstream = await upstreamThat();
    const gateway = await gatewayTo([upstream.origin]);
    atOnce(gateway.upstreams.keepSteps(plan([])));
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([200]);
    expect(gateway.upstreams.pools.size()).toBe(0);
  });

  it('a client that disconnects frees its slot or its place in the queue', async () => {
    const upstream = await upstreamThat(silent);
    const gateway = await gatewayTo([upstream.origin], { connections: { ...NARROW, queue: 9 } });
    const clients = [1, 2, 3].map(() => connect(gateway.port, '127.0.0.1'));
    for (const [index, client] of clients.entries()) {
      client.write(get());
      await until(() => gateway.views.length === index + 1);
    }
    await until(() => upstream.requests.length === 1);
    clients[1]?.destroy();
    await until(() => gateway.outcomes.length === 1);
    clients[0]?.destroy();
    await until(() => upstream.requests.length === 2);
    expect(upstream.requests).toHaveLength(2);
    clients[2]?.destroy();
  });

  it('a target that hangs does not delay requests to another target', async () => {
    const hanging = await upstreamThat(silent);
    const well = await upstreamThat();
    const gateway = await gatewayTo([hanging.origin, well.origin], { connections: NARROW });
    void sendRaw(gateway.port, get()).catch(() => undefined);
    await until(() => hanging.requests.length === 1);
    for (const _ of [1, 2, 3, 4]) void sendRaw(gateway.port, get()).catch(() => undefined);
    await until(() => well.requests.length >= 2);
    expect(hanging.requests).toHaveLength(1);
  });

  it('an open WebSocket occupies a slot until it closes', async () => {
    await using upstream = await startWebSocketUpstream();
    const gateway = await gatewayTo([upstream.url], { connections: { ...NARROW, queue: 0 } });
    const open = () => openWebSocket(gateway.port, '/echo', { tls: false, host: 'api.example.com' });
    using first = await open();
    expect(first.status).toBe(101);
    using second = await open();
    expect([second.status, JSON.parse(second.body())]).toEqual([503, { error: 'upstream_busy' }]);
    first[Symbol.dispose]();
    await vi.waitFor(async () => {
      using third = await open();
      expect(third.status).toBe(101);
    }, 4_000);
  });
});

describe('a retry', () => {
  it.each(['GET', 'POST'])('FWD-16: a %s whose target is unreachable goes to another', async (method) => {
    const well = await upstreamThat(silent, whenComplete);
    const gateway = await gatewayTo([await unusedOrigin(), well.origin]);
    const request = method === 'GET' ? get() : get('/echo', ['Content-Length: 4'], 'POST', 'body');
    const answering = sendRaw(gateway.port, request);
    await until(() => well.requests.length === 1);
    if (method === 'GET') well.requests[0]?.socket.write(OK);
    expect((await answering).statuses).toEqual([200]);
    if (method === 'POST') expect(well.requests[0]?.body).toBe('body');
  });

  it('a POST whose connection was reset is not retried', async () => {
    const breaking = await upstreamThat(reset);
    const well = await upstreamThat();
    const gateway = await gatewayTo([breaking.origin, well.origin]);
    const answer = await sendRaw(gateway.port, get('/echo', ['Content-Length: 4'], 'POST', 'body'));
    expect(answer.statuses).toEqual([502]);
    expect([breaking.requests.length, well.requests.length]).toEqual([1, 0]);
  });

  it('FWD-16: a GET that was reset before its response is retried once, at another target', async () => {
    const breaking = await upstreamThat(reset);
    const second = await upstreamThat(reset);
    const gateway = await gatewayTo([breaking.origin, second.origin]);
    const answer = await sendRaw(gateway.port, get('/echo', CLOSE));
    expect(answer.statuses).toEqual([502]);
    expect([breaking.requests.length, second.requests.length]).toEqual([1, 1]);
    expect(gateway.facts[0]?.completion.retries).toBe(1);
  });

  it('FWD-16: a GET is not retried once a byte of its response has arrived', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.end('HTTP/1.1 2'));
    const gateway = await gatewayTo([upstream.origin]);
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([502]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('no request is retried if retries are off', async () => {
    const upstream = await upstreamThat(reset);
    const gateway = await gatewayTo([upstream.origin], { retries: undefined });
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([502]);
    expect(upstream.requests).toHaveLength(1);
    expect(gateway.facts[0]?.completion.retries).toBe(0);
  });

  it('FWD-16: requests fail without a retry once the retry budget is used', async () => {
    const upstream = await upstreamThat(reset);
    const gateway = await gatewayTo([upstream.origin]);
    for (let count = 0; count < 15; count += 1) await sendRaw(gateway.port, get('/echo', CLOSE));
    // Fifteen calls and ten retries, the minimum of the budget in ten seconds.
    expect(upstream.requests).toHaveLength(25);
  });

  it('a request that timed out at its target is not retried', async () => {
    const upstream = await upstreamThat(silent);
    const timeouts = { ...sample.timeouts, connect: 1_000, headers: 100, idle: 1_000, total: 1_000 };
    const gateway = await gatewayTo([upstream.origin], { timeouts });
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([504]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('a WebSocket whose target is unreachable goes to another', async () => {
    await using upstream = await startWebSocketUpstream();
    const gateway = await gatewayTo([await unusedOrigin(), upstream.url]);
    using client = await openWebSocket(gateway.port, '/echo', { tls: false, host: 'api.example.com' });
    expect(client.status).toBe(101);
    client.send('hello');
    expect((await client.received(1))[0]?.payload.toString()).toBe('hello');
  });
});

describe('a host name whose address changes', () => {
  it('connections to the old address are closed, and stay while the lookup finds no address', async () => {
    const upstream = await upstreamThat();
    const port = new URL(upstream.origin).port;
    let addresses = ['127.0.0.1'];
    const findAddresses: NonNullable<GatewayOptions['reach']>['findAddresses'] = (_name, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      );
    const gateway = await gatewayTo(
      [`http://orders.internal:${port}`],
      {},
      {
        reach: { findAddresses, lookupEveryMs: 40 },
      },
    );
    await sendRaw(gateway.port, get());
    const [socket] = upstream.sockets;
    addresses = [];
    await sendRaw(gateway.port, get());
    expect([...upstream.sockets]).toEqual([socket]);
    addresses = ['127.0.0.2'];
    // Repeated calls keep the old connection from being idle.
    await expect.poll(async () => (await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([502]);
    await until(() => upstream.sockets.size === 0);
  });
});
