// Backup and restore of the embedded store: backups during writes, and revoked keys that stay revoked.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
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
import { revokeKey } from '../../gateway/policy/authentication/key-record.ts';
import { type EmbeddedState, openEmbeddedState } from '../../gateway/stores/embedded/embedded-state.ts';
import { restoreBackup } from '../../gateway/stores/embedded/restore.ts';
import { keyRecord } from './key-store.ts';
import { onFault } from './lasting-stores.ts';
import { pauseFrom } from './override-store.ts';
import { pinOf } from './pin-store.ts';

const AT = Date.UTC(2026, 10, 20, 3);
const NAME = 'backups/2026-11-20T03-00-00.000Z.db';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sundial-backup-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = (name = 'sundial.db'): string => join(folder, name);
const open = (): Promise<EmbeddedState> => openEmbeddedState(folder, { onState: () => undefined, onFault });
const account = (name: string) => ({ api: 'payments', account: name });

async function inState<T>(use: (state: EmbeddedState) => Promise<T>): Promise<T> {
  const state = await open();
  return use(state).finally(state.close);
}

/** File names in the folder, without backups. */
const names = (): readonly string[] => readdirSync(folder).sort();

describe('a backup', () => {
  it('is complete, readable by its owner only, and has all writes acknowledged before it', async () => {
    await inState(async (state) => {
      for (let n = 0; n < 200; n += 1) await state.pins.claim(account(`before-${n}`), pinOf('v1'));
      const made = state.backup(AT);
      const written = Array.from({ length: 200 }, (_, n) =>
        state.pins.claim(account(`later-${n}`), pinOf('v1')),
      );
      expect(await made).toEqual({ file: file(NAME), bytes: statSync(file(NAME)).size });
      await Promise.all(written);
    });
    expect(statSync(file(NAME)).mode & 0o777).toBe(0o600);
    expect(statSync(file('backups')).mode & 0o777).toBe(0o700);
    expect(readdirSync(file('backups'))).toEqual(['2026-11-20T03-00-00.000Z.db']);
    using copy = new DatabaseSync(file(NAME), { readOnly: true });
    expect(copy.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    const found = copy
      .prepare("SELECT count(*) AS n FROM pin WHERE pin IS NOT NULL AND key LIKE '%before-%'")
      .get();
    expect(found).toEqual({ n: 200 });
  });

  it('is shared by concurrent requests, and is finished before the folder is released', async () => {
    const state = await open();
    const made = [state.backup(AT), state.backup(AT + 60_000)];
    await state.close();
    const [first, second] = await Promise.all(made);
    expect(first).toEqual(second);
    expect(readdirSync(file('backups'))).toHaveLength(1);
  });

  it('is a new file if it is requested after the previous one has finished', async () => {
    await inState(async (state) => {
      const names = [await state.backup(AT), await state.backup(AT + 1)].map((made) => made.file);
      expect(
        readdirSync(file('backups'))
          .map((name) => file(join('backups', name)))
          .sort(),
      ).toEqual(names);
    });
  });

  it('that cannot be written is an error without a path', async () => {
    writeFileSync(file('backups'), 'a file');
    await inState(async (state) => {
      await expect(state.backup(AT)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: 'file system error EEXIST',
      });
    });
  });
});

describe('a restore', () => {
  const revoked = keyRecord({ consumer: 'leaves' });
  const late = keyRecord({ consumer: 'late' });

  /** Makes a backup; afterwards revokes a key and adds a key, a pin and a pause. */
  async function changeAfterBackup(): Promise<void> {
    await inState(async (state) => {
      await state.keys.replace(undefined, revoked);
      await state.pins.claim(account('kept'), pinOf('v1'));
      await state.backup(AT);
      await state.keys.replace(revoked, revokeKey(revoked, 2_000));
      await state.keys.replace(undefined, late);
      await state.pins.claim(account('lost'), pinOf('v2'));
      await state.overrides.put(pauseFrom(1_000, { id: 'lost' }));
    });
  }

  it('has the state of the backup and the current API keys: revoked keys stay revoked', async () => {
    await changeAfterBackup();
    const former = 'sundial.db.before-2026-11-20T04-00-00.000Z';
    const restored = await restoreBackup(folder, file(NAME), AT + 3_600_000);
    expect(restored).toEqual({ former, keptKeys: true });
    expect(names()).toEqual(['backups', 'sundial.db', former]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    await inState(async ({ keys, pins, overrides }) => {
      expect(await keys.read(revoked.id)).toMatchObject({ revoked: 2_000 });
      expect(await keys.read(late.id)).toEqual(late);
      expect(await pins.find(account('kept'))).toMatchObject({ label: 'v1' });
      expect(await pins.find(account('lost'))).toBeUndefined();
      expect(overrides.current()).toEqual([]);
    });
    // Returns to the state before the restore.
    await restoreBackup(folder, file(former), AT + 7_200_000);
    await inState(async ({ pins }) =>
      expect(await pins.find(account('lost'))).toMatchObject({ label: 'v2' }),
    );
  });

  it('works in an empty folder', async () => {
    await changeAfterBackup();
    const elsewhere = mkdtempSync(join(tmpdir(), 'sundial-backup-'));
    try {
      expect(await restoreBackup(join(elsewhere, 'data'), file(NAME), AT)).toEqual({
        former: undefined,
        keptKeys: false,
      });
      expect(readdirSync(join(elsewhere, 'data'))).toEqual(['sundial.db']);
    } finally {
      rmSync(elsewhere, { recursive: true, force: true });
    }
  });

  it.each([
    ['empty', (former: string) => writeFileSync(former, '')],
    [
      'of another program',
      (former: string) => {
        rmSync(former);
        using other = new DatabaseSync(former);
        other.exec('CREATE TABLE t (a)');
      },
    ],
    [
      'without a table',
      (former: string) => {
        using damaged = new DatabaseSync(former);
        damaged.exec('DROP TABLE announced');
      },
    ],
  ])('over a state that is %s reports that API keys could not be kept', async (_kind, change) => {
    await changeAfterBackup();
    change(file());
    expect(await restoreBackup(folder, file(NAME), AT)).toMatchObject({ keptKeys: false });
    await inState(async ({ keys }) => expect((await keys.list()).map(({ id }) => id)).toEqual([revoked.id]));
  });

  it('over a damaged database keeps the damaged file and does not use its log', async () => {
    await changeAfterBackup();
    writeFileSync(file(), 'no database at all'.repeat(1_000));
    writeFileSync(file('sundial.db-wal'), 'a log');
    const { former = '', keptKeys } = await restoreBackup(folder, file(NAME), AT);
    expect(keptKeys).toBe(false);
    expect(names()).toEqual(['backups', 'sundial.db', former, `${former}-wal`]);
    expect(readFileSync(file(former), 'utf8')).toContain('no database at all');
    await inState(async ({ pins }) =>
      expect(await pins.find(account('kept'))).toMatchObject({ label: 'v1' }),
    );
  });

  const damage = (change: (backup: string) => void) => (): void => {
    copyFileSync(file(NAME), file('other.db'));
    change(file('other.db'));
  };
  it.each([
    ['is missing', () => undefined, /^cannot copy .*other\.db: no such file$/],
    ['is empty', damage((backup) => writeFileSync(backup, '')), /is not a Sundial backup$/],
    ['is of another program', damage((backup) => rmSync(backup)), /is not a Sundial backup$/],
    [
      'is not a database',
      damage((backup) => writeFileSync(backup, 'x'.repeat(5_000))),
      /is not a Sundial backup$/,
    ],
    [
      'is truncated',
      damage((backup) => writeFileSync(backup, readFileSync(backup).subarray(0, 8_192))),
      /cannot be restored: it is damaged/,
    ],
    [
      'lacks a table',
      damage((backup) => {
        using database = new DatabaseSync(backup);
        database.exec('DROP TABLE announced');
      }),
      /cannot be restored: it is damaged: it has no table announced$/,
    ],
    ['is a pipe', () => execFileSync('mkfifo', [file('other.db')]), /is not a Sundial backup$/],
    ['is a folder', () => mkdirSync(file('other.db')), /is not a Sundial backup$/],
    [
      'has an unreadable record of published schedules',
      damage((backup) => {
        using database = new DatabaseSync(backup);
        database.exec("INSERT OR REPLACE INTO published VALUES (1, '{not json')");
      }),
      /cannot be restored: it is damaged: the stored published files are unreadable$/,
    ],
    [
      'is of a later release',
      damage((backup) => {
        using database = new DatabaseSync(backup);
        database.exec('PRAGMA user_version = 99');
      }),
      /cannot be restored: it was written by a newer Sundial \(schema 99, this one knows \d+\)$/,
    ],
  ])('from a file that %s reports that and changes nothing', async (kind, prepare, message) => {
    await changeAfterBackup();
    prepare();
    if (kind === 'is of another program') {
      using other = new DatabaseSync(file('other.db'));
      other.exec('CREATE TABLE t (a)');
    }
    const before = names();
    await expect(restoreBackup(folder, file('other.db'), AT)).rejects.toThrow(message);
    expect(names()).toEqual(before);
    await inState(async ({ pins }) =>
      expect(await pins.find(account('lost'))).toMatchObject({ label: 'v2' }),
    );
  });

  it.each([
    ['CREATE TRIGGER spy AFTER INSERT ON api_key BEGIN DELETE FROM api_key; END', 'trigger spy'],
    ['CREATE VIEW keys AS SELECT * FROM api_key', 'view keys'],
    ['CREATE TABLE spare (a)', 'table spare'],
    ['CREATE INDEX by_text ON announced (text)', 'index by_text'],
    ['DROP TABLE pin; CREATE TABLE pin (key TEXT, pin TEXT)', 'table pin'],
  ])('from a file with a foreign table, view, index or trigger is refused: %s', async (sql, name) => {
    await changeAfterBackup();
    damage((backup) => {
      using database = new DatabaseSync(backup);
      database.exec(sql);
    })();
    await expect(restoreBackup(folder, file('other.db'), AT)).rejects.toThrow(
      `other.db cannot be restored: it is damaged: it has a ${name} that Sundial does not make`,
    );
    await inState(async ({ keys }) => expect(await keys.read(late.id)).toEqual(late));
  });

  it('is refused while a gateway runs', async () => {
    await changeAfterBackup();
    await inState(async ({ pins }) => {
      await expect(restoreBackup(folder, file(NAME), AT)).rejects.toMatchObject({
        code: 'data_folder_locked',
      });
      await pins.claim(account('still'), pinOf('v1'));
    });
    expect(names().filter((name) => name.includes('restoring'))).toEqual([]);
  });

  it('after an interrupted one succeeds and removes its partial files', async () => {
    await changeAfterBackup();
    writeFileSync(file('sundial.db.restoring'), 'half');
    appendFileSync(file('sundial.db.restoring-wal'), 'half');
    await restoreBackup(folder, file(NAME), AT);
    expect(names().filter((name) => name.includes('restoring'))).toEqual([]);
    await inState(async ({ pins }) => expect(await pins.find(account('lost'))).toBeUndefined());
  });
});
