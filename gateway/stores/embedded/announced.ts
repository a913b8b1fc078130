// The port of announcements in sundial.db: texts of those made, and a lease for each in progress.
import type { DatabaseSync } from 'node:sqlite';
import type { AnnouncedStore, AnnouncementClaim } from '../../policy/lifecycle/announcement-store.ts';
import type { CallThread } from '../store-port.ts';
import { textOf } from './ledger-reading.ts';

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/** Runs in the database thread. */
export function announcedOperations(database: DatabaseSync) {
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

export function embeddedAnnounced(call: CallThread<ReturnType<typeof announcedOperations>>): AnnouncedStore {
  return {
    find: (ids) => call('findAnnounced', ids),
    claim: (id, owner, leaseMs) => call('claimAnnounced', id, owner, leaseMs),
    keep: (id, text) => call('keepAnnounced', id, text),
    release: (id, owner) => call('releaseAnnounced', id, owner),
  };
}
