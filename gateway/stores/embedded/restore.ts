// Puts a backup in the place of sundial.db, while no gateway runs on the data folder.
import { chmod, copyFile, link, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { EpochMs } from '../../policy/contract.ts';
import { makeFolder } from '../../system/make-folder.ts';
import { fileTime } from './backup.ts';
import { DATABASE_FILE, hasDatabase, toDataFolderError } from './data-folder.ts';
import { failureOf, OpenError, openFile } from './open-file.ts';
import { schemaOf } from './schema.ts';

export interface Restored {
  /** What the former database is called now, below the data folder; undefined where there was none. */
  readonly former: string | undefined;
  /** Whether API keys and sent notices of the former database were kept; false where it could not be read. */
  readonly keptKeys: boolean;
}

/**
 * Tables of which the former rows stay: a key that was revoked or rotated since the backup stays so, and a notice that was sent
 * since is not sent again.
 */
const KEPT_TABLES = ['api_key', 'announced'];

/** @throws Error with a sentence for the operator; the data folder is then as it was */
export async function restoreBackup(folder: string, backup: string, at: EpochMs): Promise<Restored> {
  const file = join(folder, DATABASE_FILE);
  const fresh = `${file}.restoring`;
  await makeFolder(folder, { mode: 0o700 }).catch((error: unknown) => {
    throw toDataFolderError(folder, file, error);
  });
  try {
    await copyBackup(backup, fresh);
    const keptKeys = keepFormerRows(folder, file, openBackup(fresh, backup));
    await sync(fresh);
    const former = hasDatabase(folder) ? `${DATABASE_FILE}.before-${fileTime(at)}` : undefined;
    if (former !== undefined) {
      // Beside the new file SQLite would take the log of a damaged one for its own.
      for (const end of ['-wal', '-journal'])
        await rename(`${file}${end}`, join(folder, `${former}${end}`)).catch(ignoreMissing);
      await link(file, join(folder, former));
    }
    await rename(fresh, file);
    await sync(folder);
    return { former, keptKeys };
  } finally {
    await removeFresh(fresh);
  }
}

async function removeFresh(fresh: string): Promise<void> {
  for (const end of ['', '-wal', '-journal']) await rm(`${fresh}${end}`, { force: true });
}

async function copyBackup(backup: string, fresh: string): Promise<void> {
  try {
    await removeFresh(fresh);
    await copyFile(backup, fresh);
    await chmod(fresh, 0o600);
  } catch (error) {
    throw new Error(`cannot copy ${backup}: ${Reflect.get(Object(error), 'code')}`, { cause: error });
  }
}

function openBackup(fresh: string, backup: string): DatabaseSync {
  // An empty file is a database without tables, and so is one of another program to this one.
  if (schemaOf(fresh) === undefined) throw new Error(`${backup} is no backup of Sundial`);
  try {
    return openFile(fresh);
  } catch (error) {
    const { code, reason } = failureOf(error);
    throw new Error(`${backup} cannot be restored: ${code === 'newer' ? '' : 'it is damaged: '}${reason}`, {
      cause: error,
    });
  }
}

/** Undefined for a damaged one, which is what a backup is for. */
function openFormer(folder: string, file: string): DatabaseSync | undefined {
  try {
    return openFile(file);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.code === 'damaged') return undefined;
    throw toDataFolderError(folder, file, new OpenError(failure));
  }
}

/** Closes `restored`. False where there is no former database, or a damaged one. */
function keepFormerRows(folder: string, file: string, restored: DatabaseSync): boolean {
  try {
    using former = hasDatabase(folder) ? openFormer(folder, file) : undefined;
    if (former !== undefined) for (const table of KEPT_TABLES) keepRows(table, former, restored);
    return former !== undefined;
  } finally {
    restored.close();
  }
}

function keepRows(table: string, former: DatabaseSync, restored: DatabaseSync): void {
  const read = former.prepare(`SELECT * FROM ${table}`);
  const columns = read.columns().map(({ column }) => column);
  const put = restored.prepare(
    `INSERT OR REPLACE INTO ${table} (${columns.join()}) VALUES (${columns.map(() => '?').join()})`,
  );
  restored.exec('BEGIN');
  for (const row of read.iterate()) put.run(...Object.values(row));
  restored.exec('COMMIT');
}

async function sync(path: string): Promise<void> {
  const opened = await open(path);
  await opened.sync().finally(() => opened.close());
}

function ignoreMissing(error: unknown): void {
  if (Reflect.get(Object(error), 'code') !== 'ENOENT') throw error;
}
