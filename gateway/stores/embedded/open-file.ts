// Opens sundial.db or a copy of it: locks it, checks it and migrates it.
import { DatabaseSync } from 'node:sqlite';
import { migrate, NewerSchemaError } from './schema.ts';

/** Why the file cannot be opened; `reason` is for the operator. */
export interface OpenFailure {
  readonly code: 'locked' | 'damaged' | 'newer' | 'unusable';
  readonly reason: string;
}

/** data-folder.ts turns it into a message for the operator. */
export class OpenError extends Error {
  readonly failure: OpenFailure;
  constructor(failure: OpenFailure) {
    super(failure.reason);
    this.failure = failure;
  }
}

const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** Opens the file and locks it until the database is closed. @throws errors that `failureOf` understands */
export function openFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    // In this locking mode SQLite keeps the first lock until the database is closed. The system frees it
    // however the process ends.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT;');
    const found = database.prepare('PRAGMA quick_check(1)').get()?.quick_check;
    // The first line only names the database.
    if (found !== 'ok') throw new DamagedError(String(found).replace(/^\*\*\* .* \*\*\*\n/, ''));
    migrate(database);
    // The log is synced at every commit, so that acknowledged data survives a power cut.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export class DamagedError extends Error {}

export function failureOf(error: unknown): OpenFailure {
  const reason = error instanceof Error ? error.message : String(error);
  if (error instanceof NewerSchemaError) return { code: 'newer', reason };
  if (error instanceof DamagedError) return { code: 'damaged', reason };
  switch (primaryCode(error)) {
    case SQLITE_BUSY:
      return { code: 'locked', reason };
    // Tables are missing or differ from those of this release.
    case SQLITE_ERROR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return { code: 'damaged', reason };
    default:
      return { code: 'unusable', reason };
  }
}

/** SQLite's result code without its extension; undefined for errors that are not SQLite's. */
export function primaryCode(error: unknown): number | undefined {
  const code = error instanceof Error ? Reflect.get(error, 'errcode') : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}
