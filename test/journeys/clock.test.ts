// The lifecycle clock passes each date of a version under load, and each stage begins in its second.
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp2 } from '../support/http-client.ts';
import { startRawUpstream } from '../support/raw-upstream.ts';

const stack = new AsyncDisposableStack();
const DEPRECATED = Date.UTC(2026, 0, 15);
const RELEASED = Date.UTC(2026, 5, 1);
const SUNSET = Date.UTC(2027, 3, 15, 10, 30);
let gateway: RunningGateway;
let client: Client;
let now = DEPRECATED;

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
/** Connections whose requests wait for a response. */
const held: Socket[] = [];

beforeAll(async () => {
  const upstream = stack.use(
    await startRawUpstream((target, socket) => {
      if (target.startsWith('/served/held')) held.push(socket);
      else socket.write(OK);
    }),
  );
  gateway = stack.use(
    await runGateway({ policies: 'clock', lifecycleNow: () => now, environment: { UPSTREAM: upstream.url } }),
  );
  client = stack.use(overHttp2(gateway.https));
});
afterAll(() => stack.disposeAsync());

function askAt(instant: number, version = 'v1'): Promise<Answer> {
  now = instant;
  return client.ask({ path: `/api/${version}/orders/7?x=1` });
}

describe('the stage of a version is derived from its dates and the clock', () => {
  it('deprecation begins in its second, with its signals and the lower limit', async () => {
    const before = await askAt(DEPRECATED - 1);
    expect(before).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit': '1000' } });
    expect(before.headers).not.toHaveProperty('deprecation');
    expect(before.headers).not.toHaveProperty('sunset');
    const after = await askAt(DEPRECATED);
    expect(after).toMatchObject({
      status: 200,
      headers: {
        deprecation: '@1768435200',
        // The extension is announced later.
        sunset: 'Fri, 15 Jan 2027 00:00:00 GMT',
        link: '<https://127.0.0.1/.well-known/lifecycle/orders>; rel="status", <https://127.0.0.1/.well-known/lifecycle/orders>; rel="sunset"',
        warning: '299 - "Version v1 is deprecated and will be removed on 2027-01-15"',
        'x-ratelimit-limit': '500',
        'ratelimit-policy': '"deprecated";q=500;w=1',
      },
    });
  });

  it('STAT-1: a planned version exists and is linked from its release on', async () => {
    expect((await askAt(RELEASED - 1, 'v2')).status).toBe(404);
    expect((await askAt(RELEASED, 'v2')).status).toBe(200);
    // The successor is not linked before its release.
    const successor = '<https://127.0.0.1/api/v2/orders/7>; rel="successor-version"';
    expect((await askAt(RELEASED - 1)).headers.link).not.toContain('successor-version');
    expect((await askAt(RELEASED)).headers.link).toContain(successor);
  });

  it('SUN-2: the extended sunset is the instant of the 410, including its offset', async () => {
    expect((await askAt(Date.UTC(2027, 0, 15))).status).toBe(200);
    expect((await askAt(SUNSET - 1)).status).toBe(200);
    const after = await askAt(SUNSET);
    expect(after).toMatchObject({
      status: 410,
      json: {
        message: 'API version v1 was retired on 2027-04-15.',
        replacement: 'https://127.0.0.1/api/v2/orders/7',
      },
      headers: { sunset: 'Thu, 15 Apr 2027 10:30:00 GMT', deprecation: '@1768435200' },
    });
    expect(after.headers).not.toHaveProperty('warning');
    // The default of the API is the same version, so it has ended too.
    expect((await client.ask({ path: '/api/orders/7' })).status).toBe(410);
  });

  it('the clock at the first line of a request decides, however long it takes', async () => {
    now = SUNSET - 1;
    const running = Array.from({ length: 20 }, (_, index) =>
      client.ask({ path: `/api/v1/orders/held/${index}` }),
    );
    await vi.waitFor(() => expect(held).toHaveLength(20), { timeout: 20_000 });
    now = SUNSET;
    const late = await Promise.all(
      running.map((_, index) => client.ask({ path: `/api/v1/orders/held/${index}` })),
    );
    expect(new Set(late.map(({ status }) => status))).toEqual(new Set([410]));
    for (const socket of held) socket.write(OK);
    for (const { status, headers } of await Promise.all(running)) {
      expect(status).toBe(200);
      expect(headers).toMatchObject({ deprecation: '@1768435200', 'x-ratelimit-limit': '500' });
      expect(headers.warning).toBeDefined();
    }
  });

  it('metrics and log show the same stage, and nothing was reloaded', async () => {
    const answer = await askAt(SUNSET);
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ stage: 'retired', refusal: 'version_retired' });
    expect(
      await gateway.metric('sundial_version_info{api="orders",version="v1",stage="retired",successor="v2"}'),
    ).toBe(1);
    expect(await gateway.metric('sundial_config_reloads_total{result="success"}')).toBe(0);
    expect(await gateway.metric('sundial_lifecycle_clock_offset_seconds')).not.toBe(0);
  });
});
