// Starting is not harder than running: a file that the running gateway refused does not keep the next start from serving.
// The last accepted form of its API is served, from the embedded store and from Redis, by one process and by workers.
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { startRedis } from '../support/redis-server.ts';

const stack = new AsyncDisposableStack();
let perTest = new AsyncDisposableStack();
let echo: Service;
let folder = '';
let published = '';

beforeAll(async () => {
  echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  perTest = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'sundial-start-'));
  perTest.defer(() => rm(folder, { recursive: true, force: true }));
  const file = join(import.meta.dirname, 'published-schedules/orders.yaml');
  await copyFile(file, join(folder, 'orders.yaml'));
  published = await readFile(file, 'utf8');
});
afterEach(() => perTest.disposeAsync());

const start = (more: Readonly<Record<string, string>> = {}): Promise<RunningGateway> =>
  runGateway({
    realClock: true,
    environment: {
      DATA: join(folder, 'data'),
      STORE: `embedded:${join(folder, 'data')}`,
      POLICIES: join(folder, '*.yaml'),
      ECHO: echo.url,
      ...more,
    },
  });
const save = (text: string, name = 'orders.yaml') => writeFile(join(folder, name), text);
const earlier = () => published.replace('sunset: 2999-01-15', 'sunset: 2998-12-31');

async function sunsetOf(gateway: RunningGateway): Promise<string | undefined> {
  await using client = overHttp1(gateway.https);
  return (await client.ask({ path: '/api/v1/orders' })).headers.sunset;
}

const STORES = [
  { store: 'the embedded store', workers: '1', redis: false },
  { store: 'the embedded store', workers: '2', redis: false },
  { store: 'Redis', workers: '1', redis: true },
  { store: 'Redis', workers: '2', redis: true },
];

describe.each(STORES)('on $store with $workers workers', ({ workers, redis }) => {
  it('a sunset that was moved earlier is refused by a reload, and a restart serves the date published', async () => {
    const environment: Record<string, string> = { WORKERS: workers };
    if (redis) {
      const server = await startRedis();
      perTest.defer(server.stop);
      environment.STORE = server.url;
    }
    {
      await using gateway = await start(environment);
      await save(earlier());
      expect(await gateway.reload()).toMatchObject({ kind: 'rejected' });
    }
    await using gateway = await start(environment);
    expect(await sunsetOf(gateway)).toBe('Tue, 15 Jan 2999 00:00:00 GMT');
    expect(await gateway.metric('sundial_policy_quarantined{api="orders"}')).toBe(1);
  });
});
