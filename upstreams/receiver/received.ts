// The events that the receiver has accepted, each once, kept in SQLite over restarts.
import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { BUSY_TIMEOUT_MS } from '../service/database.ts';

/** Longer than the service retries (WH-4). An event forgotten earlier could be delivered again and count twice. */
const KEPT_MS = 7 * 24 * 3_600_000;
const SHOWN = 50;

export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly data: unknown;
}

export interface Received extends Disposable {
  /** False if the event is stored already. */
  readonly take: (event: ReceivedEvent, now: number) => boolean;
  /** The latest 50, newest first. */
  readonly latest: () => readonly ReceivedEvent[];
  readonly count: () => number;
}

/** `file` may be `:memory:`. */
export function openReceived(file: string): Received {
  const database = openFile(file);
  const insert = database.prepare('INSERT OR IGNORE INTO received (id, at, event) VALUES (?, ?, ?)');
  const forget = database.prepare('DELETE FROM received WHERE at < ?');
  const select = database.prepare(`SELECT event FROM received ORDER BY at DESC, id DESC LIMIT ${SHOWN}`);
  const count = database.prepare('SELECT count(*) AS events FROM received');
  return {
    take: (event, now) => {
      forget.run(now - KEPT_MS);
      return insert.run(event.id, now, JSON.stringify(event)).changes === 1;
    },
    latest: () => select.all().map(({ event }) => JSON.parse(String(event)) as ReceivedEvent),
    count: () => Number(count.get()?.events),
    [Symbol.dispose]: () => database.close(),
  };
}

/** @throws Error with SQLite's message */
function openFile(file: string): DatabaseSync {
  try {
    const database = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;');
    if (file !== ':memory:') chmodSync(file, 0o600);
    database.exec(`
    CREATE TABLE IF NOT EXISTS received (
      id TEXT PRIMARY KEY, at INTEGER NOT NULL, event TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS received_at ON received (at);
  `);
    return database;
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
