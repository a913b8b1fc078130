// The folder an embedded store keeps its state in, held by one process at a time. gateway.ts opens it at start.
// The lock is SQLite's lock on the database file: the operating system frees it however the process ends.
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;

/** Garbage collection closes a database nobody refers to, and its lock with it. */
const held = new Set<DatabaseSync>();

export interface DataFolder {
  readonly folder: string;
  /** Lets go of the folder. May be called twice. */
  readonly close: () => void;
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

/**
 * Creates `folder` for its owner only (mode 0700) where it is missing and takes its one-process lock. The database is
 * the owner's only as well (0600); SQLite gives the journal beside it the same mode.
 *
 * @throws DataFolderError `data_folder_locked` when another process holds it, `data_folder_unusable` when it cannot
 * be created, written or read.
 */
export function openDataFolder(folder: string): DataFolder {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, 'sundial.db');
    keepPrivate(file);
    const database = lockedDatabase(file);
    held.add(database);
    return {
      folder,
      close: () => {
        if (held.delete(database)) database.close();
      },
    };
  } catch (error) {
    throw toDataFolderError(folder, error);
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

function lockedDatabase(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // In this mode the lock of the first write transaction is kept until the database is closed.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function toDataFolderError(folder: string, error: unknown): DataFolderError {
  if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
    return new DataFolderError(
      'data_folder_locked',
      `the data folder ${folder} is in use by another Sundial process; stop that one, or give this one its own`,
      error,
    );
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new DataFolderError(
    'data_folder_unusable',
    `the data folder ${folder} cannot be used: ${reason}; it must be a folder this user can write to`,
    error,
  );
}
