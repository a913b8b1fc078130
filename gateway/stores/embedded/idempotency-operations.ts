// Idempotency keys in sundial.db: what stands at one, who has it and until when, by the clock of SQLite.
// Part of operations.ts; runs in the database's thread, inside the transaction of a batch.
import type { DatabaseSync } from 'node:sqlite';
import type { SettledKey, StandingKey } from '../idempotency-records.ts';

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/** Swept with each claim: more than one claim leaves behind, so that what has lapsed never piles up. */
const SWEPT = 8;

export function createIdempotencyOperations(database: DatabaseSync) {
  const sweep = database.prepare(
    `DELETE FROM idempotency WHERE rowid IN
       (SELECT rowid FROM idempotency WHERE until <= ${NOW} ORDER BY until LIMIT ${SWEPT})`,
  );
  const find = database.prepare(
    `SELECT state, owner, record FROM idempotency WHERE key = ? AND until > ${NOW}`,
  );
  const take = database.prepare(
    `INSERT OR REPLACE INTO idempotency (key, owner, state, record, until)
     VALUES (?, ?, 'running', NULL, ${NOW} + ?)`,
  );
  const own = `WHERE key = ? AND owner = ? AND state = 'running' AND until > ${NOW}`;
  const settle = database.prepare(`UPDATE idempotency SET state = ?, record = ?, until = ${NOW} + ? ${own}`);
  const free = database.prepare(`DELETE FROM idempotency ${own}`);

  return {
    claimKey: (key: string, owner: string, lockMs: number): StandingKey => {
      sweep.run();
      const row = find.get(key);
      if (row !== undefined && !(row.state === 'running' && row.owner === owner)) {
        const record = typeof row.record === 'string' ? row.record : undefined;
        return { state: stateOf(row.state), record };
      }
      take.run(key, owner, lockMs);
      return { state: 'claimed', record: undefined };
    },
    settleKey: (key: string, owner: string, next: SettledKey): boolean => {
      if (next.state === 'free') return free.run(key, owner).changes > 0;
      const record = next.state === 'kept' ? next.record : null;
      return settle.run(next.state, record, next.ms, key, owner).changes > 0;
    },
  };
}

/** Of a word that this edition does not know, nobody knows what it means. */
function stateOf(value: unknown): StandingKey['state'] {
  return value === 'running' || value === 'kept' ? value : 'unknown';
}
