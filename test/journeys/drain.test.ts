// The end of the process: announcement, wait, time limit, and what must survive a crash.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { adminWriter } from '../support/admin-write.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { openSocket } from '../support/raw-client.ts';
import { untilInFlight } from '../support/until-in-flight.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { closeCode } from '../support/websocket-frames.ts';
import { startWebSocketUpstream, type WebSocketUpstream } from '../support/websocket-upstream.ts';

/** As in drain.yaml: long enough for what must happen meanwhile, on a busy machine too. */
const WAIT_MS = 2_500;

const stack = new AsyncDisposableStack();
let perTest = new AsyncDisposableStack();
let echo: Service;
let issuer: TestIssuer;
let upstream: WebSocketUpstream;
let folder = '';

beforeAll(async () => {
  echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  upstream = stack.use(await startWebSocketUpstream());
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  perTest = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'sundial-drain-'));
  perTest.defer(() => rm(folder, { recursive: true, force: true }));
});
afterEach(() => perTest.disposeAsync());

const start = (policies: string, more: Readonly<Record<string, string>> = {}): GatewayProcess =>
  perTest.use(
    startProcess(['run', '-c', 'test/journeys/drain.yaml'], {
      DATA: join(folder, 'data'),
      STORE: `embedded:${join(folder, 'data')}`,
      ISSUER: issuer.url,
      ECHO: echo.url,
      UPSTREAM: upstream.url,
      POLICIES: join(import.meta.dirname, policies, '*.yaml'),
      ...more,
    }),
  );

function keep(socket: Socket): Socket {
  socket.on('error', () => undefined);
  perTest.defer(() => void socket.destroy());
  return socket;
}

const askOn = (session: ClientHttp2Session): Promise<unknown> =>
  new Promise((resolve) => {
    const stream = session.request({ ':path': '/api/slow', ':authority': '127.0.0.1' });
    stream.on('response', (headers) => resolve(headers[':status']));
    stream.on('error', resolve);
    stream.resume();
  });

const readiness = async (probe: Client): Promise<number> => (await probe.ask({ path: '/-/ready' })).status;

describe('a drain with a wait', () => {
  it('is not ready at once, serves during the wait, completes 23 of 23 requests, exits with 0', async () => {
    const gateway = start('drain');
    const { https, admin } = await gateway.ready;
    await using idle = overHttp1(https);
    expect((await idle.ask({ path: '/api/slow' })).status).toBe(200);
    const session = connectHttp2(`https://127.0.0.1:${https}`, { rejectUnauthorized: false });
    perTest.defer(() => session.destroy());
    session.on('error', () => undefined);
    expect(await askOn(session)).toBe(200);
    // Connections without a request, before and after the TLS handshake.
    const silent = [keep(connect(https, '127.0.0.1')), keep(openSocket(https))];
    const webSocket = await openWebSocket(https, '/api/live');
    expect(webSocket.status).toBe(101);
    perTest.defer(() => void webSocket.socket.destroy());
    await using client = overHttp1(https);
    const running = Array.from({ length: 23 }, (_each, index) =>
      client.ask({ path: `/api/slow?delay=${WAIT_MS + 1_000 + 20 * index}` }),
    );
    await untilInFlight(echo, 23);

    await using probe = overHttp1(admin, { tls: false });
    const goaway = new Promise((resolve) => session.once('goaway', resolve));
    const toldAt = performance.now();
    gateway.kill('SIGTERM');
    await vi.waitFor(async () => expect(await readiness(probe)).toBe(503), { timeout: 20_000, interval: 5 });

    // During the wait, clients that do not know of the drain are served.
    await using late = overHttp1(https);
    for (const each of [late, idle])
      expect(await each.ask({ path: '/api/slow' })).toMatchObject({
        status: 200,
        headers: { connection: 'close' },
      });
    expect(await goaway).toBe(0);
    expect(webSocket.frames).toEqual([]);
    expect(performance.now() - toldAt).toBeLessThan(WAIT_MS);

    const [close] = await webSocket.received(1);
    expect(close && closeCode(close)).toBe(1001);
    expect(performance.now() - toldAt).toBeGreaterThan(WAIT_MS - 100);
    await vi.waitFor(() => expect(silent.every(({ closed }) => closed)).toBe(true), { timeout: 20_000 });
    await expect(late.ask({ path: '/api/slow' })).rejects.toThrow();

    const answers = await Promise.all(running);
    for (const answer of answers)
      expect(answer).toMatchObject({ status: 200, complete: true, headers: { connection: 'close' } });
    const finishedAt = performance.now();
    expect(await gateway.ended).toBe(0);
    expect(performance.now() - finishedAt).toBeLessThan(5_000);
  });

  it('cuts unfinished requests off at its timeout, and exits with 0', async () => {
    const gateway = start('drain', { WAIT: '0s', TIMEOUT: '500ms' });
    const { https } = await gateway.ready;
    await using client = overHttp1(https);
    const running = client.ask({ path: '/api/slow?delay=20000' }).then(
      ({ complete }) => complete,
      () => false,
    );
    await untilInFlight(echo, 1);
    const toldAt = performance.now();
    gateway.kill('SIGTERM');
    expect(await gateway.ended).toBe(0);
    expect(performance.now() - toldAt).toBeLessThan(8_000);
    expect(await running).toBe(false);
  });
});

describe('an immediate end', () => {
  it.each([
    ['SIGTERM', 'SIGINT'],
    ['SIGINT', 'SIGTERM'],
  ] as const)('on %s, then %s, exits with 1 at once, even during the wait', async (first, second) => {
    const gateway = start('drain', { WAIT: '30s' });
    const { admin } = await gateway.ready;
    await using probe = overHttp1(admin, { tls: false });
    gateway.kill(first);
    await vi.waitFor(async () => expect(await readiness(probe)).toBe(503), { timeout: 20_000, interval: 5 });
    const toldAt = performance.now();
    gateway.kill(second);
    expect(await gateway.ended).toBe(1);
    expect(performance.now() - toldAt).toBeLessThan(10_000);
  });

  it('on an uncaught error finishes requests, logs the error, and exits with 1', async () => {
    const gateway = start('drain', {
      WAIT: '0s',
      NODE_OPTIONS:
        '--import=data:text/javascript,process.on(%22SIGUSR2%22,()=>{throw(Error(%22a-slip%22))})',
    });
    const { https } = await gateway.ready;
    await using client = overHttp1(https);
    const running = client.ask({ path: '/api/slow?delay=800' });
    await untilInFlight(echo, 1);
    gateway.kill('SIGUSR2');
    expect(await running).toMatchObject({ status: 200, complete: true });
    expect(await gateway.ended).toBe(1);
    const fatal = gateway.stdout.split('\n').find((line) => line.includes('"fatal"'));
    expect(fatal).toContain('a-slip');
  });
});

describe('a crash', () => {
  it('loses no pin that was acknowledged: kill -9 right after the response', async () => {
    const accounts = Array.from({ length: 20 }, (_each, index) => `account-${index}`);
    const first = start('pins');
    const { admin } = await first.ready;
    const token = (await readFile(join(folder, 'data/admin-token'), 'utf8')).trim();
    {
      await using client = overHttp1(admin, { tls: false });
      const write = adminWriter(client, token);
      const answers = await Promise.all(
        accounts.map((account) =>
          write({
            method: 'PUT',
            path: `/-/pins/payments/${account}`,
            body: { version: '2026-06-01', by: 'the api team', why: 'asked for it' },
          }),
        ),
      );
      expect(answers.map(({ status, text }) => (status < 300 ? 'kept' : text))).toEqual(
        accounts.map(() => 'kept'),
      );
      first.kill('SIGKILL');
    }
    expect(await first.ended).toBe('SIGKILL');
    const second = start('pins');
    const { admin: again } = await second.ready;
    await using client = overHttp1(again, { tls: false });
    for (const account of accounts)
      expect((await client.ask({ path: `/-/pins/payments/${account}` })).text, account).toContain(
        '2026-06-01',
      );
  });
});
