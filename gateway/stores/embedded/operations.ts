// Everything that is ever asked of sundial.db, each a few prepared statements inside the transaction of its batch.
// Runs in the database's thread; others import its types only.
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { createAnnouncedOperations } from './announced-operations.ts';
import { createIdempotencyOperations } from './idempotency-operations.ts';
import { createKeyOperations } from './key-operations.ts';
import { createLedgerOperations } from './ledger-operations.ts';
import { textOf } from './ledger-reading.ts';

export type Operations = ReturnType<typeof createOperations>;

/** One of them with its arguments, as it goes to the thread. */
export type Call = {
  readonly [N in keyof Operations]: { readonly name: N; readonly args: Parameters<Operations[N]> };
}[keyof Operations];

export interface PublishedText {
  readonly text: string | undefined;
  readonly mark: string;
}

function markOf(text: string | undefined): string {
  return text === undefined ? '' : createHash('sha1').update(text).digest('hex');
}

/** Throws what SQLite throws; a mistake in a call is a TypeError. */
export function createOperations(database: DatabaseSync) {
  const findPin = database.prepare('SELECT pin FROM pin WHERE key = ?');
  const addPin = database.prepare('INSERT INTO pin (key, pin) VALUES (?, ?)');
  const movePin = database.prepare('UPDATE pin SET pin = ? WHERE key = ?');
  const removePin = database.prepare('DELETE FROM pin WHERE key = ?');
  const allOverrides = database.prepare('SELECT override FROM override');
  const putOverride = database.prepare('INSERT OR REPLACE INTO override (id, override) VALUES (?, ?)');
  const removeOverride = database.prepare('DELETE FROM override WHERE id = ?');
  const published = database.prepare('SELECT files FROM published');
  const { user_version: schema } = database.prepare('PRAGMA user_version').get() ?? {};
  const putPublished = database.prepare('INSERT OR REPLACE INTO published (one, files) VALUES (1, ?)');

  const find = (key: string): string | undefined => textOf(findPin.get(key)?.pin);
  const put = (key: string, current: string | undefined, next: string | undefined): void => {
    if (next === undefined) removePin.run(key);
    else if (current === undefined) addPin.run(key, next);
    else movePin.run(next, key);
  };

  return {
    ...createLedgerOperations(database),
    ...createKeyOperations(database),
    ...createIdempotencyOperations(database),
    ...createAnnouncedOperations(database),
    findPin: find,
    claimPin: (key: string, pin: string): string => {
      const standing = find(key);
      if (standing === undefined) put(key, undefined, pin);
      return standing ?? pin;
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
    readPublished: (): PublishedText => {
      const text = textOf(published.get()?.files);
      return { text, mark: markOf(text) };
    },
    writePublished: (files: string, mark: string): boolean => {
      if (markOf(textOf(published.get()?.files)) !== mark) return false;
      putPublished.run(files);
      return true;
    },
    /** Writes what is there already: whether the disk takes it. */
    touch: (): void => database.exec(`PRAGMA user_version = ${Number(schema)}`),
  };
}
