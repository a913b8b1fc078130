// The tables and transactions of webhooks.db; data acknowledged to a client is synced, data of repeatable attempts is not.
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { BUSY_TIMEOUT_MS, begin, isBusy } from '../../service/database.ts';
import { StoreUnavailable } from '../store.ts';

/** A file's schema number is the number of migrations it has had. Released migrations are never edited. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE subscription (
     id TEXT PRIMARY KEY, owner TEXT NOT NULL, created INTEGER NOT NULL, record TEXT NOT NULL
   ) STRICT;
   CREATE INDEX subscription_of_owner ON subscription (owner, created);
   CREATE TABLE wanted (
     type TEXT NOT NULL, subscription TEXT NOT NULL, PRIMARY KEY (type, subscription)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX wanted_by ON wanted (subscription);
   CREATE TABLE health (subscription TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE event (
     id TEXT PRIMARY KEY, type TEXT NOT NULL, body TEXT NOT NULL, kept INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX event_kept ON event (kept);
   CREATE TABLE delivery (
     id TEXT PRIMARY KEY, subscription TEXT NOT NULL, event TEXT NOT NULL, state TEXT NOT NULL,
     due INTEGER NOT NULL, updated INTEGER NOT NULL, record TEXT NOT NULL,
     leased_by TEXT, leased_until INTEGER NOT NULL DEFAULT 0
   ) STRICT;
   CREATE INDEX delivery_due ON delivery (due) WHERE state = 'pending';
   CREATE INDEX delivery_state ON delivery (state, updated);
   CREATE INDEX delivery_of_subscription ON delivery (subscription, state);
   CREATE INDEX delivery_of_event ON delivery (event);`,
];

export interface Database {
  readonly prepare: (sql: string) => StatementSync;
  /** One transaction, synced to disk when it returns. */
  readonly durably: <T>(work: () => T) => T;
  /** One transaction that survives kill -9 but may be lost in a power cut. */
  readonly soon: <T>(work: () => T) => T;
  readonly close: () => void;
}

/**
 * `busyTimeoutMs`: how long to wait for another process before a transaction throws `StoreUnavailable`.
 * @throws SQLite's error, or an error if a newer release wrote the file
 */
export function openDatabase(file: string, busyTimeoutMs = BUSY_TIMEOUT_MS): Database {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const database = openFile(file, busyTimeoutMs);
  try {
    migrate(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
  const transact = <T>(synchronous: 'FULL' | 'NORMAL', work: () => T): T => {
    beginAs(synchronous, database, busyTimeoutMs);
    try {
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  };
  return {
    prepare: (sql) => database.prepare(sql),
    durably: (work) => transact('FULL', work),
    soon: (work) => transact('NORMAL', work),
    close: () => database.close(),
  };
}

function beginAs(synchronous: 'FULL' | 'NORMAL', database: DatabaseSync, busyTimeoutMs: number): void {
  try {
    database.exec(`PRAGMA synchronous = ${synchronous}`);
    begin(database, busyTimeoutMs);
  } catch (error) {
    throw isBusy(error) ? new StoreUnavailable(error) : error;
  }
}

function openFile(file: string, busyTimeoutMs: number): DatabaseSync {
  try {
    const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
    database.exec('PRAGMA journal_mode = WAL');
    // The file holds URLs and events. SQLite gives its companion files the same mode.
    if (file !== ':memory:') chmodSync(file, 0o600);
    return database;
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

function migrate(database: DatabaseSync, file: string): void {
  database.exec('PRAGMA synchronous = FULL; BEGIN IMMEDIATE');
  const found = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (found > MIGRATIONS.length) {
    throw new Error(
      `${file} was written by a newer release (schema ${found}, this one knows ${MIGRATIONS.length})`,
    );
  }
  for (const migration of MIGRATIONS.slice(found)) database.exec(migration);
  database.exec(`PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
}
