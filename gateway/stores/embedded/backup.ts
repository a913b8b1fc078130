// Backups of sundial.db: made by the running gateway into `backups/` of its data folder.
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type EpochMs, StoreUnavailable } from '../../policy/contract.ts';
import { makeFolder } from '../../system/make-folder.ts';
import type { DataFolder } from './data-folder.ts';

export interface Backup {
  /** Below the data folder. */
  readonly file: string;
  readonly bytes: number;
}

/** A text for file names, to the second. */
export function fileTime(at: EpochMs): string {
  return new Date(at).toISOString().replace(/\..*/, 'Z').replaceAll(':', '-');
}

/**
 * A copy of the database as it is at one moment, for its owner only, which is on the disk when this resolves. A backup that
 * fails leaves no file that could pass for one. @throws StoreUnavailable with a reason without paths
 */
export async function writeBackup(
  { folder, database }: Pick<DataFolder, 'folder' | 'database'>,
  at: EpochMs,
): Promise<Backup> {
  const file = join('backups', `${fileTime(at)}.db`);
  const path = join(folder, file);
  try {
    await makeFolder(join(folder, 'backups'), { mode: 0o700 });
    await using partial = await openPartial(`${path}.partial`);
    await database.backup(partial.path);
    await partial.sync();
    await rename(partial.path, path);
    return { file, bytes: (await stat(path)).size };
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    throw new StoreUnavailable(`the file system says ${Reflect.get(Object(error), 'code')}`);
  }
}

/** An empty file that is removed at the end, unless it has another name by then. */
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
