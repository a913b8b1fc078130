// Calls over real sockets from the choice of a target to the end of an answer: places, second tries, sizes, interim answers.
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { atOnce } from '../../gateway/plan/in-slices.ts';
import type { UpstreamPlan } from '../../gateway/plan/plan.ts';
import { createNotice } from '../../gateway/policy/body-notice/notice.ts';
import { type GatewayOptions, type GatewayUnderTest, startGateway } from '../server/gateway-under-test.ts';
import {
  get,
  OK,
  type RawRequest,
  type RawUpstream,
  sendRaw,
  startUpstream,
  until,
} from '../server/raw-sockets.ts';
import { plan, upstream as sample } from '../support/exchange-samples.ts';
import { freePorts } from '../support/ports.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { startWebSocketUpstream } from '../support/websocket-upstream.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function upstreamThat(
  answer?: (request: RawRequest, count: number) => string | undefined,
  onBody?: (request: RawRequest) => string | undefined,
): Promise<RawUpstream> {
  const upstream = await startUpstream(answer, onBody);
  cleanups.push(upstream.stop);
  return upstream;
}

async function gatewayTo(
  origins: readonly string[],
  changes: Partial<UpstreamPlan> = {},
  options: GatewayOptions = {},
): Promise<GatewayUnderTest> {
  const targets = origins.map((origin) => ({ origin }));
  const gateway = await startGateway({ ...options, plan: { targets, ...changes } });
  cleanups.push(gateway.stop);
  return gateway;
}

const nobody = async (): Promise<string> => {
  const [port] = await freePorts(1);
  return `http://127.0.0.1:${port}`;
};

const CLOSE = ['Connection: close'];
const silent = (): undefined => undefined;
const whenComplete = ({ complete }: RawRequest): string | undefined => (complete ? OK : undefined);
const reset = ({ socket }: RawRequest): undefined => void socket.resetAndDestroy();
const NARROW = { max: 1, queue: 1, waitMs: 60_000 };

describe('places at a target', () => {
  it('promise 22: what finds neither place nor room to wait is upstream_busy at once; who waits is served in turn', async () => {
    const upstream = await upstreamThat(silent);
    const gateway = await gatewayTo([upstream.origin], { connections: NARROW });
    const first = sendRaw(gateway.port, get());
    await until(() => upstream.requests.length === 1);
    const second = sendRaw(gateway.port, get('/echo/second', CLOSE));
    await until(() => gateway.views.length === 2);
    const third = await sendRaw(gateway.port, get('/echo/third', CLOSE));
    expect([third.statuses, gateway.facts[2]?.fault]).toEqual([[503], 'upstream_busy']);
    expect(upstream.requests).toHaveLength(1);
    upstream.requests[0]?.socket.write(OK);
    expect((await first).statuses).toEqual([200]);
    await until(() => upstream.requests.length === 2);
    upstream.requests[1]?.socket.write(OK);
    expect((await second).statuses).toEqual([200]);
  });

  it('promise 11: clients that send their bodies slowly leave half of the places to others', async () => {
    const upstream = await upstreamThat(
      ({ head }) => (head.startsWith('GET') ? OK : undefined),
      whenComplete,
    );
    const connections = { max: 2, queue: 0, waitMs: 60_000 };
    const gateway = await gatewayTo([upstream.origin], { connections });
    const slow = connect(gateway.port, '127.0.0.1');
    cleanups.push(async () => void slow.destroy());
    slow.write(get('/echo/slow', ['Content-Length: 2'], 'POST', 'x'));
    await until(() => upstream.requests.length === 1);
    const second = await sendRaw(gateway.port, get('/echo', ['Content-Length: 2', ...CLOSE], 'POST', 'x'));
    expect([second.statuses, gateway.facts[1]?.fault]).toEqual([[503], 'upstream_busy']);
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([200]);
    const whole = get('/echo', ['Content-Length: 2', ...CLOSE], 'POST', 'xy');
    expect((await sendRaw(gateway.port, whole)).statuses).toEqual([200]);
    expect(upstream.requests).toHaveLength(3);
    // With the last octet it is like any other.
    slow.write('y');
    await until(() => upstream.requests[0]?.complete === true);
  });

  it('who has waited for `wait` is upstream_busy', async () => {
    const upstream = await upstreamThat(silent);
    const gateway = await gatewayTo([upstream.origin], { connections: { ...NARROW, waitMs: 50 } });
    void sendRaw(gateway.port, get()).catch(() => undefined);
    await until(() => upstream.requests.length === 1);
    const second = await sendRaw(gateway.port, get('/echo', CLOSE));
    expect(second.statuses).toEqual([503]);
  });

  it('promise 1: one that waits while a reload changes how its target is reached is not lost', async () => {
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

  it('a client that leaves gives its place back, and one that waits its turn', async () => {
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

  it('promise 22: a target that hangs holds up nobody who is sent to another', async () => {
    const hanging = await upstreamThat(silent);
    const well = await upstreamThat();
    const gateway = await gatewayTo([hanging.origin, well.origin], { connections: NARROW });
    void sendRaw(gateway.port, get()).catch(() => undefined);
    await until(() => hanging.requests.length === 1);
    for (const _ of [1, 2, 3, 4]) void sendRaw(gateway.port, get()).catch(() => undefined);
    await until(() => well.requests.length >= 2);
    expect(hanging.requests).toHaveLength(1);
  });

  it('an open WebSocket has a place, until it is closed', async () => {
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

describe('a second try', () => {
  it.each(['GET', 'POST'])('FWD-16: a %s whose target cannot be reached goes to another', async (method) => {
    const well = await upstreamThat(silent, whenComplete);
    const gateway = await gatewayTo([await nobody(), well.origin]);
    const request = method === 'GET' ? get() : get('/echo', ['Content-Length: 4'], 'POST', 'body');
    const answering = sendRaw(gateway.port, request);
    await until(() => well.requests.length === 1);
    if (method === 'GET') well.requests[0]?.socket.write(OK);
    expect((await answering).statuses).toEqual([200]);
    if (method === 'POST') expect(well.requests[0]?.body).toBe('body');
  });

  it('promise 17: a POST that was broken off goes nowhere else', async () => {
    const breaking = await upstreamThat(reset);
    const well = await upstreamThat();
    const gateway = await gatewayTo([breaking.origin, well.origin]);
    const answer = await sendRaw(gateway.port, get('/echo', ['Content-Length: 4'], 'POST', 'body'));
    expect(answer.statuses).toEqual([502]);
    expect([breaking.requests.length, well.requests.length]).toEqual([1, 0]);
  });

  it('FWD-16: a GET that was broken off without a byte is sent to another target, once', async () => {
    const breaking = await upstreamThat(reset);
    const second = await upstreamThat(reset);
    const gateway = await gatewayTo([breaking.origin, second.origin]);
    const answer = await sendRaw(gateway.port, get('/echo', CLOSE));
    expect(answer.statuses).toEqual([502]);
    expect([breaking.requests.length, second.requests.length]).toEqual([1, 1]);
  });

  it('FWD-16: a GET of whose answer a byte has come is not sent again', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.end('HTTP/1.1 2'));
    const gateway = await gatewayTo([upstream.origin]);
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([502]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('with retries off no request is sent twice', async () => {
    const upstream = await upstreamThat(reset);
    const gateway = await gatewayTo([upstream.origin], { retries: undefined });
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([502]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('FWD-16: beyond the budget failures are passed on', async () => {
    const upstream = await upstreamThat(reset);
    const gateway = await gatewayTo([upstream.origin]);
    for (let count = 0; count < 15; count += 1) await sendRaw(gateway.port, get('/echo', CLOSE));
    // Ten seconds' worth of the least there is.
    expect(upstream.requests).toHaveLength(25);
  });

  it('no target that does not answer in time is asked twice', async () => {
    const upstream = await upstreamThat(silent);
    const timeouts = { ...sample.timeouts, connect: 1_000, headers: 100, idle: 1_000, total: 1_000 };
    const gateway = await gatewayTo([upstream.origin], { timeouts });
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([504]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('a WebSocket whose target cannot be reached goes to another', async () => {
    await using upstream = await startWebSocketUpstream();
    const gateway = await gatewayTo([await nobody(), upstream.url]);
    using client = await openWebSocket(gateway.port, '/echo', { tls: false, host: 'api.example.com' });
    expect(client.status).toBe(101);
    client.send('hello');
    expect((await client.received(1))[0]?.payload.toString()).toBe('hello');
  });
});

describe('a body beyond its bound', () => {
  const chunk = (size: number): string => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`;
  const CHUNKED = ['Transfer-Encoding: chunked'];

  it('SMG-12: extensions that are small in each chunk and large together are 413, and the connection ends', async () => {
    const upstream = await upstreamThat(silent, whenComplete);
    const gateway = await gatewayTo([upstream.origin]);
    const padded = (count: number, octets: number): string =>
      `1;${'e'.repeat(octets)}\r\nx\r\n`.repeat(count);
    const { statuses, closed } = await sendRaw(
      gateway.port,
      get('/echo', CHUNKED, 'POST', `${padded(40, 8_000)}0\r\n\r\n${get('/echo/canary')}`),
    );
    expect([statuses, closed, gateway.facts[0]?.refusal]).toEqual([[413], true, 'request_malformed']);
    expect(gateway.views).toHaveLength(1);
    expect(upstream.requests.every(({ complete }) => !complete)).toBe(true);
    // A byte in each chunk, and a signature now and then, are what honest clients send.
    const honest = `${padded(20_000, 3)}${padded(100, 100)}0\r\n\r\n`;
    const answer = await sendRaw(gateway.port, get('/echo', [...CHUNKED, ...CLOSE], 'POST', honest));
    expect(answer.statuses).toEqual([200]);
  });

  it('SMG-12: so are they behind another request, with which they were read', async () => {
    const upstream = await upstreamThat(
      (request) => (request.head.startsWith('GET') ? OK : undefined),
      whenComplete,
    );
    const gateway = await gatewayTo([upstream.origin]);
    const padded = `1;${'e'.repeat(8_000)}\r\nx\r\n`.repeat(40);
    const bytes = get('/echo') + get('/echo', CHUNKED, 'POST', `${padded}0\r\n\r\n`) + get('/echo/canary');
    // Promise 7: what is refused for its framing ends its connection, though its end was found.
    expect(await sendRaw(gateway.port, bytes, 3)).toMatchObject({ statuses: [200, 413], closed: true });
    expect(upstream.requests).toHaveLength(1);
  });

  it('SMG-12: what stands behind a body on its connection is none of its framing', async () => {
    const upstream = await upstreamThat(
      (request) => (request.head.startsWith('GET') ? OK : undefined),
      whenComplete,
    );
    const gateway = await gatewayTo([upstream.origin]);
    const followers = get('/echo', ['Content-Length: 60000'], 'PUT', 'x'.repeat(60_000)).repeat(4);
    const bytes = get('/echo') + get('/echo', CHUNKED, 'PUT', `${chunk(1)}0\r\n\r\n`) + followers;
    const { statuses } = await sendRaw(gateway.port, bytes, 6);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it('SMG-24: a chunked one that grows too large is 413, and no upstream takes it for whole', async () => {
    const upstream = await upstreamThat(silent, whenComplete);
    const gateway = await gatewayTo([upstream.origin], {}, { order: { maxBody: 1_000 } });
    const answer = await sendRaw(
      gateway.port,
      get('/echo', CHUNKED, 'POST', `${chunk(900)}${chunk(200)}0\r\n\r\n`),
    );
    expect([answer.statuses, answer.closed]).toEqual([[413], true]);
    expect(gateway.facts[0]?.refusal).toBe('body_too_large');
    await until(() => upstream.sockets.size === 0);
    expect(upstream.requests.every(({ complete }) => !complete)).toBe(true);
  });

  it('one of exactly the bound passes', async () => {
    const upstream = await upstreamThat(silent, whenComplete);
    const gateway = await gatewayTo([upstream.origin], {}, { order: { maxBody: 1_000 } });
    const body = `${chunk(900)}${chunk(100)}0\r\n\r\n`;
    expect((await sendRaw(gateway.port, get('/echo', CHUNKED, 'POST', body))).statuses).toEqual([200]);
  });

  it('FWD-17: one that outgrows it behind the head of an answer resets the connection', async () => {
    const upstream = await upstreamThat(() => 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    const gateway = await gatewayTo([upstream.origin], {}, { order: { maxBody: 1_000 } });
    const socket = connect(gateway.port, '127.0.0.1');
    cleanups.push(async () => void socket.destroy());
    socket.on('error', () => undefined);
    let received = '';
    socket.on('data', (bytes: Buffer) => {
      received += bytes.toString('latin1');
    });
    socket.write(get('/echo', CHUNKED, 'POST', chunk(900)));
    await until(() => received.endsWith('half'));
    socket.write(chunk(200));
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
    expect(gateway.facts[0]?.refusal).toBe('body_too_large');
    expect(gateway.outcomes).toMatchObject([{ status: 200, aborted: true }]);
  });
});

describe('FWD-13: interim answers', () => {
  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';
  it.each([
    ['100', CONTINUE],
    ['100 with fields', 'HTTP/1.1 100 Continue\r\nX-A: 1\r\nX-B: 2\r\n\r\n'],
    ['100 without a reason', 'HTTP/1.1 100\r\n\r\n'],
    ['100 twice', CONTINUE + CONTINUE],
    ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['103 between two', CONTINUE + HINTS + HINTS],
  ])('%s is passed over, on one connection after another', async (_, interim) => {
    const upstream = await upstreamThat(() => interim + OK);
    const gateway = await gatewayTo([upstream.origin]);
    for (const _ of [1, 2]) {
      const { statuses, text } = await sendRaw(gateway.port, get());
      expect([statuses, text.endsWith('ok')]).toEqual([[200], true]);
    }
    expect(upstream.sockets.size).toBe(1);
  });

  it('a multitude of them is passed over, and no end of them is upstream_invalid', async () => {
    const upstream = await upstreamThat((_, count) => HINTS.repeat(count === 1 ? 100 : 101) + OK);
    const gateway = await gatewayTo([upstream.origin]);
    for (const status of [200, 502]) expect((await sendRaw(gateway.port, get())).statuses).toEqual([status]);
    expect(gateway.facts.map(({ fault }) => fault)).toEqual([undefined, 'upstream_invalid']);
    await until(() => upstream.sockets.size === 0);
  });

  it('100 that comes byte by byte is passed over too', async () => {
    const upstream = await upstreamThat(silent);
    const gateway = await gatewayTo([upstream.origin]);
    const answering = sendRaw(gateway.port, get());
    await until(() => upstream.requests.length === 1);
    const socket = upstream.requests[0]?.socket;
    socket?.setNoDelay(true);
    for (const byte of CONTINUE + OK) {
      socket?.write(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await answering).statuses).toEqual([200]);
  });

  it('a body that says 100 is a body', async () => {
    const body = `${CONTINUE}HTTP/1.1 100 Continue`;
    const upstream = await upstreamThat(
      () => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const gateway = await gatewayTo([upstream.origin]);
    const { text } = await sendRaw(gateway.port, get('/echo', CLOSE));
    expect(text.endsWith(`\r\n\r\n${body}`)).toBe(true);
  });

  it('nothing but 100 is no answer', async () => {
    const upstream = await upstreamThat(({ socket }) => void socket.end(CONTINUE));
    const gateway = await gatewayTo([upstream.origin]);
    expect((await sendRaw(gateway.port, get('/echo', CLOSE))).statuses).toEqual([502]);
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('what the policy changes', () => {
  const headerRules = {
    request: { set: { 'x-tenant': 'acme', authorization: 'Basic eDp5' }, remove: ['x-debug'] },
    response: { set: { 'x-frame-options': 'DENY' }, remove: ['server', 'x-powered-by'] },
  };

  it('sets and removes fields in both directions, whatever was there', async () => {
    const upstream = await upstreamThat(
      () =>
        'HTTP/1.1 200 OK\r\nServer: x/1\r\nX-Powered-By: y\r\nX-Frame-Options: ALLOWALL\r\nContent-Length: 0\r\n\r\n',
    );
    const gateway = await gatewayTo([upstream.origin], {}, { order: { headerRules } });
    const lines = ['X-Tenant: evil', 'X-Debug: 1', 'Authorization: Bearer t', 'X-Kept: 1'];
    const { text } = await sendRaw(gateway.port, get('/echo', lines));
    const head = upstream.requests[0]?.head ?? '';
    expect(head.match(/\r\nx-tenant: .*/gi)).toEqual(['\r\nx-tenant: acme']);
    expect(head.match(/\r\nauthorization: .*/gi)).toEqual(['\r\nauthorization: Basic eDp5']);
    expect(head).toContain('\r\nx-kept: 1');
    expect(head).not.toMatch(/x-debug/i);
    expect(text).toMatch(/\r\nx-frame-options: DENY\r\n/);
    expect(text).not.toMatch(/server:|x-powered-by|ALLOWALL/i);
  });

  it('holds for WebSockets too', async () => {
    await using upstream = await startWebSocketUpstream();
    const gateway = await gatewayTo([upstream.url], { host: 'chat.internal' }, { order: { headerRules } });
    using client = await openWebSocket(gateway.port, '/echo', { tls: false, host: 'api.example.com' });
    expect(client.headers['x-frame-options']).toBe('DENY');
    expect(upstream.seen[0]?.headers).toMatchObject({ 'x-tenant': 'acme', host: 'chat.internal' });
  });

  it('the Host an upstream gets is the one of its section', async () => {
    const upstream = await upstreamThat();
    const gateway = await gatewayTo([upstream.origin], { host: 'orders.internal:81' });
    await sendRaw(gateway.port, get());
    expect(upstream.requests[0]?.head.match(/\r\nhost: .*/gi)).toEqual(['\r\nhost: orders.internal:81']);
  });
});

describe('an answer that is held back', () => {
  it('FWD-18: is upstream_invalid where its head cannot be written, as one that is not held', async () => {
    const fields = 'Content-Type: application/json\r\nContent-Length: 2';
    const upstream = await upstreamThat(() => `HTTP/1.1 200 OK\r\n${fields}\r\n\r\n{}`);
    // No policy can say so: it stands for whatever Node refuses.
    const response = { set: { 'x-bad': 'a\nb' }, remove: [] };
    const headerRules = { request: { set: {}, remove: [] }, response };
    const notice = createNotice({
      sunset: Date.UTC(2026, 5, 1),
      replacement: undefined,
      guide: undefined,
      reason: undefined,
    });
    for (const order of [{ headerRules }, { headerRules, notice }]) {
      const gateway = await gatewayTo([upstream.origin], {}, { order });
      const { statuses } = await sendRaw(gateway.port, get('/echo', CLOSE));
      expect([statuses, gateway.facts[0]?.fault]).toEqual([[502], 'upstream_invalid']);
    }
  });
});

describe('a host name that moves', () => {
  it('connections to an address it no longer has are let go; without an answer they stay', async () => {
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
    await until(() => upstream.sockets.size === 0);
  });
});
