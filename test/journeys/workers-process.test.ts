// Workers as an operator and a supervisor see them: one process to signal, and none left behind.
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { overHttp1, overHttp2 } from '../support/http-client.ts';
import { untilInFlight } from '../support/until-in-flight.ts';
import { workersOf } from '../support/worker-clients.ts';

const stack = new AsyncDisposableStack();
const PATH = '/api/v1/open';
const OPEN = readFileSync(join(import.meta.dirname, 'workers/open.yaml'), 'utf8');
/** Prints the flags that a process gives to V8. */
const PRINTED_FLAGS = join(import.meta.dirname, '../support/printed-flags.cjs');
const WITHIN = { timeout: 40_000, interval: 50 };
let echo: Service;

beforeAll(async () => {
  echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
});
afterAll(() => stack.disposeAsync());

/** A folder with one policy. */
async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sundial-workers-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, 'open.yaml'), OPEN);
  return folder;
}

const start = (
  folder: string,
  more: Readonly<Record<string, string>> = {},
  config = 'test/journeys/gateway.yaml',
) =>
  stack.use(
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

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false; // no such process
  }
};
const allGone = (pids: readonly number[]) =>
  vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), WITHIN);

describe('a gateway that runs', () => {
  let folder = '';
  let gateway: GatewayProcess;
  let workers: readonly number[] = [];
  beforeAll(async () => {
    folder = await openFolder();
    gateway = start(folder, { NODE_OPTIONS: `--require=${PRINTED_FLAGS}` });
    await gateway.ready;
    workers = workersOf(gateway.pid);
  });
  /** Each request has a connection of its own, so that each worker gets some. */
  async function askAll(count: number, path: string) {
    const { https } = await gateway.ready;
    await using own = new AsyncDisposableStack();
    const clients = Array.from({ length: count }, () => own.use(overHttp1(https)));
    return await Promise.all(clients.map((client) => client.ask({ path })));
  }
  const accessLines = (path: string) =>
    gateway.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .filter((line) => line.log === 'access' && line.path.startsWith(path));

  it('passes the memory flags of V8 to the primary and every worker', () => {
    for (const pid of [gateway.pid, ...workers]) {
      expect(gateway.stderr).toContain(`${pid} --no-allocation-site-pretenuring\n`);
      expect(gateway.stderr).toMatch(new RegExp(`^${pid} --heap-growing-percent=\\d+$`, 'm'));
    }
  });

  it('ignores signals to its workers', async () => {
    expect(workers).toHaveLength(2);
    for (const pid of workers)
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.kill(pid, signal);
    expect((await askAll(2, PATH)).map(({ status }) => status)).toEqual([200, 200]);
    expect(workersOf(gateway.pid)).toEqual(workers);
  });

  it('writes log lines that are longer than the pipe buffer in one piece', async () => {
    // In JSON each character is escaped, so the path is twice as long as it was sent.
    const path = `${PATH}/long/${'"'.repeat(2040)}`;
    for (let round = 0; round < 10; round += 1) await askAll(12, path);
    const lines = await vi.waitFor(() => {
      const written = accessLines(`${PATH}/long/`);
      expect(written).toHaveLength(120);
      return written;
    }, WITHIN);
    for (const line of lines) expect(JSON.stringify(line).length).toBeGreaterThan(4096);
  });

  it('reloads the policies in every worker on SIGHUP', async () => {
    await writeFile(join(folder, 'shut.yaml'), OPEN.replaceAll('open', 'shut'));
    gateway.kill('SIGHUP');
    await vi.waitFor(() => expect(gateway.stdout).toContain('policies reloaded'), WITHIN);
    const answers = await askAll(12, '/api/v1/shut');
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  });

  it('on SIGTERM is not ready, finishes requests in every worker, and exits with 0', async () => {
    const { admin } = await gateway.ready;
    const asking = askAll(8, `${PATH}/last?delay=1500`);
    await untilInFlight(echo, 8);
    await using probe = overHttp1(admin, { tls: false });
    expect((await probe.ask({ path: '/-/ready' })).status).toBe(200);
    gateway.kill('SIGTERM');
    await vi.waitFor(async () => expect((await probe.ask({ path: '/-/ready' })).status).toBe(503), WITHIN);
    for (const answer of await asking)
      expect(answer).toMatchObject({ status: 200, complete: true, headers: { connection: 'close' } });
    expect(await gateway.ended).toBe(0);
    await allGone(workers);
    expect(accessLines(`${PATH}/last`)).toHaveLength(8);
  });
});

describe('shutdown', () => {
  it('a second signal ends all processes at once', async () => {
    const gateway = start(await openFolder());
    const { https } = await gateway.ready;
    const workers = workersOf(gateway.pid);
    await using client = overHttp2(https);
    const left = client.begin({ path: `${PATH}?hang=1` });
    await untilInFlight(echo, 1);
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
    const gateway = start(await openFolder());
    await gateway.ready;
    const workers = workersOf(gateway.pid);
    expect(workers).toHaveLength(2);
    gateway.kill('SIGKILL');
    await allGone(workers);
  });
});

describe('a start that fails', () => {
  it('exits with 3 and names the listener and its address', async () => {
    const folder = await openFolder();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    stack.defer(() => new Promise<void>((resolve) => void taken.close(() => resolve())));
    const { port } = taken.address() as { port: number };
    const text = await readFile(join(import.meta.dirname, 'gateway.yaml'), 'utf8');
    const config = join(folder, 'gateway.yml');
    await writeFile(
      config,
      text.replace('https: { address: "127.0.0.1:0"', `https: { address: "127.0.0.1:${port}"`),
    );
    const gateway = start(folder, {}, config);
    expect(await gateway.ended).toBe(3);
    expect(gateway.stderr).toContain(
      `sundial: cannot start: the https listener cannot listen on 127.0.0.1:${port}: the address is in use`,
    );
  });

  it('exits with 3 and the reason if workers end before they are ready', async () => {
    const folder = await openFolder();
    const dying = join(folder, 'dying.mjs');
    await writeFile(dying, `if (/worker.[jt]s$/.test(process.argv[1])) process.exit(7);\n`);
    const gateway = start(folder, { NODE_OPTIONS: `--import ${dying}` });
    expect(await gateway.ended).toBe(3);
    expect(gateway.stderr).toContain('sundial: cannot start: the worker has ended (exit code 7)');
  });
});
