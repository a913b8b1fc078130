// What is asked of sundial.db about API keys: found, listed, replaced if what is to be replaced still stands.
// Part of operations.ts; runs in the database's thread.
import type { DatabaseSync } from 'node:sqlite';

export function createKeyOperations(database: DatabaseSync) {
  const find = database.prepare('SELECT record FROM api_key WHERE id = ?');
  const all = database.prepare('SELECT record FROM api_key');
  const put = database.prepare('INSERT OR REPLACE INTO api_key (id, record) VALUES (?, ?)');

  const findKey = (id: string): string | undefined => {
    const record = find.get(id)?.record;
    return typeof record === 'string' ? record : undefined;
  };
  return {
    findKey,
    allKeys: (): readonly string[] =>
      all.all().flatMap(({ record }) => (typeof record === 'string' ? [record] : [])),
    replaceKey: (id: string, current: string | undefined, next: string): boolean => {
      if (findKey(id) !== current) return false;
      put.run(id, next);
      return true;
    },
  };
}
