// The folder an embedded store keeps its state in, held by one process at a time. gateway.ts opens it at start.
// The lock is SQLite's lock on the database file: the operating system frees it however the process ends.
import { mkdirSync } from 'node:fs';
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
 * Creates `folder` for its owner only (mode 0700) where it is missing and takes its one-process lock.
 *
 * @throws DataFolderError `data_folder_locked` when another process holds it, `data_folder_unusable` when it cannot
 * be created, written or read.
 */
export function openDataFolder(folder: string): DataFolder {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const database = lockedDatabase(join(folder, 'sundial.db'));
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
      `the data folder ${folder} is in use by another Sundial process; stop that one, or give this one a folder of ` +
        'its own (`store: embedded:<folder>`), or share limits through Redis (`store: redis://…`)',
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
