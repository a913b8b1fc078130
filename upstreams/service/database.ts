// Opens the SQLite database of a sample service, in a file that several processes may share, or in memory.
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface DatabaseOptions {
  /** Folder of the file, created if it is missing; undefined: in memory only. */
  readonly dataFolder: string | undefined;
  readonly name: string;
  /** Creates the tables and first rows of an empty database, in one transaction, once for all processes. */
  readonly fill: (database: DatabaseSync) => void;
}

const SCHEMA_VERSION = 1;
/** Milliseconds to wait for another process that writes. A write takes a few milliseconds and blocks this process. */
export const BUSY_TIMEOUT_MS = 2_000;

/** After one wait has timed out, later waits are short: long ones in a row would block all reads. */
const SHORT_BUSY_TIMEOUT_MS = 50;
const SHORT_TIMEOUT_FOR_MS = 5_000;

/** SQLite codes BUSY and LOCKED: another process holds the lock. */
const BUSY = [5, 6];
/** SQLite codes READONLY, IOERR, FULL and CANTOPEN. */
const UNWRITABLE = [8, 10, 13, 14];

/** @throws Error with a sentence for the operator if the file cannot be used */
export function openDatabase({ dataFolder, name, fill }: DatabaseOptions): DatabaseSync {
  if (dataFolder !== undefined) mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const file = dataFolder === undefined ? ':memory:' : join(dataFolder, name);
  const database = openFile(file);
  if (dataFolder !== undefined) chmodSync(file, 0o600);
  inTransaction(database, () => {
    const version = Number(database.prepare('PRAGMA user_version').get()?.user_version);
    if (version === SCHEMA_VERSION) return;
    if (version !== 0) throw new Error(`${file} was written by another release; move it away to start empty`);
    fill(database);
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  });
  return database;
}

function openFile(file: string): DatabaseSync {
  try {
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    // WAL lets readers and a writer work at the same time. FULL syncs a commit to disk before it is acknowledged.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    return database;
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** Runs `work` in one transaction that holds the write lock from the start. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  begin(database, BUSY_TIMEOUT_MS);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

const lastBusyAt = new WeakMap<DatabaseSync, number>();

/** Begins a write transaction. @throws SQLite's error after another process has held the lock for `busyTimeoutMs` */
export function begin(database: DatabaseSync, busyTimeoutMs: number): void {
  const since = performance.now() - (lastBusyAt.get(database) ?? Number.NEGATIVE_INFINITY);
  const timeoutMs =
    since < SHORT_TIMEOUT_FOR_MS ? Math.min(SHORT_BUSY_TIMEOUT_MS, busyTimeoutMs) : busyTimeoutMs;
  if (timeoutMs !== busyTimeoutMs) database.exec(`PRAGMA busy_timeout = ${timeoutMs}`);
  try {
    database.exec('BEGIN IMMEDIATE');
    lastBusyAt.delete(database);
  } catch (error) {
    if (timeoutMs === busyTimeoutMs && isBusy(error)) lastBusyAt.set(database, performance.now());
    throw error;
  } finally {
    if (timeoutMs !== busyTimeoutMs) database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }
}

/** Whether another process held the lock for longer than the wait. */
export function isBusy(error: unknown): boolean {
  return BUSY.includes(errorNumber(error));
}

export function isUnwritable(error: unknown): boolean {
  return UNWRITABLE.includes(errorNumber(error));
}

function errorNumber(error: unknown): number {
  return error instanceof Error ? Number(Reflect.get(error, 'errcode')) & 0xff : 0;
}
