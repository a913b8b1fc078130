// A service process is killed, or frozen and thawed, during requests, responses and a WebSocket.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { expectNothingOfTheCause } from '../support/inside.ts';
import { threadMs } from '../support/thread-time.ts';
import { startUpstreamProcess, type UpstreamProcess } from '../support/upstream-process.ts';
import { openWebSocket } from '../support/websocket-client.ts';

/** One second, plus time for a machine that runs other tests. */
const RECOVERED_WITHIN_MS = 1_000 + 4_000;
const stack = new AsyncDisposableStack();
let upstream: UpstreamProcess;
let well: Service;
let gateway: RunningGateway;

beforeAll(async () => {
  upstream = stack.use(await startUpstreamProcess());
  well = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
});
afterAll(() => stack.disposeAsync());

const openGateway = (patience: string): Promise<RunningGateway> =>
  runGateway({
    policies: 'upstream-process',
    environment: { H1: upstream.http1, H2: upstream.http2, WELL: well.url, PATIENCE: patience },
  });

/** The median by `clock` of `count` calls of each of `asks`, which alternate. Each call must get 200. */
async function middlesOf(
  count: number,
  clock: () => number,
  ...asks: readonly (() => Promise<Answer>)[]
): Promise<readonly number[]> {
  const took = asks.map((): number[] => []);
  for (let call = 0; call < count; call += 1)
    for (const [index, ask] of asks.entries()) {
      const before = clock();
      expect((await ask()).status).toBe(200);
      took[index]?.push(clock() - before);
    }
  return took.map((each) => each.toSorted((a, b) => a - b)[count >> 1] ?? Number.NaN);
}

interface Told {
  readonly status: number;
  readonly error: string;
  readonly fault: string;
  readonly json: object;
}

const late: Told = {
  status: 504,
  error: 'connection_read_timeout',
  fault: 'upstream_headers_timeout',
  json: { error: 'Gateway Timeout', timeout: '0.7s' },
};
const refused: Told = {
  status: 502,
  error: 'connection_refused',
  fault: 'upstream_refused',
  json: { error: 'Bad Gateway' },
};
const brokenOff: Told = {
  status: 502,
  error: 'connection_terminated',
  fault: 'upstream_reset',
  json: { error: 'Bad Gateway' },
};

interface ProcessFault {
  readonly what: string;
  /** How long a request waits for its response. */
  readonly patience: string;
  readonly befall: (upstream: UpstreamProcess) => unknown;
  readonly lift: (upstream: UpstreamProcess) => unknown;
  /** A GET and a POST that wait for a response. The GET is retried once. */
  readonly waiting: readonly [get: Told, post: Told];
  /** A request that arrives meanwhile. */
  readonly next: Told;
  /** The fault in the log for a response that was under way. */
  readonly cut: string;
  readonly tunnel: 'ended' | 'kept';
}

const FAULTS: readonly ProcessFault[] = [
  {
    what: 'killed',
    patience: '20s',
    befall: ({ kill }) => kill(),
    lift: ({ comeBack }) => comeBack(),
    waiting: [refused, brokenOff],
    next: refused,
    cut: 'upstream_reset',
    tunnel: 'ended',
  },
  {
    what: 'frozen',
    patience: '700ms',
    befall: ({ freeze }) => freeze(),
    lift: ({ thaw }) => thaw(),
    waiting: [late, late],
    next: late,
    cut: 'upstream_idle_timeout',
    tunnel: 'kept',
  },
];

async function expectTold(answer: Answer, { status, error, json, fault }: Told, service: string) {
  expect(answer).toMatchObject({
    status,
    json,
    headers: { 'proxy-status': `sundial; error=${error}; next-hop=${service}`, 'cache-control': 'no-store' },
  });
  if (answer.headers.connection !== undefined) expect(answer.headers.connection).toBe('keep-alive');
  expectNothingOfTheCause(answer);
  expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({ fault, status });
}

describe.each(FAULTS)(
  'an upstream that is $what',
  ({ patience, befall, lift, waiting, next, cut, tunnel }) => {
    it('is reported exactly, and is used again in a second', async () => {
      await using own = new AsyncDisposableStack();
      gateway = own.use(await openGateway(patience));
      const clients: readonly (readonly [protocol: string, client: Client])[] = [
        ['HTTP/1.1', own.use(overHttp1(gateway.https))],
        ['HTTP/2', own.use(overHttp2(gateway.https))],
      ];
      const ways = clients.flatMap(([protocol, client]) =>
        ['h1', 'h2'].map((service) => ({ protocol, client, service, name: `${protocol}-${service}` })),
      );
      const running = ways.map(({ client, service, name }) => ({
        service,
        get: client.ask({ path: `/api/${service}/never?get-${name}` }),
        post: client.ask({ path: `/api/${service}/never?post-${name}`, method: 'POST', body: '{}' }),
        events: client.ask({ path: `/api/${service}/events?${name}` }),
      }));
      using webSocket = await openWebSocket(gateway.https, '/api/h1/live');
      webSocket.send('before');
      await webSocket.received(1);
      for (const { name } of ways)
        for (const line of [`/never?get-${name}`, `/never?post-${name}`, `/events?${name} flows`])
          await upstream.says(line);

      await befall(upstream);
      const lifted = own.use(new AsyncDisposableStack());
      lifted.defer(async () => void (await lift(upstream)));
      for (const { service, get, post, events } of running) {
        await expectTold(await get, waiting[0], service);
        await expectTold(await post, waiting[1], service);
        const stream = await events;
        expect(stream).toMatchObject({ status: 200, complete: false });
        expect(stream.text).toMatch(/^(data: \d+\n\n)+$/);
        expect(await gateway.accessLine(stream.headers['x-request-id'])).toMatchObject({
          fault: cut,
          aborted: true,
        });
      }
      await Promise.all(
        ways.map(async ({ client, service }) =>
          expectTold(await client.ask({ path: `/api/${service}/whole` }), next, service),
        ),
      );
      using handshake = await openWebSocket(gateway.https, '/api/h1/live');
      expect([handshake.status, handshake.headers['proxy-status']]).toEqual([
        next.status,
        `sundial; error=${next.error}; next-hop=h1`,
      ]);
      webSocket.send('meanwhile');
      if (tunnel === 'ended') await webSocket.ended();

      await lifted.disposeAsync();
      const liftedAt = performance.now();
      await vi.waitFor(
        async () => {
          for (const { client, service } of ways)
            expect(await client.ask({ path: `/api/${service}/whole` })).toMatchObject({
              status: 200,
              text: 'ok',
            });
        },
        { timeout: 20_000, interval: 20 },
      );
      expect(performance.now() - liftedAt).toBeLessThan(RECOVERED_WITHIN_MS);
      if (tunnel === 'kept')
        expect((await webSocket.received(2)).map(({ payload }) => String(payload))).toEqual([
          'before',
          'meanwhile',
        ]);
      using again = await openWebSocket(gateway.https, '/api/h1/live');
      expect(again.status).toBe(101);
    });
  },
);

describe('a frozen upstream whose request limit and queue are in use', () => {
  it('does not delay requests to another upstream', async () => {
    await using own = new AsyncDisposableStack();
    gateway = own.use(await openGateway('20s'));
    const calm = own.use(await openGateway('20s'));
    const asking = ({ https }: RunningGateway) => {
      const client = own.use(overHttp2(https));
      return () => client.ask({ path: '/api/well' });
    };
    const [ask, askCalm] = [asking(gateway), asking(calm)];
    const [usualWork = 0] = await middlesOf(40, threadMs, ask);
    upstream.freeze();
    own.defer(() => upstream.thaw());
    // 256 requests are sent, and the others queue.
    for (let connection = 0; connection < 3; connection += 1) {
      const other = own.use(overHttp2(gateway.https));
      for (let call = 0; call < 100; call += 1) other.begin({ path: '/api/h1/never' });
    }
    const inFlight = () => gateway.metric('sundial_requests_in_flight');
    await vi.waitFor(async () => expect(await inFlight()).toBeGreaterThanOrEqual(256), {
      timeout: 20_000,
      interval: 50,
    });
    // Both gateways share this process and this machine.
    const [usual = 0, meanwhile] = await middlesOf(40, () => performance.now(), askCalm, ask);
    expect(meanwhile).toBeLessThan(2 * usual + 10);
    // Work on this thread delays both.
    const [work] = await middlesOf(40, threadMs, ask);
    expect(work).toBeLessThan(2 * usualWork + 10);
    expect(await inFlight()).toBeGreaterThanOrEqual(256);
  });
});
