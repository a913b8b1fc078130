// All operations on sundial.db, each a few prepared statements within the transaction of its batch.
import type { DatabaseSync } from 'node:sqlite';
import type { KeyOutcome, KeyState } from '../idempotency-records.ts';
import { createPortOperations } from '../ports.ts';
import { textOf } from './ledger-reading.ts';

export type Operations = ReturnType<typeof createOperations>;

export type Call = {
  readonly [N in keyof Operations]: { readonly name: N; readonly args: Parameters<Operations[N]> };
}[keyof Operations];

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/** Expired rows deleted per claim. A claim adds one row, so expired rows cannot pile up. */
const EXPIRED_PER_CLAIM = 8;

/** Throws errors of SQLite; a bug in a call is a TypeError. */
export function createOperations(database: DatabaseSync) {
  const findPin = database.prepare('SELECT pin FROM pin WHERE key = ?');
  const addPin = database.prepare('INSERT INTO pin (key, pin) VALUES (?, ?)');
  const movePin = database.prepare('UPDATE pin SET pin = ? WHERE key = ?');
  const removePin = database.prepare('DELETE FROM pin WHERE key = ?');
  const allOverrides = database.prepare('SELECT override FROM override');
  const putOverride = database.prepare('INSERT OR REPLACE INTO override (id, override) VALUES (?, ?)');
  const removeOverride = database.prepare('DELETE FROM override WHERE id = ?');
  const { user_version: schema } = database.prepare('PRAGMA user_version').get() ?? {};

  const find = (key: string): string | undefined => textOf(findPin.get(key)?.pin);
  const put = (key: string, current: string | undefined, next: string | undefined): void => {
    if (next === undefined) removePin.run(key);
    else if (current === undefined) addPin.run(key, next);
    else movePin.run(next, key);
  };

  return {
    ...createPortOperations(database),
    ...createKeyOperations(database),
    ...createIdempotencyOperations(database),
    findPin: find,
    claimPin: (key: string, pin: string): string => {
      const existing = find(key);
      if (existing === undefined) put(key, undefined, pin);
      return existing ?? pin;
    },
    replacePin: (key: string, current: string | undefined, next: string | undefined): boolean => {
      if (find(key) !== current) return false;
      put(key, current, next);
      return true;
    },
    allOverrides: (): readonly string[] => allOverrides.all().flatMap((row) => textOf(row.override) ?? []),
    putOverride: (id: string, override: string): void => {
      putOverride.run(id, override);
    },
    removeOverride: (id: string): boolean => removeOverride.run(id).changes > 0,
    /** Rewrites the present value, to find out whether the disk accepts a write. */
    touch: (): void => database.exec(`PRAGMA user_version = ${Number(schema)}`),
  };
}

function createKeyOperations(database: DatabaseSync) {
  const find = database.prepare('SELECT record FROM api_key WHERE id = ?');
  const all = database.prepare('SELECT record FROM api_key');
  const put = database.prepare('INSERT OR REPLACE INTO api_key (id, record) VALUES (?, ?)');

  const findKey = (id: string): string | undefined => textOf(find.get(id)?.record);
  return {
    findKey,
    allKeys: (): readonly string[] => all.all().flatMap(({ record }) => textOf(record) ?? []),
    replaceKey: (id: string, current: string | undefined, next: string): boolean => {
      if (findKey(id) !== current) return false;
      put.run(id, next);
      return true;
    },
  };
}

function createIdempotencyOperations(database: DatabaseSync) {
  const sweep = database.prepare(
    `DELETE FROM idempotency WHERE rowid IN
       (SELECT rowid FROM idempotency WHERE until <= ${NOW} ORDER BY until LIMIT ${EXPIRED_PER_CLAIM})`,
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
    claimKey: (key: string, owner: string, lockMs: number): KeyState => {
      sweep.run();
      const row = find.get(key);
      if (row !== undefined && !(row.state === 'running' && row.owner === owner))
        return { state: stateOf(row.state), record: textOf(row.record) };
      take.run(key, owner, lockMs);
      return { state: 'claimed', record: undefined };
    },
    settleKey: (key: string, owner: string, next: KeyOutcome): boolean => {
      if (next.state === 'free') return free.run(key, owner).changes > 0;
      const record = next.state === 'kept' ? next.record : null;
      return settle.run(next.state, record, next.ms, key, owner).changes > 0;
    },
  };
}

/** A later release may have written a state that this one does not know. */
function stateOf(value: unknown): KeyState['state'] {
  return value === 'running' || value === 'kept' ? value : 'unknown';
}
