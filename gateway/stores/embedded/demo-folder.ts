// Locks the data folder of a demo before any sample service opens its files.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeFolder } from '../../system/make-folder.ts';
import { isFileThere } from './data-folder.ts';

const LOCK_FILE = 'demo.lock';
const SQLITE_BUSY = 5;

/**
 * Creates `folder` if it is missing and holds it for the life of this process. The operating system frees the
 * SQLite lock however the process ends.
 * @throws Error with a sentence for the operator
 */
export async function lockDemoFolder(folder: string): Promise<Disposable> {
  await makeFolder(folder, { mode: 0o700 }).catch((error: unknown) => {
    throw unusable(folder, isFileThere(error) ? 'its path, or a parent of it, is a file' : reasonOf(error));
  });
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(folder, LOCK_FILE), { timeout: 0 });
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock?.close();
    if (error instanceof Error && Reflect.get(error, 'errcode') === SQLITE_BUSY) throw inUse(folder, error);
    throw unusable(folder, `${reasonOf(error)}: this user must be able to write to it`);
  }
}

function inUse(folder: string, cause: unknown): Error {
  const message = `the data folder ${folder} is in use by another demo; stop that demo, or start this one with SUNDIAL_DATA=<folder> and other ports`;
  return new Error(message, { cause });
}

const unusable = (folder: string, why: string): Error =>
  new Error(`the data folder ${folder} cannot be used: ${why}; SUNDIAL_DATA=<folder> moves it`);

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
