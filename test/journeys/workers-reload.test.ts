// Reloads under load with two workers: one decision for both, no request lost or between two plans.
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { clientPerWorker, workerPids } from '../support/worker-clients.ts';

const stack = new AsyncDisposableStack();
const PATH = '/api/v1/orders';
let gateway: RunningGateway;
let clients: readonly Client[];
let folder = '';
let template = '';

const save = (edition: number) =>
  writeFile(join(folder, 'orders.yaml'), template.replaceAll('EDITION', String(edition)));

/** The edition of a response. Throws if its parts are of different ones. */
function editionOf({ status, headers }: Answer): number {
  if (status !== 200) throw new Error(`lost: ${status}`);
  const link = /edition\/(\d+)>; rel="deprecation"/.exec(headers.link ?? '')?.[1];
  const limit = /^(\d+)000$/.exec(headers['x-ratelimit-limit'] ?? '')?.[1];
  if (link === undefined || link !== limit) throw new Error(`a mixture: ${link} and ${limit}`);
  return Number(link);
}
const editions = async () =>
  (await Promise.all(clients.map((client) => client.ask({ path: PATH })))).map(editionOf);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-workers-reload-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await copyFile(join(import.meta.dirname, 'gateway.yaml'), join(folder, 'gateway.yml'));
  template = await readFile(join(import.meta.dirname, 'reload/orders.yaml.template'), 'utf8');
  await save(100);
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  gateway = stack.use(
    await runGateway({
      reloadThread: true,
      config: join(folder, 'gateway.yml'),
      policies: folder,
      environment: { ECHO: echo.url, WORKERS: '2' },
    }),
  );
  clients = await clientPerWorker(gateway.https, PATH);
  for (const client of clients) stack.use(client);
});
afterAll(() => stack.disposeAsync());

it('a reload applies to every worker when it is done; no request is lost or sees two plans', async () => {
  let going = true;
  const seen: number[] = [];
  const load = Promise.all(
    clients.map(async (client) => {
      for (let last = 100; going; ) {
        const edition = editionOf(await client.ask({ path: PATH }));
        if (edition < last) throw new Error(`back from ${last} to ${edition}`);
        last = edition;
        seen.push(edition);
      }
    }),
  );
  for (let edition = 101; edition <= 110; edition += 1) {
    await save(edition);
    await gateway.reload();
    expect(await editions()).toEqual([edition, edition]);
  }
  going = false;
  await load;
  expect(seen.length).toBeGreaterThan(20);
  await using admin = overHttp1(gateway.admin, { tls: false });
  const { json } = await admin.ask({ path: '/-/ready' });
  expect(await gateway.metric(`sundial_config_info{hash="${json.plan}"}`)).toBe(1);
});

it('a bad file changes nothing, and a new worker has the plan in force', async () => {
  const [before] = await editions();
  await writeFile(join(folder, 'orders.yaml'), 'api: [');
  await gateway.reload();
  const [victim = 0] = workerPids();
  process.kill(victim, 'SIGKILL');
  await vi.waitFor(
    async () => {
      expect(workerPids()).not.toContain(victim);
      expect(await gateway.metric('sundial_workers')).toBe(2);
    },
    { timeout: 60_000, interval: 100 },
  );
  const again = await clientPerWorker(gateway.https, PATH);
  for (const client of again) {
    expect(editionOf(await client.ask({ path: PATH }))).toBe(before);
    await client[Symbol.asyncDispose]();
  }
});
