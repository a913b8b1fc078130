// Opens the data folder of an embedded store and turns failures into messages for the operator.
import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../system/make-folder.ts';
import { type Database, type DatabaseOptions, openDatabase } from './database.ts';
import { OpenError } from './open-file.ts';

export const DATABASE_FILE = 'sundial.db';

export interface DataFolder {
  readonly folder: string;
  readonly database: Database;
  /** Releases the folder's lock. May be called twice. */
  readonly close: () => Promise<void>;
}

/** The data folder cannot be used. The message tells the operator what to do; no client sees it. */
export class DataFolderError extends Error {
  readonly code: 'data_folder_locked' | 'data_folder_unusable';

  constructor(code: DataFolderError['code'], message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'DataFolderError';
    this.code = code;
  }
}

export function hasDatabase(folder: string): boolean {
  return existsSync(join(folder, DATABASE_FILE));
}

/**
 * Creates `folder` with mode 0700 if it is missing, and takes its lock, which one process can hold. The
 * database gets mode 0600; SQLite gives its log the same mode.
 * @throws DataFolderError `data_folder_locked` if another process holds the lock; `data_folder_unusable` if
 * the folder cannot be created, written or read, or if the database is damaged or was written by a newer
 * release
 */
export async function openDataFolder(folder: string, options: DatabaseOptions): Promise<DataFolder> {
  const file = join(folder, DATABASE_FILE);
  try {
    await makeFolder(folder, { mode: 0o700 });
    keepPrivate(file);
    const database = await openDatabase(file, options);
    return { folder, database, close: database.close };
  } catch (error) {
    throw toDataFolderError(folder, file, error);
  }
}

/**
 * Never opens an existing file: closing it would release the locks that this process holds on it through
 * SQLite.
 */
function keepPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  }
}

export function toDataFolderError(folder: string, file: string, error: unknown): DataFolderError {
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof OpenError ? error.failure.code : 'unusable';
  const unusable = (message: string) => new DataFolderError('data_folder_unusable', message, error);
  switch (code) {
    case 'locked':
      return new DataFolderError(
        'data_folder_locked',
        `the data folder ${folder} is in use by another Sundial process; stop that process, or configure another data folder`,
        error,
      );
    case 'damaged':
      return unusable(
        `${file} is damaged: ${reason}; restore a backup, or move the file away to start without its pins, pauses, API keys and ledger`,
      );
    case 'newer':
      return unusable(
        `${file} cannot be used: ${reason}; run that release, or configure another data folder`,
      );
    case 'unusable':
      if (isFileThere(error))
        return unusable(
          `the data folder ${folder} cannot be created: its path, or a parent of it, is a file; configure another data folder`,
        );
      if (/ is full$/.test(reason))
        return unusable(`the data folder ${folder} cannot be used: ${reason}; free space, then start again`);
      return unusable(
        `the data folder ${folder} cannot be used: ${reason}; this user must be able to write to it and to ${DATABASE_FILE}`,
      );
    default:
      return code satisfies never;
  }
}

export function isFileThere(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(?:EEXIST|ENOTDIR)$/.test(String(error.code));
}
