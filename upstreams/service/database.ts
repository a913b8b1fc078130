// Opens the database of a sample service: one file in its data folder, or nothing but memory.
// Several processes may have the same file open: what one has committed the others see.
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export interface DatabaseOptions {
  /** Folder of the file, made where it is missing; undefined: in memory, gone with the process. */
  readonly dataFolder: string | undefined;
  /** Of the file, as `orders.db`. */
  readonly name: string;
  /** Makes tables and first contents of an empty database, in one transaction, once for all processes. */
  readonly fill: (database: DatabaseSync) => void;
}

/** Raised with the tables that services make. */
const FORM = 1;
/** Milliseconds to wait for another process that writes; a write here takes a few, and nothing else runs meanwhile. */
export const PATIENCE_MS = 2_000;

/** Once somebody has waited in vain, the others wait as long as a write takes: together they would hold up all that is read. */
const IMPATIENCE_MS = 50;
const IMPATIENT_FOR_MS = 5_000;

/** SQLite's own numbers: another process holds what is asked for. */
const BUSY = [5, 6];
/** Others of them: read-only, an error of the disk, a full disk, cannot be opened. */
const UNWRITABLE = [8, 10, 13, 14];

/** Throws with a sentence for the operator when the file cannot be used. */
export function openDatabase({ dataFolder, name, fill }: DatabaseOptions): DatabaseSync {
  if (dataFolder !== undefined) mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const file = dataFolder === undefined ? ':memory:' : join(dataFolder, name);
  const database = openFile(file);
  if (dataFolder !== undefined) chmodSync(file, 0o600);
  inTransaction(database, () => {
    const form = Number(database.prepare('PRAGMA user_version').get()?.user_version);
    if (form === FORM) return;
    if (form !== 0) throw new Error(`${file} was made by another release: move it away to begin anew`);
    fill(database);
    database.exec(`PRAGMA user_version = ${FORM}`);
  });
  return database;
}

function openFile(file: string): DatabaseSync {
  try {
    const database = new DatabaseSync(file, { timeout: PATIENCE_MS });
    // Readers and a writer side by side; what was committed is on the disk before anybody is told (synchronous FULL).
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    return database;
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** All of `work` or nothing of it; what it read nobody has changed meanwhile. */
export function inTransaction<T>(database: DatabaseSync, work: () => T): T {
  begin(database, PATIENCE_MS);
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}

const foundHeld = new WeakMap<DatabaseSync, number>();

/** Begins a transaction that writes. Throws what SQLite says once another process has held the file for `patienceMs`. */
export function begin(database: DatabaseSync, patienceMs: number): void {
  const since = performance.now() - (foundHeld.get(database) ?? Number.NEGATIVE_INFINITY);
  const patience = since < IMPATIENT_FOR_MS ? Math.min(IMPATIENCE_MS, patienceMs) : patienceMs;
  if (patience !== patienceMs) database.exec(`PRAGMA busy_timeout = ${patience}`);
  try {
    database.exec('BEGIN IMMEDIATE');
    foundHeld.delete(database);
  } catch (error) {
    if (patience === patienceMs && isBusy(error)) foundHeld.set(database, performance.now());
    throw error;
  } finally {
    if (patience !== patienceMs) database.exec(`PRAGMA busy_timeout = ${patienceMs}`);
  }
}

/** Whether another process held the file for longer than is waited for. */
export function isBusy(error: unknown): boolean {
  return BUSY.includes(errorNumber(error));
}

/** Whether the file cannot be written where it is. */
export function isUnwritable(error: unknown): boolean {
  return UNWRITABLE.includes(errorNumber(error));
}

function errorNumber(error: unknown): number {
  return error instanceof Error ? Number(Reflect.get(error, 'errcode')) & 0xff : 0;
}
