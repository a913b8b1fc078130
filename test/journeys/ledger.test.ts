// The ledger of two gateways on one Redis agrees with the clients' counts of two thousand calls.
import { expect, it } from 'vitest';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { openSharedState } from '../../gateway/stores/redis/shared-state.ts';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { onFault } from '../contracts/lasting-stores.ts';
import { everyRecord } from '../contracts/ledger-store.ts';
import { callAll, countsIn } from '../ledger/callers.ts';
import { runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';
import { startRedis } from '../support/redis-server.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

it('the ledger of two gateways has every call to deprecated versions, and no other call', async () => {
  await using stack = new AsyncDisposableStack();
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const redis = stack.adopt(await startRedis(), (server) => server.stop());
  const start = () =>
    runGateway({
      config: '../ledger/gateway.yaml',
      policies: 'ledger',
      lifecycleNow: () => NOW,
      environment: { ECHO: echo.url, ISSUER: issuer.url, STORE: redis.url },
    });
  const gateways = [await start(), await start()];
  const [first] = gateways;
  if (first === undefined) throw new Error('there is no gateway');
  const callers = await Promise.all(
    ['acme', 'zeta', 'umbrella'].map(async (consumer) => ({
      consumer,
      authorization: `Bearer ${await issuer.sign({ client_id: consumer })}`,
    })),
  );
  const { counts } = await callAll(callers, () => gateways.map(({ http }) => http), {
    total: 2000,
    atOnce: 50,
  });
  await using client = overHttp1(first.http, { tls: false });
  const [{ authorization }] = callers as [(typeof callers)[0]];
  for (const [path, headers, status] of [
    ['/api/v2/orders/7', { authorization }, 200],
    ['/api/v1/orders/7', {}, 401],
    ['/api/v1/orders/7', { authorization: 'Bearer wrong' }, 401],
    [
      '/api/v1/orders',
      { authorization: `Bearer ${await issuer.sign({ client_id: 'scopeless', scope: '' })}` },
      403,
    ],
    ['/api/v1/open/1?page=1', { 'user-agent': 'a browser' }, 200],
  ] as const)
    expect((await client.ask({ path, headers })).status).toBe(status);
  expect(await first.metric('sundial_ledger_calls_dropped_total')).toBe(0);
  await client[Symbol.asyncDispose]();
  for (const gateway of gateways) await gateway[Symbol.asyncDispose]();

  const connection = await connectRedis(redis.url, { onState: () => undefined, answerWithinMs: 5000 });
  const { ledger, close } = await openSharedState(connection, { onFault });
  stack.defer(close);
  expect(await countsIn(ledger)).toEqual(counts);
  expect(await everyRecord(ledger, { api: 'open' })).toEqual([
    {
      ...{ consumer: '127.0.0.1', via: 'address', api: 'open', version: 'v1', operation: undefined },
      ...{ firstAt: NOW, lastAt: NOW, callsByDay: { '2026-11-20': 1 }, agents: ['a browser'] },
      sample: { method: 'GET', template: '/api/v1/open/*', requestId: expect.any(String) },
    },
  ]);
  expect(await everyRecord(ledger, { consumer: 'acme', version: 'v2' })).toEqual([]);
  expect(await ledger.beganAt({ api: 'orders', version: 'v1' })).toBe(NOW);
  expect(await ledger.beganAt({ api: 'orders', version: 'v2' })).toBeUndefined();
});
