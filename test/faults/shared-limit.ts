// Two gateways with one Redis and different latencies together admit exactly the limit.
import { join } from 'node:path';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { type Client, overHttp2 } from '../support/http-client.ts';
import { startRedis } from '../support/redis-server.ts';
import { openFaulty } from './gateway.ts';
import { exactly, type Figure, type Row } from './row.ts';

/** From journeys/redis/exact.yaml, per address. */
const LIMIT = 50;
const ASKED = 200;
/** Both are far below the gateway's timeout for Redis. */
const LATE_MS = [1, 8];
const WARM_UP = 300;

async function together(): Promise<readonly Figure[]> {
  await using stack = new AsyncDisposableStack();
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const redis = stack.adopt(await startRedis(), ({ stop }) => stop());
  const POLICIES = join(import.meta.dirname, '../journeys/redis/*.yaml');
  const clients: Client[] = [];
  for (const ms of LATE_MS) {
    const line = stack.use(await startFaultProxy(redis.port));
    line.delay(ms);
    const STORE = `redis://127.0.0.1:${line.port}`;
    const fixture = stack.use(await openFaulty({ POLICIES, ECHO: echo.url, STORE, REPLICAS: '2' }));
    const client = stack.use(overHttp2(fixture.https));
    for (let call = 0; call < WARM_UP; call += 1) await client.ask({ path: '/api/allow' });
    clients.push(client);
  }
  const asked = Array.from({ length: ASKED / clients.length }, () =>
    clients.map((client) => client.ask({ path: '/api/exact' })),
  );
  const answers = await Promise.all(asked.flat());
  const admitted = answers.filter(({ status }) => status === 200);
  const places = new Set(admitted.map(({ headers }) => headers['x-ratelimit-remaining']));
  return [
    // If Redis answers too late for a request, the request is refused although it was counted.
    exactly(`admitted of ${ASKED}`, admitted.length, LIMIT, true),
    exactly('different numbers of what was left', places.size, admitted.length),
  ];
}

export const sharedLimit: readonly Row[] = [
  { what: 'one limit of two gateways, with a slow Redis', measure: together },
];
