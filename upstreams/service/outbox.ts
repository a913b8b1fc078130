// The outbox: events stored in the transaction of the change, until the intake has taken them; any process can send them.
import type { DatabaseSync } from 'node:sqlite';
import type { JsonObject } from './body.ts';

/** The Event record of the specification. */
export interface Event {
  readonly id: string;
  /** `<resource>.<action>`. */
  readonly type: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly data: JsonObject;
}

export interface Outbox {
  /** Runs within the open transaction. */
  readonly put: (type: string, data: JsonObject, now: number) => void;
  /** To be called after that transaction is committed. */
  readonly wake: () => void;
}

export interface Waiting {
  readonly sequence: number;
  readonly event: Event;
}

/** Events to send. Instants are milliseconds since 1970. */
export interface OutboxQueue {
  /** The oldest event that is due. It is not returned again before `until`. */
  readonly take: (now: number, until: number) => Waiting | undefined;
  readonly taken: (sequence: number) => void;
  readonly postpone: (sequence: number, until: number) => void;
}

/** The longest pause. An event due later than that was postponed before the clock was set back. */
export const LONGEST_PAUSE_MS = 300_000;

export function createOutboxTable(database: DatabaseSync): void {
  database.exec(`CREATE TABLE outbox (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  created INTEGER NOT NULL,
  data TEXT NOT NULL,
  due INTEGER NOT NULL
) STRICT`);
}

/** `newId` returns a unique text without dots (WH-1). */
export function openOutbox(database: DatabaseSync, newId: () => string): Pick<Outbox, 'put'> & OutboxQueue {
  const put = database.prepare('INSERT INTO outbox (id, type, created, data, due) VALUES (?, ?, ?, ?, 0)');
  const take = database.prepare(
    `UPDATE outbox SET due = ? WHERE sequence = (SELECT min(sequence) FROM outbox WHERE due <= ? OR due > ?)
     RETURNING sequence, id, type, created, data`,
  );
  const taken = database.prepare('DELETE FROM outbox WHERE sequence = ?');
  const postpone = database.prepare('UPDATE outbox SET due = ? WHERE sequence = ?');
  return {
    put: (type, data, now) => {
      put.run(newId(), type, Math.floor(now / 1_000), JSON.stringify(data));
    },
    take: (now, until) => {
      const row = take.get(until, now, now + LONGEST_PAUSE_MS);
      if (row === undefined) return undefined;
      const { sequence, id, type, created, data } = row;
      return {
        sequence: Number(sequence),
        event: {
          id: String(id),
          type: String(type),
          created: Number(created),
          data: JSON.parse(String(data)),
        },
      };
    },
    taken: (sequence) => {
      taken.run(sequence);
    },
    postpone: (sequence, until) => {
      postpone.run(until, sequence);
    },
  };
}

/** For a service that sends no events. */
export const NO_OUTBOX: Outbox = { put: () => undefined, wake: () => undefined };
