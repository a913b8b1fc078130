// An operator backs up a running gateway, stops it and restores the backup.
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operate } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { startRedis } from '../support/redis-server.ts';
import { CONFIG } from './admin-config/fixture.ts';

const stack = new AsyncDisposableStack();
let data = '';
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), 'sundial-backup-'));
  stack.defer(() => rm(data, { recursive: true, force: true }));
});
afterAll(() => stack.disposeAsync());

const policies = join(import.meta.dirname, 'admin-isolation/policies');
const environment = () => ({
  ECHO: 'http://127.0.0.1:9',
  DATA: data,
  STORE: `embedded:${data}`,
  ISSUER: 'http://127.0.0.1:9',
  POLICIES: join(policies, '*.yaml'),
});
const start = (more: Readonly<Record<string, string>> = {}): Promise<RunningGateway> =>
  runGateway({ config: CONFIG, policies, environment: { ...environment(), ...more } });

async function atGateway(gateway: RunningGateway, words: readonly string[]) {
  return operate([...words, '--admin', `http://127.0.0.1:${gateway.admin}`], {
    environment: { SUNDIAL_ADMIN_TOKEN: await gateway.adminToken() },
  });
}

const restore = (words: readonly string[], confirm?: () => Promise<boolean>) =>
  operate(['restore', ...words, '-c', CONFIG], {
    environment: environment(),
    now: () => Date.UTC(2026, 10, 21),
    ...(confirm && { confirm }),
  });

describe('backup and restore', () => {
  let file = '';
  it('a running gateway writes a backup and audits it', async () => {
    await using gateway = await start();
    const added = await atGateway(gateway, ['keys', 'add', 'acme', '--why', 'a test', '--json']);
    const { key } = JSON.parse(added.stdout);
    const made = await atGateway(gateway, ['backup']);
    expect(made).toMatchObject({ exitCode: 0, stderr: '' });
    const [name = ''] = await readdir(join(data, 'backups'));
    file = join(data, 'backups', name);
    expect(made.stdout).toMatch(/^\S+, \d+ KiB\n$/);
    expect(made.stdout.split(',')[0]).toBe(file);
    expect(gateway.log.at(-1)).toMatchObject({
      message: 'admin write done',
      audit: { action: 'backup', subject: file },
    });
    expect((await atGateway(gateway, ['keys', 'revoke', key.id, '--why', 'lost'])).exitCode).toBe(0);
    const refused = await restore(['--yes', file]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('is in use by another Sundial process; stop that process');
  });

  it('restore asks for confirmation, and changes nothing without it', async () => {
    expect(await restore([file])).toMatchObject({
      exitCode: 2,
      stderr: 'sundial: there is no terminal for the question: use --yes\n',
    });
    expect(await restore([file], async () => false)).toMatchObject({
      exitCode: 1,
      stderr: 'sundial: nothing was restored\n',
    });
    const missing = join(data, 'none.db');
    expect(await restore([missing])).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `sundial: cannot read ${missing}: no such file\n`,
    });
  });

  it('restore keeps the former state, and a key that was revoked since stays revoked', async () => {
    const former = 'sundial.db.before-2026-11-21T00-00-00.000Z';
    expect(await restore([file], async () => true)).toEqual({
      exitCode: 0,
      stdout: `Restored. The former state is kept as ${former} in the data folder.\n`,
      stderr: '',
    });
    expect(await readdir(data)).toContain(former);
    await using gateway = await start();
    const { stdout } = await atGateway(gateway, ['keys', 'list', '--json']);
    expect(JSON.parse(stdout).keys).toMatchObject([{ consumer: 'acme', state: 'revoked' }]);
  });

  it('with Redis, both commands fail and say where the state is', async () => {
    const redis = stack.adopt(await startRedis(), (server) => server.stop());
    await using gateway = await start({ STORE: redis.url });
    const { exitCode, stderr } = await atGateway(gateway, ['backup']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('The state of this gateway is in Redis');
    const restored = await operate(['restore', '--yes', file, '-c', CONFIG], {
      environment: { ...environment(), STORE: redis.url },
    });
    expect(restored).toMatchObject({
      exitCode: 1,
      stderr: 'sundial: the state is in Redis: restore it there\n',
    });
  });
});

it.each(['/dev/null', '/dev/null/data'])(
  'check reports a data folder whose path is a file: %s',
  async (DATA) => {
    const { stdout } = await operate(['check', '-c', CONFIG, '--format', 'json'], {
      environment: { ...environment(), DATA, STORE: `embedded:${DATA}` },
    });
    expect(JSON.parse(stdout).problems).toContainEqual(
      expect.objectContaining({
        rule: 'data-folder',
        message: expect.stringMatching(
          /^the data folder .* cannot be created: its path, or a parent of it, is a file/,
        ),
      }),
    );
  },
);

describe('a data folder of a newer version', () => {
  it('is reported by check', async () => {
    using database = new DatabaseSync(join(data, 'sundial.db'));
    database.exec('PRAGMA user_version = 99');
    database.close();
    const checked = await operate(['check', '-c', CONFIG, '--format', 'json'], {
      environment: environment(),
    });
    expect(checked.exitCode).toBe(1);
    expect(JSON.parse(checked.stdout).problems).toContainEqual(
      expect.objectContaining({
        rule: 'data-folder',
        message: expect.stringContaining('it was written by a newer Sundial (schema 99, this one knows'),
      }),
    );
  });
});
