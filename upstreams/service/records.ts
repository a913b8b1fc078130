// The items of a collection in a SQLite table: find, list, write; the caller opens the transaction of a write.
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite';

export type Key = string | number;
type Columns = Readonly<Record<string, SQLInputValue>>;

export interface StoredItem<Item> {
  readonly key: Key;
  readonly item: Item;
  /** Milliseconds since 1970, whole seconds. */
  readonly changed: number;
}

export interface Condition {
  readonly column: string;
  readonly compare: '=' | '>=' | '<=';
  readonly value: string | number;
}

export interface Ordering {
  readonly column: string;
  readonly descending: boolean;
}

export interface Selection {
  readonly where: readonly Condition[];
  /** Among equal items the key decides, in the direction of the last ordering. */
  readonly order: readonly Ordering[];
  readonly limit: number;
  readonly offset?: number;
  /** Only items after this one; allows one ordering at most. */
  readonly after?: { readonly key: Key; readonly value: SQLOutputValue };
}

export interface TableDefinition<Item> {
  readonly table: string;
  /** SQL type of the key: an integer that counts up, or a text given by the item. */
  readonly key: 'INTEGER' | 'TEXT';
  readonly columns: Readonly<Record<string, string>>;
  readonly write: (item: Item) => Columns;
  readonly read: (row: Readonly<Record<string, SQLOutputValue>>) => Item;
}

export interface Records<Item> {
  readonly find: (key: Key) => StoredItem<Item> | undefined;
  readonly count: (where: readonly Condition[]) => number;
  readonly list: (selection: Selection) => readonly StoredItem<Item>[];
  /** Value of one column of an item, for `after`. */
  readonly valueOf: (key: Key, column: string) => SQLOutputValue;
  /** Time of the last change in the collection, removals included. */
  readonly changed: () => number;
  readonly insert: (item: Item, now: number, key?: Key) => StoredItem<Item>;
  readonly replace: (key: Key, item: Item, now: number) => StoredItem<Item>;
  readonly remove: (key: Key, now: number) => void;
}

export function createTable<Item>(
  database: DatabaseSync,
  { table, key, columns }: TableDefinition<Item>,
): void {
  const own = Object.entries(columns).map(([name, type]) => `${name} ${type}`);
  const primary = key === 'INTEGER' ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'TEXT PRIMARY KEY';
  database.exec(`CREATE TABLE ${table} (key ${primary}, ${own.join(', ')}, changed INTEGER NOT NULL) STRICT;
CREATE TABLE ${table}_changed (at INTEGER NOT NULL) STRICT;
INSERT INTO ${table}_changed VALUES (0)`);
}

/** Table and column names come from the program; values from clients are always bound. */
export function openRecords<Item>(database: DatabaseSync, definition: TableDefinition<Item>): Records<Item> {
  const { table, columns } = definition;
  const names = Object.keys(columns);
  const found = database.prepare(`SELECT * FROM ${table} WHERE key = ?`);
  const change = database.prepare(`UPDATE ${table}_changed SET at = max(at, ?)`);
  const changed = database.prepare(`SELECT at FROM ${table}_changed`);
  const insert = database.prepare(
    `INSERT INTO ${table} (key, ${names.join(', ')}, changed) VALUES (?${', ?'.repeat(names.length + 1)})`,
  );
  const replace = database.prepare(
    `UPDATE ${table} SET ${names.map((name) => `${name} = ?`).join(', ')}, changed = ? WHERE key = ?`,
  );
  const remove = database.prepare(`DELETE FROM ${table} WHERE key = ?`);
  const kept = (row: Readonly<Record<string, SQLOutputValue>>): StoredItem<Item> => ({
    key: typeof row.key === 'number' ? row.key : String(row.key),
    item: definition.read(row),
    changed: Number(row.changed) * 1_000,
  });
  const valuesOf = (item: Item): SQLInputValue[] => {
    const written = definition.write(item);
    return names.map((name) => written[name] ?? null);
  };
  return {
    find: (key) => {
      const row = found.get(key);
      return row && kept(row);
    },
    count: (where) => {
      const sql = `SELECT count(*) AS count FROM ${table}${whereOf(where.map(textOf))}`;
      return Number(database.prepare(sql).get(...where.map(({ value }) => value))?.count);
    },
    list: ({ where, order, limit, offset = 0, after }) => {
      const texts = where.map(textOf);
      const values: SQLInputValue[] = where.map(({ value }) => value);
      const [first] = order;
      const direction = order.at(-1)?.descending === true ? 'DESC' : 'ASC';
      if (after !== undefined) {
        const beyond = direction === 'DESC' ? '<' : '>';
        texts.push(first === undefined ? `key ${beyond} ?` : `(${first.column}, key) ${beyond} (?, ?)`);
        values.push(...(first === undefined ? [after.key] : [after.value, after.key]));
      }
      const by = [...order.map(({ column, descending }) => `${column} ${descending ? 'DESC' : 'ASC'}`)];
      const sql = `SELECT * FROM ${table}${whereOf(texts)} ORDER BY ${[...by, `key ${direction}`].join(', ')} LIMIT ? OFFSET ?`;
      return database
        .prepare(sql)
        .all(...values, limit, offset)
        .map(kept);
    },
    valueOf: (key, column) =>
      database.prepare(`SELECT ${column} AS value FROM ${table} WHERE key = ?`).get(key)?.value ?? null,
    changed: () => Number(changed.get()?.at) * 1_000,
    insert: (item, now, key) => {
      const at = secondOf(now);
      const { lastInsertRowid } = insert.run(key ?? null, ...valuesOf(item), at);
      change.run(at);
      return { key: key ?? Number(lastInsertRowid), item, changed: at * 1_000 };
    },
    replace: (key, item, now) => {
      const at = secondOf(now);
      replace.run(...valuesOf(item), at, key);
      change.run(at);
      return { key, item, changed: at * 1_000 };
    },
    remove: (key, now) => {
      remove.run(key);
      change.run(secondOf(now));
    },
  };
}

function whereOf(texts: readonly string[]): string {
  return texts.length === 0 ? '' : ` WHERE ${texts.join(' AND ')}`;
}

function textOf({ column, compare }: Condition): string {
  return `${column} ${compare} ?`;
}

function secondOf(now: number): number {
  return Math.floor(now / 1_000);
}
