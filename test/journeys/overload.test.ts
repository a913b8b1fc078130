// A gateway under real overload refuses early with Retry-After, and its admin listener still responds.
import { request } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';
import { openWebSocket } from '../support/websocket-client.ts';
import { startWebSocketUpstream } from '../support/websocket-upstream.ts';

let stack = new AsyncDisposableStack();
afterEach(async () => {
  await stack.disposeAsync();
  stack = new AsyncDisposableStack();
});

const start = async (environment: Readonly<Record<string, string>>, config = 'overload.yaml') =>
  stack.use(await runGateway({ config, policies: 'bounds', environment }));

const SLOWLY = { timeout: 20_000 };
const OVERLOADED = {
  error: 'Service Unavailable',
  retryAfter: 2,
  estimatedRestoration: expect.stringMatching(/Z$/),
  message: 'The gateway has more requests than it can answer right now.',
};

const shed = async (gateway: RunningGateway, reason: string): Promise<number> =>
  (await gateway.metric(`sundial_requests_shed_total{reason="${reason}"}`)) ?? Number.NaN;

describe('overload', () => {
  it('FWD-18, RL-6: beyond the limit in flight, requests get 503 with Retry-After and close', async () => {
    const silent = stack.use(await startRawUpstream(() => undefined));
    const gateway = await start({ UPSTREAM: silent.url, REQUESTS: '5' });
    await using client = overHttp1(gateway.http, { tls: false });
    const held = Array.from({ length: 5 }, () => client.begin({ path: '/api/live' }));
    await vi.waitFor(async () => expect(await gateway.metric('sundial_requests_in_flight')).toBe(5), SLOWLY);
    const answer = await client.ask({ path: '/api/live' });
    expect(answer).toMatchObject({
      status: 503,
      json: OVERLOADED,
      headers: { 'retry-after': '2', connection: 'close', 'cache-control': 'no-store' },
    });
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({ refusal: 'overloaded' });
    const problem = { accept: 'application/problem+json' };
    expect(await client.ask({ path: '/api/live', headers: problem })).toMatchObject({
      headers: { 'content-type': 'application/problem+json' },
      json: {
        type: 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity',
        title: 'Temporary Reduced Capacity',
        status: 503,
      },
    });
    expect(await shed(gateway, 'requests')).toBe(2);
    await using admin = overHttp1(gateway.admin, { tls: false });
    for (const path of ['/-/healthy', '/-/ready', '/metrics'])
      expect((await admin.ask({ path })).status, path).toBe(200);
    for (const one of held) one.leave();
    await vi.waitFor(async () => expect(await gateway.metric('sundial_requests_in_flight')).toBe(0), SLOWLY);
    await using after = overHttp1(gateway.http, { tls: false });
    after.begin({ path: '/api/live' });
    await vi.waitFor(async () => expect(await gateway.metric('sundial_requests_in_flight')).toBe(1), SLOWLY);
  });

  it('a busy event loop sheds some of the requests, and answers the others', async () => {
    const upstream = stack.use(await startWebSocketUpstream());
    // A low bound, so that the load of one test process reaches it.
    const gateway = await start({ UPSTREAM: upstream.url, LAG: '2ms' });
    const statuses = new Map<number, number>();
    let running = true;
    const one = (): Promise<void> =>
      new Promise((resolve) => {
        const sent = request({ port: gateway.http, host: '127.0.0.1', path: '/nowhere' }, (answer) => {
          const status = answer.statusCode ?? 0;
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          answer.resume().once('close', resolve);
        });
        sent.once('error', () => resolve()).end();
      });
    const load = Array.from({ length: 150 }, async () => {
      while (running) await one();
    });
    await using admin = overHttp1(gateway.admin, { tls: false });
    try {
      await vi.waitFor(() => expect(statuses.get(503) ?? 0).toBeGreaterThan(50), SLOWLY);
      // While it sheds load.
      for (const path of ['/-/healthy', '/-/ready', '/metrics'])
        expect((await admin.ask({ path })).status, path).toBe(200);
      const passed = statuses.get(404) ?? 0;
      await vi.waitFor(() => expect(statuses.get(404) ?? 0).toBeGreaterThan(passed), SLOWLY);
    } finally {
      running = false;
      await Promise.all(load);
    }
    expect([...statuses.keys()].toSorted()).toEqual([404, 503]);
    expect(await shed(gateway, 'lag')).toBeGreaterThan(50);
  }, 90_000);

  it('WS-6: WebSockets beyond the limit of the gateway get 503', async () => {
    const upstream = stack.use(await startWebSocketUpstream());
    const gateway = await start({ UPSTREAM: upstream.url, PROXY: '127.0.0.1' }, 'bounds.yaml');
    const open = async (host: string) =>
      stack.use(
        await openWebSocket(gateway.http, '/api/live', { tls: false, lines: [`X-Forwarded-For: ${host}`] }),
      );
    expect([(await open('192.0.2.1')).status, (await open('192.0.2.1')).status]).toEqual([101, 101]);
    expect((await open('192.0.2.2')).status).toBe(101);
    const refusal = await open('192.0.2.3');
    expect(refusal.status).toBe(503);
    expect(refusal.headers).toMatchObject({ 'retry-after': '2', connection: 'close' });
    expect(await gateway.metric('sundial_bounds_refused_total{bound="websockets"}')).toBe(1);
  });
});
