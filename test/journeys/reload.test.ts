// Reloads under load: no request is lost, none sees parts of two plans, and a bad file changes nothing.
import { copyFile, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
const SUCCESSFUL = 'sundial_config_last_reload_successful';
let gateway: RunningGateway;
let client: Client;
let folder = '';
let template = '';
let echoUrl = '';

const goodFile = (edition: number) => template.replaceAll('EDITION', String(edition));
const badFiles: readonly ((edition: number) => string)[] = [
  (edition) => goodFile(edition).replace('sunset: 2027-04-15', 'sunset: 2025-04-15'),
  (edition) => goodFile(edition).replace('successor: v2', 'successor: v9'),
  (edition) => goodFile(edition).slice(0, 200),
  () => 'api: [',
  () => '',
];
const policyFile = () => join(folder, 'orders.yaml');
const save = (text: string) => writeFile(policyFile(), text);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-reload-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await copyFile(join(import.meta.dirname, 'gateway.yaml'), join(folder, 'gateway.yml'));
  template = await readFile(join(import.meta.dirname, 'reload/orders.yaml.template'), 'utf8');
  await save(goodFile(100));
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  echoUrl = echo.url;
  gateway = stack.use(
    await runGateway({
      reloadThread: true,
      config: join(folder, 'gateway.yml'),
      policies: folder,
      environment: { ECHO: echo.url },
    }),
  );
  client = stack.use(overHttp2(gateway.https));
});
afterAll(() => stack.disposeAsync());

/** The edition of a response. Throws if its parts are of different ones. */
function editionOf({ status, headers }: Answer): number {
  if (status !== 200) throw new Error(`lost: ${status}`);
  const editions = [
    /edition\/(\d+)>; rel="deprecation"/.exec(headers.link ?? '')?.[1],
    /edition\/(\d+)"$/.exec(headers.warning ?? '')?.[1],
    /^(\d+)000$/.exec(headers['x-ratelimit-limit'] ?? '')?.[1],
    /^"deprecated";q=(\d+)000;w=60$/.exec(headers['ratelimit-policy'] ?? '')?.[1],
  ];
  const [first] = editions;
  if (first === undefined || editions.some((each) => each !== first))
    throw new Error(`a mixture: ${editions}`);
  return Number(first);
}

const askEdition = async () => editionOf(await client.ask({ path: '/api/v1/orders' }));

describe('a reload', () => {
  it('loses no request and mixes no plans: fifty under load, half with bad files', async () => {
    let running = true;
    const editions: number[] = [];
    const loaders = [overHttp1, overHttp1, overHttp1, overHttp2].map(async (connect) => {
      await using own = connect(gateway.https);
      while (running) {
        const asked = Array.from({ length: 4 }, () => own.ask({ path: '/api/v1/orders' }));
        editions.push(...(await Promise.all(asked)).map(editionOf));
      }
    });
    let inForce = 100;
    for (let edition = 101; edition <= 150; edition += 1) {
      const bad = edition % 2 === 1 ? badFiles[edition % badFiles.length] : undefined;
      await save(bad === undefined ? goodFile(edition) : bad(edition));
      await gateway.reload();
      if (bad === undefined) inForce = edition;
      expect(await askEdition()).toBe(inForce);
      expect(await gateway.metric(SUCCESSFUL)).toBe(bad === undefined ? 1 : 0);
    }
    running = false;
    await Promise.all(loaders);
    expect(editions.length).toBeGreaterThan(300);
    expect(new Set(editions).size).toBeGreaterThan(10);
    expect(editions.every((edition) => edition % 2 === 0)).toBe(true);
  });

  it('of a bad file logs its position, and the old plan stays', async () => {
    const before = await askEdition();
    await save(goodFile(1).replace('successor: v2', 'successor: v9'));
    await gateway.reload();
    expect(await askEdition()).toBe(before);
    const lines = await vi.waitFor(
      () => {
        const found = gateway.log.filter(({ message }) =>
          String(message).includes('no version is called "v9"'),
        );
        expect(found.length).toBeGreaterThanOrEqual(1);
        return found;
      },
      { timeout: 20_000 },
    );
    expect(lines[0]).toMatchObject({ file: expect.stringMatching(/orders\.yaml$/), line: 16, column: 16 });
    await save(goodFile(before));
    await gateway.reload();
    expect(await gateway.metric(SUCCESSFUL)).toBe(1);
  });

  it('leaves a running request its plan and its upstream', async () => {
    await using other = overHttp1(Number(new URL(echoUrl).port), { tls: false });
    const edition = await askEdition();
    const running = client.ask({ path: '/api/v1/orders?delay=300' });
    await vi.waitFor(
      async () => {
        expect((await other.ask({ path: '/echo/-/count' })).json.active).toBe(1);
      },
      { timeout: 20_000 },
    );
    await save(goodFile(199).replaceAll(/\$\{env:ECHO\}/g, 'http://127.0.0.1:9'));
    await gateway.reload();
    expect((await client.ask({ path: '/api/v1/orders' })).status).toBe(502);
    expect(editionOf(await running)).toBe(edition);
    await save(goodFile(edition));
    await gateway.reload();
    expect(await askEdition()).toBe(edition);
  });

  it('of an identical file changes nothing, not even the revision', async () => {
    const page = async () => {
      await using admin = overHttp1(gateway.admin, { tls: false });
      return (await admin.ask({ path: '/-/ready' })).json.plan;
    };
    const revision = await page();
    await save(await readFile(policyFile(), 'utf8'));
    await gateway.reload();
    expect(await page()).toBe(revision);
    expect(await gateway.metric(SUCCESSFUL)).toBe(1);
  });
});

describe('the file watcher notices', () => {
  const untilEdition = (edition: number) =>
    vi.waitFor(async () => expect(await askEdition()).toBe(edition), { timeout: 20_000, interval: 50 });

  it('a file written in place', async () => {
    await save(goodFile(201));
    await untilEdition(201);
  });

  it.each([202, 203])('a file renamed over the old one, as editors save: %i', async (edition) => {
    await writeFile(join(folder, '.orders.yaml.swp'), goodFile(edition));
    await rename(join(folder, '.orders.yaml.swp'), policyFile());
    await untilEdition(edition);
  });

  it('a bad file under load within a second, and keeps the plan', async () => {
    const { revision } = await gateway.reload();
    const savedAt = performance.now();
    await save(goodFile(204).replace('successor: v2', 'successor: v9'));
    await vi.waitFor(
      async () => {
        const editions = await Promise.all(Array.from({ length: 10 }, askEdition));
        expect(new Set(editions)).toEqual(new Set([203]));
        expect(await gateway.metric(SUCCESSFUL)).toBe(0);
      },
      { timeout: 20_000, interval: 20 },
    );
    // Plus time for a machine that runs other tests.
    expect(performance.now() - savedAt).toBeLessThan(1_000 + 1_500);
    expect(await gateway.metric(`sundial_config_info{hash="${revision}"}`)).toBe(1);
    await save(goodFile(203));
    await vi.waitFor(async () => expect(await gateway.metric(SUCCESSFUL)).toBe(1), {
      timeout: 20_000,
      interval: 50,
    });
  });

  it('a new file and its removal', async () => {
    const file = join(folder, 'extra.yaml');
    const extra = goodFile(1).replace('api: orders', 'api: extra').replaceAll('/orders', '/extra');
    const untilStatus = (status: number) =>
      vi.waitFor(async () => expect((await client.ask({ path: '/api/v2/extra' })).status).toBe(status), {
        timeout: 20_000,
        interval: 50,
      });
    await writeFile(file, extra);
    await untilStatus(200);
    await rm(file);
    await untilStatus(404);
    expect(await askEdition()).toBe(203);
  });

  it('a change of the gateway file, which it reports and does not apply', async () => {
    const file = join(folder, 'gateway.yml');
    expect(await gateway.metric('sundial_config_restart_needed')).toBe(0);
    await writeFile(file, `${await readFile(file, 'utf8')}deprecation_header: "true"\n`);
    await vi.waitFor(
      () => expect(gateway.log.filter(({ message }) => String(message).includes('restart'))).toHaveLength(1),
      { timeout: 20_000, interval: 50 },
    );
    await gateway.reload();
    expect(await gateway.metric('sundial_config_restart_needed')).toBe(1);
    const { headers } = await client.ask({ path: '/api/v1/orders' });
    expect(headers.deprecation).toBe('@1768435200');
  });
});
