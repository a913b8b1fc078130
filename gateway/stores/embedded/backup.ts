// Backups of sundial.db: made by the running gateway into `backups/` of its data folder.
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type EpochMs, StoreUnavailable } from '../../policy/contract.ts';
import { makeFolder } from '../../system/make-folder.ts';
import type { DataFolder } from './data-folder.ts';

export interface Backup {
  /** Its path. */
  readonly file: string;
  readonly bytes: number;
}

/** A text for file names, to the millisecond: two in one second have different names. */
export function fileTime(at: EpochMs): string {
  return new Date(at).toISOString().replaceAll(':', '-');
}

/**
 * A copy of the database as it is at one moment, for its owner only, which is on the disk when this resolves. A backup that
 * fails leaves no file that could pass for one. @throws StoreUnavailable with a reason without paths
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
