// Several workers as an operator and a supervisor see them: one process to signal, none left behind.
// What they answer has its own file, workers.test.ts.
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { overHttp1, overHttp2 } from '../support/http-client.ts';

const stack = new AsyncDisposableStack();
const PATH = '/api/v1/open';
const WITHIN = { timeout: 40_000, interval: 50 };
let perTest = new AsyncDisposableStack();
let echo: Service;
let folder = '';

beforeAll(async () => {
  echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
});
afterAll(() => stack.disposeAsync());
beforeEach(async () => {
  perTest = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'sundial-workers-'));
  perTest.defer(() => rm(folder, { recursive: true, force: true }));
  const text = await readFile(join(import.meta.dirname, 'workers/open.yaml'), 'utf8');
  await writeFile(join(folder, 'open.yaml'), text);
});
afterEach(() => perTest.disposeAsync());

const start = (more: Readonly<Record<string, string>> = {}, config = 'test/journeys/gateway.yaml') =>
  perTest.use(
    startProcess(['run', '-c', config], {
      DATA: join(folder, 'data'),
      STORE: `embedded:${join(folder, 'data')}`,
      ISSUER: 'http://127.0.0.1:9',
      POLICIES: join(folder, '*.yaml'),
      ECHO: echo.url,
      WORKERS: '2',
      ...more,
    }),
  );

/** Workers of a gateway, by process id. */
function workersOf({ pid }: GatewayProcess): readonly number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid), '-f', 'worker.ts'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '')
      .map(Number);
  } catch {
    return []; // pgrep ends with 1 where there is none
  }
}
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
};
const allGone = (pids: readonly number[]) =>
  vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), WITHIN);

async function inFlight(count: number): Promise<void> {
  await using client = overHttp1(echo.port, { tls: false });
  await vi.waitFor(
    async () => expect((await client.ask({ path: '/echo/-/count' })).json.active).toBe(count),
    WITHIN,
  );
}

describe('the end', () => {
  it('SIGTERM: not ready from the first moment, every worker finishes what it answers, exit 0, nobody left', async () => {
    const gateway = start();
    const { https, admin } = await gateway.ready;
    const workers = workersOf(gateway);
    expect(workers).toHaveLength(2);
    const asking = Array.from({ length: 8 }, () => perTest.use(overHttp1(https)));
    const answers = asking.map((client) => client.ask({ path: `${PATH}?delay=1500` }));
    await inFlight(8);
    await using probe = overHttp1(admin, { tls: false });
    expect((await probe.ask({ path: '/-/ready' })).status).toBe(200);
    gateway.kill('SIGTERM');
    await vi.waitFor(async () => expect((await probe.ask({ path: '/-/ready' })).status).toBe(503), WITHIN);
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ status: 200, complete: true, headers: { connection: 'close' } });
    expect(await gateway.ended).toBe(0);
    await allGone(workers);
    const lines = gateway.stdout.split('\n').filter((line) => line.includes('"log":"access"'));
    expect(lines).toHaveLength(8);
  });

  it('a second signal ends all processes at once', async () => {
    const gateway = start();
    const { https } = await gateway.ready;
    const workers = workersOf(gateway);
    await using client = overHttp2(https);
    const left = client.begin({ path: `${PATH}?hang=1` });
    await inFlight(1);
    gateway.kill('SIGTERM');
    await vi.waitFor(() => expect(gateway.stdout).toContain('"draining"'), WITHIN);
    gateway.kill('SIGTERM');
    const ended = Promise.withResolvers<string>();
    const late = setTimeout(() => ended.resolve('too late'), 20_000);
    void gateway.ended.then(() => ended.resolve('ended'));
    expect(await ended.promise).toBe('ended');
    clearTimeout(late);
    await allGone(workers);
    left.leave();
  });

  it('kill -9 of the primary leaves no worker behind', async () => {
    const gateway = start();
    await gateway.ready;
    const workers = workersOf(gateway);
    expect(workers).toHaveLength(2);
    gateway.kill('SIGKILL');
    await allGone(workers);
  });

  it('a signal that reaches the workers as well is left to the primary', async () => {
    const gateway = start();
    const { https } = await gateway.ready;
    const workers = workersOf(gateway);
    for (const pid of workers)
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal);
    await using client = overHttp1(https);
    expect((await client.ask({ path: PATH })).status).toBe(200);
    expect(workersOf(gateway)).toEqual(workers);
  });
});

describe('a start that fails', () => {
  it('says which listener cannot have its address, ends with 3, and leaves nobody', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    perTest.defer(() => new Promise<void>((resolve) => void taken.close(() => resolve())));
    const { port } = taken.address() as { port: number };
    const text = await readFile(join(import.meta.dirname, 'gateway.yaml'), 'utf8');
    const config = join(folder, 'gateway.yml');
    await writeFile(
      config,
      text.replace('https: { address: "127.0.0.1:0"', `https: { address: "127.0.0.1:${port}"`),
    );
    const gateway = start({}, config);
    expect(await gateway.ended).toBe(3);
    expect(gateway.stderr).toContain(
      `sundial: cannot start: the https listener cannot have 127.0.0.1:${port}: it is in use`,
    );
  });

  it('workers that end before they can answer are tried three times each, then it ends with 3 and says how', async () => {
    const dying = join(folder, 'dying.mjs');
    await writeFile(dying, `import cluster from 'node:cluster';\nif (cluster.isWorker) process.exit(7);\n`);
    const gateway = start({ NODE_OPTIONS: `--import ${dying}` });
    expect(await gateway.ended).toBe(3);
    expect(gateway.stderr).toContain('sundial: cannot start: the worker has ended (exit code 7)');
  });
});

it('SIGHUP: the primary reads the policies again, and every worker goes by them', async () => {
  const gateway = start();
  const { https } = await gateway.ready;
  const text = await readFile(join(folder, 'open.yaml'), 'utf8');
  await writeFile(join(folder, 'open.yaml'), text.replaceAll('open', 'shut'));
  gateway.kill('SIGHUP');
  await vi.waitFor(() => expect(gateway.stdout).toContain('policies reloaded'), WITHIN);
  const clients = Array.from({ length: 12 }, () => perTest.use(overHttp1(https)));
  const answers = await Promise.all(clients.map((client) => client.ask({ path: '/api/v1/shut' })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});

it('log lines longer than a pipe takes at once are whole, whoever wrote them', async () => {
  const gateway = start();
  const { https } = await gateway.ready;
  // Escaped in JSON, each is twice as long as it was sent.
  const path = `${PATH}/${'"'.repeat(2040)}`;
  const clients = Array.from({ length: 12 }, () => perTest.use(overHttp1(https)));
  for (let round = 0; round < 10; round += 1)
    await Promise.all(clients.map((client) => client.ask({ path })));
  gateway.kill('SIGTERM');
  expect(await gateway.ended).toBe(0);
  const lines = gateway.stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
  const access = lines.filter(({ log }) => log === 'access');
  expect(access).toHaveLength(120);
  for (const line of access) expect(JSON.stringify(line).length).toBeGreaterThan(4096);
});
