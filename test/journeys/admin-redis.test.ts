// Two gateways on one Redis: a write at one applies to both, and without Redis no write is half done.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type AdminWrite, adminWriter } from '../support/admin-write.ts';
import { operate } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { type RunningRedis, startRedis } from '../support/redis-server.ts';

const stack = new AsyncDisposableStack();
const DURING_A_BROWNOUT = Date.UTC(2027, 0, 5, 14, 30);
const AUTHOR = { by: 'maria', why: 'checkout fails' };
const PAUSE: AdminWrite = {
  method: 'POST',
  path: '/-/pauses',
  body: { api: 'orders', version: 'v1', for: '10m', ...AUTHOR },
};
let redis: RunningRedis;
let gateways: readonly RunningGateway[] = [];
let clients: readonly Client[] = [];

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  redis = stack.adopt(await startRedis(), (server) => server.stop());
  const environment = { ECHO: echo.url, STORE: redis.url };
  const start = () =>
    runGateway({ policies: 'admin-writes', lifecycleNow: () => DURING_A_BROWNOUT, environment });
  gateways = [stack.use(await start()), stack.use(await start())];
  clients = gateways.map(({ https }) => stack.use(overHttp1(https)));
});
afterAll(() => stack.disposeAsync());

const orders = async (): Promise<readonly number[]> =>
  Promise.all(clients.map(async (client) => (await client.ask({ path: '/api/v1/orders' })).status));

async function write(asked: AdminWrite): Promise<Answer> {
  const [first] = gateways;
  if (first === undefined) throw new Error('no gateway');
  await using admin = overHttp1(first.admin, { tls: false });
  return await adminWriter(admin, await first.adminToken())(asked);
}

it('a pause made at one gateway applies to both, and so does its end', async () => {
  expect(await orders()).toEqual([410, 410]);
  const { status, headers } = await write(PAUSE);
  expect(status).toBe(201);
  expect((await orders())[0]).toBe(200);
  await vi.waitFor(async () => expect(await orders()).toEqual([200, 200]), { timeout: 20_000, interval: 50 });
  await write({ method: 'DELETE', path: headers.location ?? '', body: AUTHOR });
  await vi.waitFor(async () => expect(await orders()).toEqual([410, 410]), { timeout: 20_000, interval: 50 });
});

it('ERR-5: without Redis an admin write gets 503 with Retry-After, and pauses stay in force', async () => {
  const standing = await write(PAUSE);
  await vi.waitFor(async () => expect(await orders()).toEqual([200, 200]), { timeout: 20_000, interval: 50 });
  await redis.stop();
  const [first] = gateways;
  const upgrade = { version: '2026-03-01', ...AUTHOR };
  for (const asked of [
    PAUSE,
    { method: 'DELETE', path: standing.headers.location ?? '', body: AUTHOR },
    { method: 'PUT', path: '/-/pins/payments/acme', body: upgrade },
    { method: 'POST', path: '/-/pins/payments/acme/roll-back', body: AUTHOR },
  ]) {
    expect(await write(asked)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      json: { error: 'Service Unavailable', retryAfter: 1 },
    });
  }
  await using admin = overHttp1(first?.admin ?? 0, { tls: false });
  expect(await admin.ask({ path: '/-/pins/payments/unknown' })).toMatchObject({
    status: 503,
    json: { message: 'The store does not answer. Retry the request.' },
  });
  expect(await first?.metric('sundial_admin_writes_total{action="pause",outcome="unavailable"}')).toBe(1);
  expect(first?.log.filter(({ audit }) => audit !== undefined).slice(-4)).toMatchObject(
    [
      { action: 'pause', subject: 'orders v1' },
      { action: 'end_pause', subject: 'orders v1' },
      { action: 'upgrade_pin', subject: 'payments acme' },
      { action: 'roll_back_pin', subject: 'payments acme' },
    ].map((asked) => ({ message: 'admin write unavailable', audit: { ...asked, ...AUTHOR } })),
  );
  const words = ['pin', 'upgrade', 'payments', 'acme', '2026-03-01', '--why', 'x'];
  const environment = { SUNDIAL_ADMIN_TOKEN: (await first?.adminToken()) ?? '' };
  expect(await operate([...words, '--admin', `http://127.0.0.1:${first?.admin}`], { environment })).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: 'sundial: The store does not answer. Check whether the change was made, then retry.\n',
  });
  expect(await orders()).toEqual([200, 200]);

  redis = stack.adopt(await startRedis({ port: redis.port }), (server) => server.stop());
  const again = { ...PAUSE, body: { api: 'orders', version: 'v2', for: '10m', ...AUTHOR } };
  await vi.waitFor(async () => expect((await write(again)).status).toBe(201), {
    timeout: 20_000,
    interval: 100,
  });
});
