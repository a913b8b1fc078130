// The disk of an embedded store fails: what needs it is refused, the rest works, and no write is half done.
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { adminWriter } from '../support/admin-write.ts';
import { runGateway } from '../support/gateway.ts';
import { type GatewayProcess, startProcess } from '../support/gateway-process.ts';
import { type Answer, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

/** One second, plus time for a machine that runs other tests. */
const RECOVERED_WITHIN_MS = 1_000 + 4_000;
/** The clocks of these gateways: one starts on this day, the others an hour later. */
const DAY = '2026-11-20';
const AN_HOUR_LATER = Date.UTC(2026, 10, 20, 1);
const stack = new AsyncDisposableStack();
let issuer: TestIssuer;
let environment: Readonly<Record<string, string>>;
let base = '';
let data = '';

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  base = await mkdtemp(join(tmpdir(), 'sundial-disk-'));
  stack.defer(() => rm(base, { recursive: true, force: true }));
  data = join(base, 'data');
  environment = {
    ECHO: echo.url,
    ISSUER: issuer.url,
    DATA: data,
    STORE: `embedded:${data}`,
    POLICIES: join(import.meta.dirname, 'store-faults/*.yaml'),
  };
});
afterAll(() => stack.disposeAsync());

const runProgram = promisify(execFile);

/** File modes bind root only without these capabilities. */
const BOUND_BY_MODES =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];

/** Limits the size of the process's files, so that SQLite meets a full disk during a write. */
async function growNoFileBeyond(bytes: number | 'unlimited', { pid }: GatewayProcess): Promise<void> {
  await runProgram('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`]);
}

async function askersOf({ https, admin }: { readonly https: number; readonly admin: number }) {
  const client = stack.use(overHttp1(https));
  const operator = stack.use(overHttp1(admin, { tls: false }));
  const write = adminWriter(operator, (await readFile(join(data, 'admin-token'), 'utf8')).trim());
  const author = { by: 'alice', why: 'incident 4711' };
  return {
    ask: async (path: string, id = 'anyone'): Promise<Answer> => {
      const authorization = `Bearer ${await issuer.sign({ sub: id, client_id: id })}`;
      return client.ask({ path, headers: { authorization } });
    },
    pause: (version: string) =>
      write({ method: 'POST', path: '/-/pauses', body: { api: 'orders', version, for: '10d', ...author } }),
    pin: (account: string, version: string) =>
      write({ method: 'PUT', path: `/-/pins/accounts/${account}`, body: { version, ...author } }),
    paused: async () => {
      const { json } = await operator.ask({ path: '/-/overrides' });
      return (json.overrides as { version: string }[]).map(({ version }) => version);
    },
    pinOf: async (account: string) => (await operator.ask({ path: `/-/pins/accounts/${account}` })).text,
    look: (path: string) => operator.ask({ path }),
    isUp: async () =>
      Number(
        /^sundial_store_up\{store="embedded"\} (\d)$/m.exec(
          (await operator.ask({ path: '/metrics' })).text,
        )?.[1],
      ),
  };
}
type Askers = Awaited<ReturnType<typeof askersOf>>;

/** Expects refusals of writes to the disk, and that everything else works and stored state is unchanged. */
async function expectOnlyWritesToFail({ ask, pause, pin, paused, look, isUp }: Askers, number: number) {
  const known = await paused();
  for (const write of [() => pause('v2'), () => pin('another', '2026-06-01')])
    expect(await write()).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      json: {
        message: 'The store does not answer. Check whether the change was made, then retry.',
        retryAfter: 1,
      },
    });
  for (let call = 0; call < 10; call += 1) {
    expect((await ask('/api/v1/orders')).status).toBe(200);
    expect((await ask('/api/accounts', 'known')).status).toBe(200);
  }
  expect(await ask('/api/accounts', `unknown ${number}`)).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1', 'proxy-status': 'sundial; error=destination_unavailable' },
    json: {
      message: 'The version of this account cannot be looked up right now. Name a version in API-Version.',
    },
  });
  // Limits count in memory.
  expect((await ask('/api/local', `counted ${number}`)).headers).toMatchObject({
    'x-ratelimit-remaining': '4',
  });
  expect(await paused()).toEqual(known);
  expect(await isUp()).toBe(0);
  expect((await look('/-/ready')).status).toBe(200);
  expect((await look('/-/healthy')).status).toBe(200);
}

const openHere = () =>
  runGateway({ environment, policies: 'store-faults', lifecycleNow: () => AN_HOUR_LATER });

const isBack = async ({ isUp }: Askers): Promise<void> => {
  const before = performance.now();
  await vi.waitFor(async () => expect(await isUp()).toBe(1), { timeout: 20_000, interval: 25 });
  expect(performance.now() - before).toBeLessThan(RECOVERED_WITHIN_MS);
};

describe('a full disk', () => {
  it('refuses only writes, recovers once there is room, and loses nothing in a crash', async () => {
    await using gateway = startProcess(['run', '-c', 'test/journeys/gateway.yaml', '--at', DAY], environment);
    const askers = await askersOf(await gateway.ready);
    const { ask, pause, pin, paused } = askers;
    expect((await pause('v1')).status).toBe(201);
    expect((await pin('known', '2026-03-01')).status).toBe(200);

    const log = join(data, 'sundial.db-wal');
    // Room for nothing, then for half of a write.
    for (const [number, room] of [0, 1_000].entries()) {
      await growNoFileBeyond((await stat(log)).size + room, gateway);
      await expectOnlyWritesToFail(askers, number);
      await growNoFileBeyond('unlimited', gateway);
      await isBack(askers);
      expect((await ask('/api/accounts', `unknown ${number}`)).status).toBe(200);
    }
    expect(gateway.stdout).toMatch(
      /"level":"error",.*the data folder refuses an operation \((disk I\/O error|database or disk is full)\)/,
    );
    expect(gateway.stdout).toMatch(
      /"level":"error",.*"action":"pause",.*"message":"admin write unavailable"/,
    );
    expect(await paused()).toEqual(['v1']);
    expect((await pause('v2')).status).toBe(201);
    gateway.kill('SIGKILL');
    await gateway.ended;

    await using again = await openHere();
    const after = await askersOf(again);
    expect((await after.paused()).toSorted()).toEqual(['v1', 'v2']);
    expect(await after.pinOf('known')).toContain('2026-03-01');
  });
});

describe('a data folder', () => {
  it('that is moved away refuses writes, and is used again when it is back', async () => {
    await using gateway = await openHere();
    const askers = await askersOf(gateway);
    expect((await askers.ask('/api/accounts', 'known')).status).toBe(200);
    await rename(data, `${data}-away`);
    await expectOnlyWritesToFail(askers, 7);
    expect(gateway.logText()).toContain('sundial.db was removed or replaced while it was open');
    await rename(`${data}-away`, data);
    await isBack(askers);
    expect((await askers.pin('known', '2026-06-01')).status).toBe(200);
  });

  it.each([
    ['without a database', false, 'EACCES: permission denied, open'],
    ['with a database', true, 'attempt to write a readonly database'],
  ])(
    'that is read-only, %s, stops the start with 3 and says who must be able to write',
    async (_what, used, reason) => {
      const folder = await mkdtemp(join(base, 'read-only-'));
      if (used) {
        const before = await runGateway({
          environment: { ...environment, STORE: `embedded:${folder}` },
          policies: 'store-faults',
        });
        await before[Symbol.asyncDispose]();
        await chmod(join(folder, 'sundial.db'), 0o444);
      }
      await chmod(folder, 0o555);
      await using gateway = startProcess(
        ['run', '-c', 'test/journeys/gateway.yaml'],
        { ...environment, STORE: `embedded:${folder}` },
        BOUND_BY_MODES,
      );
      expect(await gateway.ended).toBe(3);
      expect(gateway.stderr).toContain(
        `sundial: cannot start: the data folder ${folder} cannot be used: ${reason}`,
      );
      expect(gateway.stderr).toMatch(/; this user must be able to write to it and to sundial\.db\n$/);
    },
  );

  it('with a damaged database stops the start with the file, the reason and the remedy', async () => {
    const damaged = join(base, 'damaged');
    await mkdir(damaged);
    await writeFile(join(damaged, 'sundial.db'), 'this is no database, and never was one'.repeat(100));
    const started = runGateway({
      environment: { ...environment, STORE: `embedded:${damaged}` },
      policies: 'store-faults',
    });
    await expect(started).rejects.toThrow(
      `${damaged}/sundial.db is damaged: file is not a database; restore a backup, or move the file away to start without its pins, pauses, API keys and ledger`,
    );
  });
});
