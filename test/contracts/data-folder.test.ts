// Tests of the data folder: permissions, its lock, damaged files and migrations.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type DataFolder,
  DataFolderError,
  openDataFolder,
} from '../../gateway/stores/embedded/data-folder.ts';

const module = new URL('../../gateway/stores/embedded/data-folder.ts', import.meta.url).href;

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'sundial-data-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const open = (folder: string): Promise<DataFolder> =>
  openDataFolder(folder, { onState: () => undefined, onFault: (error) => expect.fail(String(error)) });

async function openAndClose(folder: string): Promise<void> {
  const held = await open(folder);
  await held.close();
}

async function refusal(folder: string): Promise<DataFolderError> {
  try {
    await openAndClose(folder);
  } catch (error) {
    if (error instanceof DataFolderError) return error;
    throw error;
  }
  return expect.fail('the folder was opened');
}

/** The schema of the first release. */
const FIRST_TABLES = `
  CREATE TABLE pin (key TEXT PRIMARY KEY, pin TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE override (id TEXT PRIMARY KEY, override TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE published (one INTEGER PRIMARY KEY CHECK (one = 1), files TEXT NOT NULL) STRICT;`;

describe('the data folder', () => {
  it('is created with its parents, with access for its owner only', async () => {
    const folder = join(base, 'a/data');
    await openAndClose(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  const modes = (folder: string) =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]));

  it('has a database and a log for its owner only, and the log is deleted on close', async () => {
    const folder = join(base, 'data');
    const umask = process.umask(0);
    try {
      const held = await open(folder);
      await held.database.call('putOverride', 'id', 'text');
      expect(modes(folder)).toEqual({ 'sundial.db': 0o600, 'sundial.db-wal': 0o600 });
      await held.close();
      expect(modes(folder)).toEqual({ 'sundial.db': 0o600 });
    } finally {
      process.umask(umask);
    }
  });

  it('restricts the permissions of an older database, and is locked', async () => {
    const folder = join(base, 'data');
    mkdirSync(folder);
    writeFileSync(join(folder, 'sundial.db'), '');
    chmodSync(join(folder, 'sundial.db'), 0o644);
    const held = await open(folder);
    expect(modes(folder)['sundial.db']).toBe(0o600);
    expect((await refusal(folder)).code).toBe('data_folder_locked');
    expect((await refusal(folder)).code).toBe('data_folder_locked');
    await held.close();
  });

  it('is locked by one process: a second process gets an error until the first has closed it', async () => {
    const folder = join(base, 'data');
    const held = await open(folder);
    const { code, message } = await refusal(folder);
    expect(code).toBe('data_folder_locked');
    expect(message).toContain(folder);
    expect(message).toContain('another Sundial process');
    await held.close();
    await openAndClose(folder);
  });

  it('stays locked without any reference to it, and is unlocked by SIGKILL', async () => {
    const folder = join(base, 'data');
    const script = `import { openDataFolder } from ${JSON.stringify(module)};
      await openDataFolder(process.argv[1], { onState() {}, onFault() {} });
      gc();
      setTimeout(() => process.stdout.write('held'), 1);
      setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', script, folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const ended = once(child, 'exit');
    try {
      await Promise.race([once(child.stdout, 'data'), ended]);
      expect((await refusal(folder)).code).toBe('data_folder_locked');
    } finally {
      child.kill('SIGKILL');
      await ended;
    }
    await openAndClose(folder);
  });

  it('a file in its place gives an error with the path and the reason', async () => {
    const file = join(base, 'file');
    writeFileSync(file, '');
    const { code, message } = await refusal(file);
    expect(code).toBe('data_folder_unusable');
    expect(message).toContain(file);
  });

  it('a folder that cannot be created gives an error at once', async () => {
    const { code, message } = await refusal('/proc/sundial/data');
    expect(code).toBe('data_folder_unusable');
    expect(message).toContain('/proc/sundial/data cannot be used: ');
  });

  it('a damaged database gives an error with the path and the reason', async () => {
    writeFileSync(join(base, 'sundial.db'), 'this is no database, whatever its name says'.repeat(100));
    chmodSync(join(base, 'sundial.db'), 0o600);
    const { code, message } = await refusal(base);
    expect(code).toBe('data_folder_unusable');
    expect(message).toContain(`${join(base, 'sundial.db')} is damaged`);
    expect(message).toContain('not a database');
    expect(message).toContain('restore a backup, or move the file away');
  });

  it('a database with a damaged page gives an error at open, not at a request', async () => {
    const file = join(base, 'sundial.db');
    await openAndClose(base);
    const database = new DatabaseSync(file);
    const { page_size: page } = database.prepare('PRAGMA page_size').get() ?? {};
    database.close();
    const bytes = readFileSync(file);
    bytes.fill(0xff, Number(page), 2 * Number(page));
    writeFileSync(file, bytes);
    const { code, message } = await refusal(base);
    expect(code).toBe('data_folder_unusable');
    expect(message).toContain(`${file} is damaged`);
  });

  it('a database of a newer release is not changed, and the error names its schema', async () => {
    const file = join(base, 'sundial.db');
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA user_version = 4711');
    newer.close();
    const { code, message } = await refusal(base);
    expect(code).toBe('data_folder_unusable');
    expect(message).toContain(`${file} cannot be used: it was written by a newer Sundial (schema 4711`);
    const still = new DatabaseSync(file);
    expect(still.prepare('PRAGMA user_version').get()).toEqual({ user_version: 4711 });
    expect(still.prepare('SELECT * FROM sqlite_schema').all()).toEqual([]);
    still.close();
  });

  it('a database without a ledger gets its tables and keeps its data', async () => {
    const older = new DatabaseSync(join(base, 'sundial.db'));
    older.exec(`${FIRST_TABLES}
      INSERT INTO pin VALUES ('k', 'p');
      PRAGMA user_version = 1;`);
    older.close();
    for (let start = 0; start < 2; start += 1) {
      const held = await open(base);
      expect(await held.database.call('findPin', 'k')).toBe('p');
      expect(await held.database.call('usageBegan', undefined, undefined)).toBeUndefined();
      await held.close();
    }
  });

  it('a ledger of a schema without API keys is complete after the migration and can be written', async () => {
    const older = new DatabaseSync(join(base, 'sundial.db'));
    older.exec(`${FIRST_TABLES}
      CREATE TABLE usage (
        id INTEGER PRIMARY KEY,
        api TEXT NOT NULL, version TEXT NOT NULL, consumer TEXT NOT NULL, via TEXT NOT NULL, operation TEXT NOT NULL,
        first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, agents TEXT NOT NULL, sample TEXT,
        UNIQUE (api, version, consumer, via, operation)
      ) STRICT;
      CREATE INDEX usage_by_consumer ON usage (consumer, api, version, via, operation);
      CREATE TABLE usage_day (record INTEGER NOT NULL, day INTEGER NOT NULL, calls INTEGER NOT NULL, PRIMARY KEY (record, day))
        STRICT, WITHOUT ROWID;
      CREATE TABLE usage_watch (api TEXT NOT NULL, version TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (api, version))
        STRICT, WITHOUT ROWID;
      CREATE TABLE usage_writer (writer TEXT PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      INSERT INTO usage VALUES (1, 'orders', 'v1', 'acme', 'token', '', 5, 9, 'curl/8', NULL);
      INSERT INTO usage_day VALUES (1, 20000, 7);
      INSERT INTO usage_writer VALUES ('w', 3, 9);
      PRAGMA user_version = 2;`);
    older.close();
    const held = await open(base);
    const subject = {
      api: 'orders',
      version: 'v1',
      consumer: 'acme',
      via: 'token',
      operation: undefined,
    } as const;
    const calls = { firstAt: 10, lastAt: 11, callsByDay: { '2024-10-04': 2 }, agents: [], sample: undefined };
    const batch = { writer: 'w', at: 11, watched: [], records: [{ ...subject, ...calls }] };
    // The last batch that its writer sent before the update, and the next one.
    for (const number of [3, 4]) await held.database.call('addUsage', { ...batch, number });
    expect(await held.database.call('readUsage', {}, 0, undefined, 9)).toMatchObject({
      records: [{ firstAt: 5, lastAt: 11, callsByDay: { '2024-10-04': 9 }, agents: ['curl/8'] }],
    });
    await held.close();
  });

  it('an empty file gets the tables', async () => {
    writeFileSync(join(base, 'sundial.db'), '', { mode: 0o600 });
    const held = await open(base);
    expect(await held.database.call('allOverrides')).toEqual([]);
    await held.close();
  });
});
