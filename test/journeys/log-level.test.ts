// The log level: from the gateway file, changed at run time, and used by workers.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { adminWriter } from '../support/admin-write.ts';
import { operate } from '../support/command.ts';
import { type LogLine, type RunningGateway, runGateway } from '../support/gateway.ts';
import { overHttp1 } from '../support/http-client.ts';
import { freePorts } from '../support/ports.ts';
import { clientPerWorker, workerPids } from '../support/worker-clients.ts';

const CONFIG = join(import.meta.dirname, 'logs/gateway.yaml');
const TAKEN_OUT = 'a target is taken out of service: its requests fail';
const stack = new AsyncDisposableStack();
let environment: Readonly<Record<string, string>>;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const [dead] = await freePorts(1);
  environment = {
    ECHO: echo.url,
    DEAD: `http://127.0.0.1:${dead}`,
    POLICIES: join(import.meta.dirname, 'logs/policies/echoed.yaml'),
  };
});
afterAll(() => stack.disposeAsync());

const start = (more: Readonly<Record<string, string>>) =>
  runGateway({ config: CONFIG, environment: { ...environment, ...more } });

async function operator({ admin, adminToken }: RunningGateway) {
  const SUNDIAL_ADMIN_TOKEN = await adminToken();
  return (...words: readonly string[]) =>
    operate(['log-level', ...words, '--admin', `http://127.0.0.1:${admin}`], {
      environment: { SUNDIAL_ADMIN_TOKEN },
    });
}

const saying = (log: readonly LogLine[], message: string) => log.filter((line) => line.message === message);

it('the log level of the gateway file applies to messages, not to access lines or the audit', async () => {
  await using gateway = await start({ LOG_LEVEL: 'warn' });
  await using client = overHttp1(gateway.https);
  expect((await client.ask({ path: '/api/v1/echoed' })).status).toBe(200);
  expect((await client.ask({ path: '/api/v2/echoed' })).status).toBe(502);
  const logLevel = await operator(gateway);
  expect(await logLevel()).toEqual({ exitCode: 0, stdout: 'warn\n', stderr: '' });
  expect(await logLevel('error', '--by', 'maria', '--why', 'too loud')).toEqual({
    exitCode: 0,
    stdout: 'error until the next restart, then warn\n',
    stderr: '',
  });
  expect((await client.ask({ path: '/api/v3/echoed' })).status).toBe(502);
  expect(await logLevel('info')).toMatchObject({ stdout: 'info until the next restart, then warn\n' });
  const { log } = gateway;
  expect(saying(log, 'started')).toEqual([]);
  expect(saying(log, TAKEN_OUT)).toMatchObject([{ level: 'warn', upstream: 'echoed-v2' }]);
  expect(log.filter(({ log: kind }) => kind === 'access')).toHaveLength(3);
  expect(saying(log, 'admin write done')).toMatchObject([
    {
      level: 'info',
      audit: {
        action: 'set_log_level',
        by: 'maria',
        why: 'too loud',
        before: { level: 'warn' },
        after: { level: 'error' },
      },
    },
    { audit: { before: { level: 'error' }, after: { level: 'info' } } },
  ]);
});

it('an unknown log level is refused', async () => {
  await using gateway = await start({});
  const logLevel = await operator(gateway);
  expect(await logLevel('debug')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('Allowed choices are info, warn, error.'),
  });
  await using admin = overHttp1(gateway.admin, { tls: false });
  const write = adminWriter(admin, await gateway.adminToken());
  const put = (body: unknown, headers = {}) => write({ method: 'PUT', path: '/-/log-level', body, headers });
  expect((await put({ level: 'error' }, { authorization: undefined })).status).toBe(401);
  expect(await put({ level: 'debug' })).toMatchObject({
    status: 400,
    json: { message: expect.stringContaining('expected "info", "warn" or "error"') },
  });
  expect((await put({})).status).toBe(400);
  expect(await logLevel('--format', 'json')).toMatchObject({
    stdout: `${JSON.stringify({ level: 'info', configured: 'info' }, undefined, 2)}\n`,
  });
});

it('a log level that is changed at run time applies to every worker, also to a new one', async () => {
  await using gateway = await start({ WORKERS: '2' });
  const logLevel = await operator(gateway);
  const failEverywhere = async (path: string): Promise<void> => {
    const clients = await clientPerWorker(gateway.https, path);
    for (const client of clients) await client[Symbol.asyncDispose]();
  };
  await logLevel('error');
  const [replaced = 0] = workerPids();
  process.kill(replaced, 'SIGKILL');
  await vi.waitFor(
    async () => {
      expect(workerPids()).not.toContain(replaced);
      expect(await gateway.metric('sundial_workers')).toBe(2);
    },
    { timeout: 20_000, interval: 20 },
  );
  await failEverywhere('/api/v2/echoed');
  await logLevel('warn');
  await failEverywhere('/api/v3/echoed');
  await vi.waitFor(() => expect(saying(gateway.log, TAKEN_OUT)).toHaveLength(2), { timeout: 20_000 });
  expect(saying(gateway.log, TAKEN_OUT)).toMatchObject([
    { upstream: 'echoed-v3' },
    { upstream: 'echoed-v3' },
  ]);
});
