// Puts a backup in the place of sundial.db, while no gateway runs on the data folder.
import { chmod, copyFile, link, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { type EpochMs, StoreUnavailable } from '../../policy/contract.ts';
import { makeFolder } from '../../system/make-folder.ts';
import { readPublished } from '../published-text.ts';
import { fileTime } from './backup.ts';
import { DATABASE_FILE, hasDatabase, toDataFolderError } from './data-folder.ts';
import { DamagedError, failureOf, OpenError, openFile } from './open-file.ts';
import { publishedOperations } from './published.ts';
import { schemaDifference, schemaOf } from './schema.ts';

export interface Restored {
  /** The new name of the former database in the data folder. Undefined if there was none. */
  readonly former: string | undefined;
  /** Whether API keys and sent notices of the former database were kept. False if it could not be read. */
  readonly keptKeys: boolean;
}

/**
 * Tables whose rows are taken from the former database. A key that was revoked or rotated after the backup
 * stays revoked or rotated, and a notice that was sent after the backup is not sent again.
 */
const KEPT_TABLES = ['api_key', 'announced'];

/** @throws Error with a sentence for the operator. The data folder is then unchanged. */
export async function restoreBackup(folder: string, backup: string, at: EpochMs): Promise<Restored> {
  const file = join(folder, DATABASE_FILE);
  const fresh = `${file}.restoring`;
  await makeFolder(folder, { mode: 0o700 }).catch((error: unknown) => {
    throw toDataFolderError(folder, file, error);
  });
  try {
    await copyBackup(backup, fresh);
    const keptKeys = keepFormerRows(folder, file, await openBackup(fresh, backup));
    await sync(fresh);
    const former = hasDatabase(folder) ? `${DATABASE_FILE}.before-${fileTime(at)}` : undefined;
    if (former !== undefined) {
      // SQLite would apply the log of the former database to the new file.
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
    // Checked before the copy: another file may have any size, and a pipe would never end.
    const isBackup = (await stat(backup)).isFile() && schemaOf(backup) !== undefined;
    if (!isBackup) throw new NotABackup(`${backup} is not a Sundial backup`);
    await removeFresh(fresh);
    await copyFile(backup, fresh);
    await chmod(fresh, 0o600);
  } catch (error) {
    if (error instanceof NotABackup) throw error;
    const code: unknown = Reflect.get(Object(error), 'code');
    throw new Error(`cannot copy ${backup}: ${code === 'ENOENT' ? 'no such file' : code}`, { cause: error });
  }
}

class NotABackup extends Error {}

async function openBackup(fresh: string, backup: string): Promise<DatabaseSync> {
  try {
    const restored = openFile(fresh);
    const difference = schemaDifference(restored) ?? (await unreadableRecord(restored));
    if (difference === undefined) return restored;
    restored.close();
    throw new DamagedError(difference);
  } catch (error) {
    const { code, reason } = failureOf(error);
    throw new Error(`${backup} cannot be restored: ${code === 'newer' ? '' : 'it is damaged: '}${reason}`, {
      cause: error,
    });
  }
}

/**
 * Why the published schedules cannot be read, or undefined. Without them, a gateway would accept a sunset
 * that was moved earlier.
 */
async function unreadableRecord(restored: DatabaseSync): Promise<string | undefined> {
  try {
    await readPublished(publishedOperations(restored).readPublished().text);
    return undefined;
  } catch (error) {
    if (error instanceof StoreUnavailable) return error.message;
    throw error;
  }
}

/** Undefined if the database is damaged, the usual reason for a restore, or if Sundial did not write it. */
function openFormer(folder: string, file: string): DatabaseSync | undefined {
  if (schemaOf(file) === undefined) return undefined;
  try {
    return openFile(file);
  } catch (error) {
    const failure = failureOf(error);
    if (failure.code === 'damaged') return undefined;
    throw toDataFolderError(folder, file, new OpenError(failure));
  }
}

/**
 * Copies the former rows into `restored`, and closes it. False if there is no former database, or it is
 * damaged.
 */
function keepFormerRows(folder: string, file: string, restored: DatabaseSync): boolean {
  try {
    using former = hasDatabase(folder) ? openFormer(folder, file) : undefined;
    const reads = former && readsOf(former);
    if (reads === undefined) return false;
    for (const [table, read] of reads) keepRows(table, read, restored);
    return true;
  } finally {
    restored.close();
  }
}

/** Undefined if a table is missing, because the database is damaged. */
function readsOf(
  former: DatabaseSync,
): readonly (readonly [table: string, read: StatementSync])[] | undefined {
  try {
    return KEPT_TABLES.map((table) => [table, former.prepare(`SELECT * FROM ${table}`)] as const);
  } catch (error) {
    if (failureOf(error).code === 'damaged') return undefined;
    throw error;
  }
}

function keepRows(table: string, read: StatementSync, restored: DatabaseSync): void {
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
