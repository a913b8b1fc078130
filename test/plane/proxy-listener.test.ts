// How a listener treats its connections: expectations, unread bodies, deadlines, plain HTTP, drain.
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { drain } from '../../gateway/server/public-listeners.ts';
import { HANDSHAKE } from '../support/websocket-client.ts';
import { type Answering, type AnsweringBody, forEachTest } from './gateway-pair.ts';
import type { GatewayOptions } from './gateway-under-test.ts';
import { get, OK, openRaw, sendRaw, until } from './raw-sockets.ts';

const { defer, pair: pairOf } = forEachTest();
const pair = (options: GatewayOptions = {}, answer?: Answering, onBody?: AnsweringBody) =>
  pairOf(answer, options, onBody);

/** The upstream's response to `HANDSHAKE`. */
const SWITCHED = [
  'HTTP/1.1 101 Switching Protocols',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
  '',
  '',
].join('\r\n');
const refuseAll: GatewayOptions = { decide: () => ({ reason: 'credentials_missing' }) };

describe('FWD-10, FWD-12: request bodies that the gateway has not read yet', () => {
  it('the gateway sends 100 once it forwards the request, and then forwards the body', async () => {
    const { gateway, upstream } = await pair(
      {},
      () => undefined,
      ({ complete }) => (complete ? OK : undefined),
    );
    const head = get('/echo', ['Expect: 100-continue', 'Content-Length: 5'], 'POST');
    const { text, statuses } = await sendRaw(gateway.port, `${head}hello`);
    expect(statuses).toEqual([100, 200]);
    expect(text.startsWith('HTTP/1.1 100 ')).toBe(true);
    expect(upstream.requests[0]?.head).not.toMatch(/expect/i);
    expect(upstream.requests[0]?.body).toBe('hello');
  });

  it('a refusal replaces 100 and closes the connection', async () => {
    const { gateway, upstream } = await pair(refuseAll);
    const { statuses, closed } = await sendRaw(
      gateway.port,
      get('/echo', ['Expect: 100-continue', 'Content-Length: 5'], 'POST'),
    );
    expect({ statuses, closed }).toEqual({ statuses: [401], closed: true });
    expect(upstream.requests).toHaveLength(0);
  });

  it('a client that keeps sending a large body gets the whole refusal', async () => {
    const { gateway } = await pair(refuseAll);
    const size = 5_000_000;
    const answer = await sendRaw(
      gateway.port,
      get('/echo', [`Content-Length: ${size}`], 'POST', 'x'.repeat(size)) + get(),
    );
    expect(answer).toMatchObject({ statuses: [401], closed: true });
    expect(answer.text).toContain('"credentials_missing"');
  });

  it('the connection stays open after the refusal of a request without a body', async () => {
    const { gateway } = await pair(refuseAll);
    expect(await sendRaw(gateway.port, get() + get(), 2)).toMatchObject({
      statuses: [401, 401],
      closed: false,
    });
  });

  it('the connection closes after a response that comes before the body was read', async () => {
    const { gateway, upstream } = await pair(
      {},
      () => 'HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig',
    );
    const body = get('/echo/canary').padEnd(3_000_000, 'x');
    const answer = await sendRaw(
      gateway.port,
      get('/echo', [`Content-Length: ${body.length + 10}`], 'POST', body),
    );
    expect(answer).toMatchObject({ statuses: [413], closed: true });
    expect(upstream.requests).toHaveLength(1);
  });
});

describe('TLS-5: plain HTTP', () => {
  it('mode reject refuses every request with 400 and closes the connection', async () => {
    const { gateway, upstream } = await pair({ mode: 'reject' });
    const answer = await sendRaw(gateway.port, get() + get());
    expect(answer).toMatchObject({ statuses: [400], closed: true });
    expect(answer.text).toContain('plain_http');
    expect(upstream.requests).toHaveLength(0);
    expect(gateway.views).toHaveLength(0);
  });
});

describe('deadlines', () => {
  it.each([false, true])(
    'SMG-24: a header section that does not end in time gets 408 (TLS: %s)',
    async (tls) => {
      const { gateway } = await pair({ tls, bounds: { headersMs: 300 } });
      const start = 'GET /echo HTTP/1.1\r\nHost: api.exam';
      const text = await new Promise<string>((resolve) => {
        let read = '';
        const to = { port: gateway.port, host: '127.0.0.1' };
        const socket = tls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
        socket.write(start);
        socket.on('data', (chunk) => {
          read += chunk.toString('latin1');
        });
        socket.on('close', () => resolve(read));
      });
      expect(text).toMatch(/^HTTP\/1\.1 408 /);
      // TLS-6: HSTS depends on the scheme, which is known without a request.
      expect(text).toContain(`\r\nx-scheme: ${tls ? 'https' : 'http'}\r\n`);
    },
  );
});

describe('observation', () => {
  it('counts each request once, with its bytes', async () => {
    const { gateway } = await pair({}, () => OK);
    await sendRaw(gateway.port, get('/echo/a?secret=1', ['User-Agent: t']));
    await sendRaw(gateway.port, 'garbage\r\n\r\n');
    await until(() => gateway.outcomes.length === 2);
    expect(gateway.outcomes).toMatchObject([
      {
        method: 'GET',
        path: '/echo/a',
        status: 200,
        bytes: 2,
        clientAddress: '127.0.0.1',
        scheme: 'http',
        userAgent: 't',
      },
      { method: '-', path: '-', status: 400, aborted: false },
    ]);
  });
});

describe('memory', () => {
  it('an idle connection and an open WebSocket keep no finished request in memory', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const { gateway } = await pair({}, ({ head }) => (/\r\nupgrade:/i.test(head) ? SWITCHED : OK));
    for (const bytes of [
      get(),
      get() + get('/nowhere'),
      get('/echo', ['Content-Length: 3'], 'POST', 'abc'),
      get('/echo', ['Transfer-Encoding: chunked'], 'POST', '3\r\nabc\r\n0\r\n\r\n'),
      get('/echo', HANDSHAKE),
    ]) {
      const socket = connect(gateway.port, '127.0.0.1').resume();
      defer(async () => void socket.destroy());
      socket.write(bytes);
    }
    await until(() => gateway.outcomes.length === 6);
    expect(gateway.outcomes.map(({ status }) => status).sort()).toEqual([101, 200, 200, 200, 200, 404]);
    gateway.views.length = 0;
    const facts = gateway.facts.splice(0).map((each) => new WeakRef(each));
    expect(facts).toHaveLength(6);
    await until(() => {
      collect();
      return facts.every((each) => each.deref() === undefined);
    });
    expect(gateway.listener.connections()).toBe(5);
  });
});

describe('drain', () => {
  it('reports not ready first, then finishes open requests and closes idle connections', async () => {
    const { gateway, upstream } = await pair({}, () => undefined);
    const idle = connect(gateway.port, '127.0.0.1');
    let idleEnded = false;
    idle.resume().on('end', () => {
      idleEnded = true;
    });
    const running = sendRaw(gateway.port, get());
    await until(() => upstream.requests.length === 1 && gateway.listener.connections() === 2);
    const order: string[] = [];
    const drained = drain({
      listeners: [gateway.listener],
      onDraining: () => void order.push('not ready'),
      waitMs: 0,
      timeoutMs: 5_000,
    });
    order.push('stopping');
    await until(() => idleEnded);
    await expect(sendRaw(gateway.port, get())).resolves.toMatchObject({ statuses: [] });
    upstream.requests[0]?.socket.write(OK);
    expect(await running).toMatchObject({ statuses: [200], closed: true });
    expect((await running).text).toMatch(/connection: close/i);
    expect(await drained).toBe(true);
    expect(order).toEqual(['not ready', 'stopping']);
  });

  it('an idle connection closes at once, and one with a partial head gets a grace period', async () => {
    const { gateway } = await pair({}, () => OK);
    const ends = new Set<string>();
    const open = (name: string) => {
      const socket = connect(gateway.port, '127.0.0.1');
      socket.resume().on('end', () => ends.add(name));
      return socket;
    };
    const begun = open('begun');
    begun.write('GET /echo HT');
    const kept = open('kept');
    kept.write(get());
    await until(() => gateway.outcomes.length === 1 && gateway.listener.connections() === 2);
    const drained = drain({
      listeners: [gateway.listener],
      onDraining: () => undefined,
      waitMs: 0,
      timeoutMs: 5_000,
    });
    await until(() => ends.has('kept'));
    expect(ends).not.toContain('begun');
    await drained;
    kept.destroy();
    begun.destroy();
  });

  it('during the wait, a connection closes only after a response with Connection: close', async () => {
    const { gateway, upstream } = await pair({}, () => undefined);
    const client = await openRaw(gateway.port);
    defer(async () => void client.socket.destroy());
    client.socket.write(get());
    await until(() => upstream.requests.length === 1);
    const [first] = upstream.requests;
    first?.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n');
    await until(() => client.text.includes('200 OK'));
    const drained = drain({
      listeners: [gateway.listener],
      onDraining: () => undefined,
      stayOpen: true,
      waitMs: 60_000,
      timeoutMs: 5_000,
    });
    // Its head was written before the drain began.
    first?.socket.write('ok');
    await until(() => client.text.endsWith('\r\n\r\nok'));
    client.text = '';
    client.socket.write(get());
    await until(() => upstream.requests.length === 2 || client.ended);
    upstream.requests[1]?.socket.write(OK);
    await until(() => client.ended);
    expect(client.text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: close/is);
    expect(await drained).toBe(true);
  });

  it('after the wait, a connection closes at the end of the response in progress', async () => {
    const { gateway, upstream } = await pair({}, () => undefined);
    const client = await openRaw(gateway.port);
    defer(async () => void client.socket.destroy());
    client.socket.write(get());
    await until(() => upstream.requests.length === 1);
    upstream.requests[0]?.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no');
    await until(() => client.text.endsWith('o'));
    const other = connect(gateway.port, '127.0.0.1');
    let isOver = false;
    other.resume().on('end', () => {
      isOver = true;
    });
    await until(() => gateway.listener.connections() === 2);
    const drained = drain({
      listeners: [gateway.listener],
      onDraining: () => undefined,
      waitMs: 0,
      timeoutMs: 60_000,
    });
    // Idle connections are closed, and this one continues.
    await until(() => isOver);
    expect(client.ended).toBe(false);
    upstream.requests[0]?.socket.write('k');
    await until(() => client.ended);
    expect(client.text).toMatch(/ok$/);
    expect(await drained).toBe(true);
  });

  it('a request that is not finished at the timeout is aborted', async () => {
    const { gateway, upstream } = await pair({}, () => undefined);
    const running = sendRaw(gateway.port, get());
    await until(() => upstream.requests.length === 1);
    expect(
      await drain({ listeners: [gateway.listener], onDraining: () => undefined, waitMs: 0, timeoutMs: 50 }),
    ).toBe(false);
    expect(await running).toMatchObject({ statuses: [], closed: true });
  });
});
