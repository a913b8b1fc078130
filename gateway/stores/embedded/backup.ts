// Backups of sundial.db: made by the running gateway into `backups/` of its data folder.
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type EpochMs, StoreUnavailable } from '../../policy/contract.ts';
import { makeFolder } from '../../system/make-folder.ts';
import type { DataFolder } from './data-folder.ts';

export interface Backup {
  /** The path of the file. */
  readonly file: string;
  readonly bytes: number;
}

/**
 * `at` as a part of a file name, with milliseconds, so that two backups in one second have different names.
 */
export function fileTime(at: EpochMs): string {
  return new Date(at).toISOString().replaceAll(':', '-');
}

/**
 * Writes a consistent copy of the database, with mode 0600. The copy is synced to the disk when the promise
 * resolves. If the backup fails, no file has the name of a backup.
 * @throws StoreUnavailable with a reason that contains no path
 */
export async function writeBackup(
  { folder, database }: Pick<DataFolder, 'folder' | 'database'>,
  at: EpochMs,
): Promise<Backup> {
  const backups = join(folder, 'backups');
  const file = join(backups, `${fileTime(at)}.db`);
  try {
    await makeFolder(backups, { mode: 0o700 });
    await using partial = await openPartial(`${file}.partial`);
    await database.backup(partial.path);
    await partial.sync();
    await rename(partial.path, file);
    return { file, bytes: (await stat(file)).size };
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new StoreUnavailable(`file system error ${Reflect.get(Object(error), 'code')}`);
  }
}

/** An empty file, which is removed on disposal unless it was renamed. */
async function openPartial(path: string) {
  await rm(path, { force: true });
  const opened = await open(path, 'wx', 0o600);
  return {
    path,
    sync: () => opened.sync(),
    [Symbol.asyncDispose]: async () => {
      await opened.close();
      await rm(path, { force: true });
    },
  };
}
