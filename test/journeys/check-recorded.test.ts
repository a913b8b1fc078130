// `check --live` and `check --store` report what the next reload or start would refuse, and change nothing.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { operate, runCommand } from '../support/command.ts';
import { runGateway } from '../support/gateway.ts';
import { startProcess } from '../support/gateway-process.ts';
import { freePorts } from '../support/ports.ts';
import { folderForEachTest } from '../support/published-folder.ts';

const folder = folderForEachTest();
let config = '';
beforeEach(async () => {
  config = join(folder.path, 'gateway.yml');
  const [admin] = await freePorts(1);
  await folder.save(
    `public: https://127.0.0.1
listeners:
  https: { address: "127.0.0.1:0" }
  admin: { address: "127.0.0.1:${admin}" }
store: "\${env:STORE}"
data: "\${env:DATA}"
policies: "\${env:POLICIES}"
`,
    'gateway.yml',
  );
});

const REWRITTEN = 'error: the sunset of v1 was published as 2999-01-15 and is now earlier [sunset-rewritten]';
const saveEarlier = () => folder.save(folder.orders.replace('sunset: 2999-01-15', 'sunset: 2998-12-31'));
const checkByProcess = (...words: readonly string[]) =>
  runCommand(['check', '-c', config, ...words], folder.environment());

/** The same without a new process. `more`: variables besides those of the folder. */
const check = (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  operate(['check', '-c', config, ...words], { environment: folder.environment(more) });

async function storeFiles(): Promise<readonly string[]> {
  const data = join(folder.path, 'data');
  const names = (await readdir(data)).filter((name) => name.startsWith('sundial.db')).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(data, name));
      return `${name} ${size} ${mtimeMs}`;
    }),
  );
}

const start = () => runGateway({ config, realClock: true, environment: folder.environment() });

async function runOnce(): Promise<void> {
  await using _gateway = await start();
}

describe('check --live', () => {
  it('reports what the running gateway would refuse, and exits with 3 if none runs', async () => {
    {
      await using _gateway = await start();
      await saveEarlier();
      const found = await checkByProcess('--live');
      expect(found.stdout).toContain(REWRITTEN);
      expect(found.exitCode).toBe(1);
    }
    const alone = await check(['--live']);
    const why = 'cannot check what a reload would refuse: no gateway answers at';
    expect(alone.stdout).toContain(why);
    expect(alone.exitCode).toBe(3);
    const machine = await check(['--live', '--format', 'json']);
    expect(JSON.parse(machine.stdout).absent).toContainEqual(expect.stringContaining(why));
    expect(machine.exitCode).toBe(3);
    const github = await check(['--live', '--format', 'github']);
    expect(github.stdout).toMatch(new RegExp(`^::warning::${why}`, 'm'));
    await folder.save('api: [orders\n');
    expect(await check(['--live'])).toMatchObject({ exitCode: 1 });
  });
});

describe('check --store', () => {
  it('compares with the record of an ended or killed gateway, and leaves its files unchanged', async () => {
    await runOnce();
    {
      await using killed = startProcess(['run', '-c', config], folder.environment());
      await killed.ready;
      killed.kill('SIGKILL');
      await killed.ended;
    }
    await saveEarlier();
    const before = await storeFiles();
    const found = await checkByProcess('--store');
    expect(found.stdout).toContain(REWRITTEN);
    expect(found.exitCode).toBe(1);
    expect(await storeFiles()).toEqual(before);
    await folder.save(folder.orders);
    expect(await check(['--store'])).toMatchObject({ exitCode: 0 });
  });

  it('neither locks nor changes the file of a running gateway', async () => {
    await using gateway = startProcess(['run', '-c', config], folder.environment());
    const { admin } = await gateway.ready;
    await saveEarlier();
    const found = await check(['--store']);
    expect(found.exitCode).toBe(1);
    const pause = ['pause', 'orders', 'v1', '--for', '1h', '--why', 'a test', '--by', 'ada'];
    const token = (await readFile(join(folder.path, 'data/admin-token'), 'utf8')).trim();
    const asked = [...pause, '--admin', `http://127.0.0.1:${admin}`];
    expect(await operate(asked, { environment: { SUNDIAL_ADMIN_TOKEN: token } })).toMatchObject({
      exitCode: 0,
    });
  });

  it('exits with 0 and a note if nothing is recorded, and with 1 if Redis is unavailable', async () => {
    const empty = await check(['--store', '--strict']);
    const note = `nothing is recorded in ${join(folder.path, 'data')} yet, so nothing was compared;`;
    expect(empty.stdout).toMatch(new RegExp(`^${note}`, 'm'));
    expect(empty.exitCode).toBe(0);
    const machine = await check(['--store', '--format', 'json']);
    expect(JSON.parse(machine.stdout)).toEqual({
      problems: [],
      absent: [expect.stringContaining(note)],
    });
    expect(machine.exitCode).toBe(0);
    const github = await check(['--store', '--format', 'github']);
    expect(github.stdout).toMatch(new RegExp(`^::warning::${note}`, 'm'));
    await folder.save(`${folder.orders}unknwn: 1\n`);
    expect(await check(['--store'])).toMatchObject({ exitCode: 1 });
    await folder.save(folder.orders);
    await runOnce();
    expect(await check(['--store'])).toMatchObject({ exitCode: 0 });
    const [port] = await freePorts(1);
    const away = await check(['--store'], { STORE: `redis://127.0.0.1:${port}` });
    expect(away.stdout).toContain('error: cannot read the store: ECONNREFUSED [live-store]');
    expect(away.exitCode).toBe(1);
  });

  it('reads the record of gateways on Redis', async () => {
    const store = await folder.storeOf(true);
    const empty = await check(['--store'], store);
    expect(empty.stdout).toContain('nothing is recorded in that Redis yet');
    expect(empty.exitCode).toBe(0);
    await folder.publish(store);
    await saveEarlier();
    const found = await check(['--store'], store);
    expect(found.stdout).toContain(REWRITTEN);
  });

  it('names the folder that it searched if data is a relative path', async () => {
    const store = { STORE: 'embedded:data', DATA: 'data' };
    const elsewhere = await check(['--store'], store);
    expect(elsewhere.stdout).toContain(`nothing is recorded in ${resolve('data')} yet`);
  });
});

describe('status', () => {
  it('says that the last reload was refused, and that a restart is needed', async () => {
    await using gateway = await start();
    const { admin } = gateway;
    const reach = ['--admin', `http://127.0.0.1:${admin}`];
    const environment = { SUNDIAL_ADMIN_TOKEN: await gateway.adminToken() };
    expect((await operate(['status', ...reach])).stdout).toMatch(/^ready: store embedded up/);
    await saveEarlier();
    await operate(['reload', ...reach], { environment });
    expect((await operate(['status', ...reach])).stdout).toMatch(/^ready, last reload refused: store/);
    await folder.save(`${await readFile(config, 'utf8')}replicas: 2\n`, 'gateway.yml');
    await operate(['reload', ...reach], { environment });
    expect((await operate(['status', ...reach])).stdout).toMatch(
      /^ready, last reload refused, restart needed: /,
    );
    await folder.save(folder.orders);
    await operate(['reload', ...reach], { environment });
    const { stdout, exitCode } = await operate(['status', ...reach]);
    expect(stdout).toMatch(/^ready, restart needed: store/);
    expect(exitCode).toBe(0);
  });
});
