// The tables of sundial.db and the migration of older files.
import { closeSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** A file's schema number is the number of migrations it has had. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE pin (key TEXT PRIMARY KEY, pin TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE override (id TEXT PRIMARY KEY, override TEXT NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE published (one INTEGER PRIMARY KEY CHECK (one = 1), files TEXT NOT NULL) STRICT;`,
  `CREATE TABLE usage (
     id INTEGER PRIMARY KEY,
     api TEXT NOT NULL, version TEXT NOT NULL, consumer TEXT NOT NULL, via TEXT NOT NULL, operation TEXT NOT NULL,
     first_at INTEGER NOT NULL, last_at INTEGER NOT NULL, agents TEXT NOT NULL, sample TEXT,
     UNIQUE (api, version, consumer, via, operation)
   ) STRICT;
   CREATE INDEX usage_by_consumer ON usage (consumer, api, version, via, operation);
   CREATE TABLE usage_day (
     record INTEGER NOT NULL, day INTEGER NOT NULL, calls INTEGER NOT NULL, PRIMARY KEY (record, day)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE usage_watch (
     api TEXT NOT NULL, version TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (api, version)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE usage_writer (
     writer TEXT PRIMARY KEY, number INTEGER NOT NULL, at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE api_key (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;`,
  `CREATE TABLE idempotency
     (key TEXT PRIMARY KEY, owner TEXT NOT NULL, state TEXT NOT NULL, record TEXT, until INTEGER NOT NULL) STRICT;
   CREATE INDEX idempotency_until ON idempotency (until);`,
  `CREATE TABLE announced
     (id TEXT PRIMARY KEY, text TEXT, owner TEXT, until INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
];

/** A later release wrote the file and may give its data another meaning. */
export class NewerSchemaError extends Error {
  constructor(found: number) {
    super(`it was written by a newer Sundial (schema ${found}, this one knows ${MIGRATIONS.length})`);
  }
}

/** https://sqlite.org/fileformat.html section 1.3. */
const HEADER = { magic: 'SQLite format 3\0', userVersion: 60, octets: 64 };

/**
 * The schema number of a file that no process has open for writing, read without a lock; undefined if it is
 * not a SQLite file.
 * @throws the system's error if the file cannot be read
 */
export function schemaOf(file: string): number | undefined {
  const header = Buffer.alloc(HEADER.octets);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, header, 0, HEADER.octets, 0);
  } finally {
    closeSync(descriptor);
  }
  const isSqlite = header.toString('latin1', 0, HEADER.magic.length) === HEADER.magic;
  return (isSqlite && header.readUInt32BE(HEADER.userVersion)) || undefined;
}

export function requireKnown(schema: number): void {
  if (schema > MIGRATIONS.length) throw new NewerSchemaError(schema);
}

/** Migrates the file, one transaction per step. @throws NewerSchemaError, and errors of SQLite */
export function migrate(database: DatabaseSync): void {
  const found = Number(database.prepare('PRAGMA user_version').get()?.user_version);
  requireKnown(found);
  for (const [index, migration] of MIGRATIONS.entries()) {
    if (index < found) continue;
    database.exec(`BEGIN; ${migration} PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}

/**
 * The first difference between the schema of an up-to-date file and that of the migrations. Undefined if
 * there is none.
 */
export function schemaDifference(database: DatabaseSync): string | undefined {
  using own = new DatabaseSync(':memory:');
  migrate(own);
  const [expected, found] = [partsOf(own), partsOf(database)];
  for (const [part, name] of found)
    if (!expected.has(part)) return `it has a ${name} that Sundial does not make`;
  for (const [part, name] of expected) if (!found.has(part)) return `it has no ${name}`;
  return undefined;
}

/** The type and name of each table, index, trigger and view, by its full definition. */
function partsOf(database: DatabaseSync): ReadonlyMap<string, string> {
  const rows = database.prepare('SELECT type, name, sql FROM sqlite_schema').all();
  return new Map(rows.map((row) => [JSON.stringify(row), `${row.type} ${row.name}`]));
}
