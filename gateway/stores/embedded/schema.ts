// The tables of sundial.db and how an older file gets them. Run by the database's thread when it opens the file.
// A migration, once released, is never edited: a change is another one at the end.
import type { DatabaseSync } from 'node:sqlite';

/** The number of a file's schema is how many of these it has seen. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE pin (key TEXT PRIMARY KEY, pin TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE override (id TEXT PRIMARY KEY, override TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE published (one INTEGER PRIMARY KEY CHECK (one = 1), files TEXT NOT NULL) STRICT;`,
  `CREATE TABLE idempotency
     (key TEXT PRIMARY KEY, owner TEXT NOT NULL, state TEXT NOT NULL, record TEXT, until INTEGER NOT NULL) STRICT;
   CREATE INDEX idempotency_until ON idempotency (until);`,
];

/** The file was written by a later edition, which may mean something else by it. */
export class NewerSchemaError extends Error {
  constructor(found: number) {
    super(`it was written by a newer Sundial (schema ${found}, this one knows ${MIGRATIONS.length})`);
  }
}

/** Brings the file up to date, one transaction per step. @throws NewerSchemaError, and whatever SQLite says */
export function migrate(database: DatabaseSync): void {
  const found = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  if (found > MIGRATIONS.length) throw new NewerSchemaError(found);
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < found) continue;
    database.exec(`BEGIN; ${migration} PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}
