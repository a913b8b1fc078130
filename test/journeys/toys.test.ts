// Extends a copy of the tree with one toy of each kind, in the files that CONTRIBUTING.md names.
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { startProcess } from '../support/gateway-process.ts';
import { overHttp1 } from '../support/http-client.ts';
import { CARRIER } from '../support/toys/carrier.ts';
import { METRIC } from '../support/toys/metric.ts';
import { REFUSAL } from '../support/toys/refusal.ts';
import { SECTION } from '../support/toys/section.ts';
import { STORE_PORT } from '../support/toys/store-port.ts';
import { applyToys, filesOf } from '../support/toys/toy.ts';

const ROOT = join(import.meta.dirname, '../..');
const TOYS = [
  { name: 'carrier', toy: CARRIER, most: 3 },
  { name: 'metric', toy: METRIC, most: 2 },
  { name: 'refusal', toy: REFUSAL, most: 3 },
  { name: 'section', toy: SECTION, most: 9 },
  { name: 'store port', toy: STORE_PORT, most: 4 },
];
const GATEWAY = `
public: https://127.0.0.1
listeners:
  https: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:0" }
store: "embedded:\${env:DATA}"
data: "\${env:DATA}"
policies: "\${env:POLICIES}"
`;
/** Keeps two marks for the given key in the given store, and prints what is kept. */
const KEEP_MARKS = `
import { openStores } from './gateway/stores/open-stores.ts';
const [store, key] = process.argv.slice(2);
const options = { replicas: 1, monotonic: () => performance.now(), onState: () => undefined, onFault: console.error };
const stores = await openStores({ ...options, store: JSON.parse(store) });
console.log(await stores.toyMarks.keep(key, 'one'), await stores.toyMarks.keep(key, 'two'));
await stores.close();
`;
const POLICY = `
api: orders
base: /orders
resolve: [{ cookie: api-version }]
access: public
upstreams:
  v1: { targets: ["\${env:ECHO}"], path: /echo }
  v2: { targets: ["\${env:ECHO}"], path: /echo }
toy_windows: [{ from: 2024-06-01, until: 2999-01-01 }]
versions:
  v1: { released: 2024-06-01, toy_windows: [] }
  v2: { released: 2025-06-01, operations: { GET /open: { toy_windows: [] } } }
`;

const run = promisify(execFile);
const stack = new AsyncDisposableStack();
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-toys-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await applyToys(
    folder,
    TOYS.map(({ toy }) => toy),
  );
});
afterAll(() => stack.disposeAsync());

describe.each(TOYS)('a toy $name', ({ name, toy, most }) => {
  it(`takes at most ${most} files`, () => {
    expect(filesOf(toy).length).toBeLessThanOrEqual(most);
  });

  it('takes the files that CONTRIBUTING.md names', async () => {
    const page = await readFile(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    const section = page.split(`\n### A ${name}\n`)[1]?.split('\n#')[0] ?? '';
    const named = [...section.matchAll(/^- `(gateway\/[^`]+)`/gm)].map(([, file = '']) => file);
    expect(named.toSorted()).toEqual(filesOf(toy));
  });
});

describe('the tree with all toys', () => {
  it('compiles', { timeout: 120_000 }, async () => {
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const settings = {
      extends: './tsconfig.json',
      include: ['gateway'],
      exclude: ['gateway/admin/dashboard/page'],
    };
    await writeFile(join(folder, 'toys.json'), JSON.stringify(settings));
    const done = run(process.execPath, [compiler, '--noEmit', '-p', join(folder, 'toys.json')]);
    await expect(done).resolves.toMatchObject({ stdout: '' });
  });

  it('behaves as each toy describes', async () => {
    await using until = new AsyncDisposableStack();
    const echo = until.adopt(await startEcho({ port: 0 }), (service) => service.close());
    const config = join(folder, 'gateway.yaml');
    await writeFile(config, GATEWAY);
    await writeFile(join(folder, 'orders.yaml'), POLICY);
    const environment = {
      DATA: join(folder, 'data'),
      POLICIES: join(folder, 'orders.yaml'),
      ECHO: echo.url,
    };
    const gateway = until.use(startProcess(['run', '-c', config], environment, [], folder));
    const { https, admin } = await gateway.ready;
    const client = until.use(overHttp1(https));
    const ask = (cookie: string) => client.ask({ path: '/orders', headers: { cookie } });
    const answer = await ask('a=b; api-version=v1');
    expect(answer).toMatchObject({ status: 200, headers: { vary: expect.stringContaining('Cookie') } });
    expect(answer.text).toContain('["API-Version","v1"]');
    const closed = await ask('api-version=v2');
    expect([closed.status, closed.text]).toEqual([503, expect.stringContaining('closed at this hour')]);
    const open = await client.ask({ path: '/orders/open', headers: { cookie: 'api-version=v2' } });
    expect(open.text).toContain('["API-Version","v2"]');
    expect((await ask('api-version=v3')).status).toBe(400);
    const refused = await client.ask({ path: '/orders', headers: { 'x-toy-refusal': '1' } });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('asks to be refused')]);
    const page = await until.use(overHttp1(admin, { tls: false })).ask({ path: '/metrics' });
    expect(page.text).toMatch(/^sundial_toy_traces_total\{api="orders",version="v1",trace="some"\} 1$/m);
    expect(page.text).toContain(
      'sundial_version_resolutions_total{api="orders",carrier="cookie",outcome="unknown"} 1',
    );
  });

  it.each(['embedded', 'redis'])('keeps marks in the store %s', async (kind) => {
    const store =
      kind === 'redis' ? { kind, url: inject('redisUrl') } : { kind, folder: join(folder, 'marks') };
    const program = join(folder, 'keep-marks.ts');
    await writeFile(program, KEEP_MARKS);
    const done = await run(process.execPath, [program, JSON.stringify(store), randomUUID()]);
    expect(done).toEqual({ stdout: 'one one\n', stderr: '' });
  });
});
