// The folder an embedded store keeps its state in, held by one process at a time. Opened at start.
import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../system/make-folder.ts';
import { type Database, type DatabaseOptions, openDatabase } from './database.ts';
import { OpenError } from './open-file.ts';

export const DATABASE_FILE = 'sundial.db';

export interface DataFolder {
  readonly folder: string;
  readonly database: Database;
  /** Lets go of the folder. May be called twice. */
  readonly close: () => Promise<void>;
}

/** The data folder cannot be used; the message says what to do. For the operator, never for a client. */
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
 * Creates `folder` for its owner only (mode 0700) where it is missing and takes its one-process lock. The database is
 * the owner's only as well (0600); SQLite gives the log beside it the same mode.
 *
 * @throws DataFolderError `data_folder_locked` when another process holds it, `data_folder_unusable` when it cannot
 * be created, written or read, or its database is damaged or a newer edition's.
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
 * An existing file is never opened here: closing it would give up the locks that this very process holds on it
 * through SQLite.
 */
function keepPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  }
}

/** For the operator: what is wrong with the folder or its database, and what to do. */
export function toDataFolderError(folder: string, file: string, error: unknown): DataFolderError {
  const reason = error instanceof Error ? error.message : String(error);
  const code = error instanceof OpenError ? error.failure.code : 'unusable';
  const unusable = (message: string) => new DataFolderError('data_folder_unusable', message, error);
  switch (code) {
    case 'locked':
      return new DataFolderError(
        'data_folder_locked',
        `the data folder ${folder} is in use by another Sundial process; stop that one, or give this one its own`,
        error,
      );
    case 'damaged':
      return unusable(
        `${file} is damaged: ${reason}; put a copy of it back, or move it away to start without what it holds: pins, pauses, API keys, the ledger`,
      );
    case 'newer':
      return unusable(
        `${file} cannot be used: ${reason}; run that one, or give this one a folder of its own`,
      );
    case 'unusable':
      if (isFileThere(error))
        return unusable(
          `the data folder ${folder} cannot be made: a file stands there or above it; name another folder as data`,
        );
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
