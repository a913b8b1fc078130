// The store of the sample issuer: one SQLite file in its data folder; each call is on disk when it returns.
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../service/database.ts';

export interface Place {
  readonly model: string;
  readonly id: string;
}

export interface Row extends Place {
  /** JSON. */
  readonly payload: string;
  /** Rows of one grant are revoked together. */
  readonly grantId: string | undefined;
  /** A second id, of sessions. */
  readonly uid: string | undefined;
  /** Epoch seconds; undefined: never. */
  readonly expires: number | undefined;
}

export interface FoundRow {
  readonly payload: string;
  /** Epoch seconds of its use; undefined: unused. */
  readonly consumed: number | undefined;
}

export interface Store {
  readonly put: (row: Row) => void;
  readonly find: (place: Place) => FoundRow | undefined;
  readonly findByUid: (model: string, uid: string) => FoundRow | undefined;
  /** True for the first use only, also with concurrent calls (OAU-4, OAU-7). */
  readonly consume: (place: Place, at: number) => boolean;
  readonly remove: (place: Place) => void;
  /** Removes the grant and everything that was issued under it. */
  readonly revoke: (grantId: string) => void;
  readonly grantOf: (place: Place) => string | undefined;
  /** Removes rows that expire by `at`, epoch seconds. */
  readonly sweep: (at: number) => void;
  /** The secret of this name; the first caller creates it. */
  readonly secret: (name: string, make: () => string) => string;
  readonly close: () => void;
}

const SCHEMA = `
CREATE TABLE kept (
  model TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL, grant_id TEXT, uid TEXT, consumed INTEGER, expires INTEGER,
  PRIMARY KEY (model, id)
) STRICT;
CREATE INDEX kept_by_grant ON kept (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX kept_by_uid ON kept (uid) WHERE uid IS NOT NULL;
CREATE INDEX kept_by_end ON kept (expires) WHERE expires IS NOT NULL;
CREATE TABLE secret (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
`;

/** Opens `identity.db` in `dataFolder`. Creates both if they are missing, readable by their owner only. */
export function openStore(dataFolder: string): Store {
  const fill = (empty: DatabaseSync): void => empty.exec(SCHEMA);
  const database = openDatabase({ dataFolder, name: 'identity.db', fill });

  const put = database.prepare(
    `INSERT INTO kept (model, id, payload, grant_id, uid, expires) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid, expires = excluded.expires`,
  );
  const find = database.prepare('SELECT payload, consumed FROM kept WHERE model = ? AND id = ?');
  const findByUid = database.prepare('SELECT payload, consumed FROM kept WHERE uid = ? AND model = ?');
  const consume = database.prepare(
    'UPDATE kept SET consumed = ? WHERE model = ? AND id = ? AND consumed IS NULL',
  );
  const remove = database.prepare('DELETE FROM kept WHERE model = ? AND id = ?');
  const revoke = database.prepare("DELETE FROM kept WHERE grant_id = ?1 OR (model = 'Grant' AND id = ?1)");
  const grantOf = database.prepare('SELECT grant_id FROM kept WHERE model = ? AND id = ?');
  const sweep = database.prepare('DELETE FROM kept WHERE expires <= ?');
  const keepSecret = database.prepare('INSERT OR IGNORE INTO secret (name, value) VALUES (?, ?)');
  const readSecret = database.prepare('SELECT value FROM secret WHERE name = ?');

  return {
    put: ({ model, id, payload, grantId, uid, expires }) => {
      put.run(model, id, payload, grantId ?? null, uid ?? null, expires ?? null);
    },
    find: ({ model, id }) => foundRow(find.get(model, id)),
    findByUid: (model, uid) => foundRow(findByUid.get(uid, model)),
    consume: ({ model, id }, at) => consume.run(at, model, id).changes === 1,
    remove: ({ model, id }) => {
      remove.run(model, id);
    },
    revoke: (grantId) => {
      revoke.run(grantId);
    },
    grantOf: ({ model, id }) => textOf(grantOf.get(model, id)?.grant_id),
    sweep: (at) => {
      sweep.run(at);
    },
    secret: (name, make) => {
      keepSecret.run(name, make());
      const value = textOf(readSecret.get(name)?.value);
      if (value === undefined) throw new Error('identity.db stores no secret');
      return value;
    },
    close: () => database.close(),
  };
}

function foundRow(row: Readonly<Record<string, unknown>> | undefined): FoundRow | undefined {
  const payload = textOf(row?.payload);
  if (payload === undefined) return undefined;
  return { payload, consumed: typeof row?.consumed === 'number' ? row.consumed : undefined };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
