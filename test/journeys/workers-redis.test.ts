// Two workers on Redis, with a connection each, share all that gateways share.
import { expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { runGateway } from '../support/gateway.ts';
import type { Answer } from '../support/http-client.ts';
import { beginPause } from '../support/pauses.ts';
import { startRedis } from '../support/redis-server.ts';
import { clientPerWorker } from '../support/worker-clients.ts';

const NOW = Date.UTC(2026, 10, 20);

it('RL-10: workers share limits and pauses, and without Redis each has its share', async () => {
  await using stack = new AsyncDisposableStack();
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const redis = stack.adopt(await startRedis(), (server) => server.stop());
  const gateway = stack.use(
    await runGateway({
      policies: 'workers',
      lifecycleNow: () => NOW,
      environment: { ECHO: echo.url, WORKERS: '2', STORE: redis.url },
    }),
  );
  const clients = await clientPerWorker(gateway.https, '/nowhere');
  for (const client of clients) stack.use(client);
  const isServed = ({ status }: Answer) => status === 200;
  /** Counted by Redis. While Redis is late, responses have no numbers. */
  const isCounted = ({ status, headers }: Answer) => status === 200 && 'x-ratelimit-limit' in headers;
  const passed = async (count: number, path: string, wanted = isServed) => {
    const asking = clients.map(async (client) => {
      let answered = 0;
      for (let turn = 0; turn < count; turn += 1) if (wanted(await client.ask({ path }))) answered += 1;
      return answered;
    });
    return Promise.all(asking);
  };
  const [one = 0, other = 0] = await passed(40, '/api/v2/quotes', isCounted);
  expect(one + other).toBeGreaterThan(30);
  expect(one + other).toBeLessThanOrEqual(40);

  await beginPause(gateway, { api: 'quotes', version: 'v1', until: NOW + 86_400_000 });
  await vi.waitFor(async () => expect(await passed(1, '/api/v1/quotes')).toEqual([1, 1]), {
    timeout: 30_000,
  });

  expect(await gateway.metric('sundial_store_up{store="redis"}')).toBe(1);
  await redis.stop();
  await vi.waitFor(async () => expect(await gateway.metric('sundial_store_up{store="redis"}')).toBe(0), {
    timeout: 30_000,
  });
  // A limit without earlier requests: with a slow Redis, a worker may have less of a used limit.
  expect(await passed(40, '/api/v4/quotes')).toEqual([20, 20]);
});
