// Announcements in sundial.db: who is at one and until when, by the clock of SQLite, and what is kept of those made.
// Part of operations.ts; runs in the database's thread, inside the transaction of a batch.
import type { DatabaseSync } from 'node:sqlite';
import type { AnnouncementClaim } from '../../policy/lifecycle/announced.ts';
import { textOf } from './ledger-reading.ts';

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

export function createAnnouncedOperations(database: DatabaseSync) {
  const find = database.prepare('SELECT text FROM announced WHERE id = ?');
  const lease = database.prepare(`SELECT owner FROM announced WHERE id = ? AND until > ${NOW}`);
  const take = database.prepare(
    `INSERT OR REPLACE INTO announced (id, owner, until) VALUES (?, ?, ${NOW} + ?)`,
  );
  const put = database.prepare('INSERT OR REPLACE INTO announced (id, text, until) VALUES (?, ?, 0)');
  const free = database.prepare('DELETE FROM announced WHERE id = ? AND owner = ? AND text IS NULL');

  const findAnnounced = (id: string): string | undefined => textOf(find.get(id)?.text);
  return {
    findAnnounced: (ids: readonly string[]): readonly (string | undefined)[] => ids.map(findAnnounced),
    claimAnnounced: (id: string, owner: string, leaseMs: number): AnnouncementClaim => {
      const text = findAnnounced(id);
      if (text !== undefined) return { state: 'kept', text };
      const holder = lease.get(id)?.owner ?? owner;
      if (holder !== owner) return { state: 'held' };
      take.run(id, owner, leaseMs);
      return { state: 'claimed' };
    },
    keepAnnounced: (id: string, text: string): string => {
      const standing = findAnnounced(id);
      if (standing === undefined) put.run(id, text);
      return standing ?? text;
    },
    releaseAnnounced: (id: string, owner: string): void => {
      free.run(id, owner);
    },
  };
}
