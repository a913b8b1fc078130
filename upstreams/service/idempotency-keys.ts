// Stores outcomes by idempotency key, in the transaction of the change they belong to, so that a repeated request gets the same
// answer (draft-ietf-httpapi-idempotency-key-header-07; IDM-1 to IDM-6).
import { createHash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import type { Outcome } from './outcome.ts';

export type Claim =
  | { readonly kind: 'new' }
  | { readonly kind: 'done'; readonly outcome: Outcome }
  /** The key was used for another request: 422. */
  | { readonly kind: 'other-request' };

export interface KeyUse {
  readonly key: string;
  /** Caller, method, target and edition. With another scope it is another key (IDM-4). */
  readonly scope: string;
}

export interface IdempotencyKeys {
  /** False (409) while a request with this key is in progress in this process; true: the caller owns the key until `unlock`. */
  readonly lock: (use: KeyUse) => boolean;
  readonly unlock: (use: KeyUse) => void;
  /** `claim` and `keep` run within the open transaction. */
  readonly claim: (use: KeyUse, fingerprint: string, now: number) => Claim;
  readonly keep: (use: KeyUse, fingerprint: string, outcome: Outcome, now: number) => void;
}

const KEPT_MS = 24 * 3_600_000;

export function createKeyTable(database: DatabaseSync): void {
  database.exec(`CREATE TABLE idempotency_keys (
  scope TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  lines TEXT NOT NULL,
  body TEXT,
  kept INTEGER NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID`);
}

export function openKeys(database: DatabaseSync): IdempotencyKeys {
  const locked = new Set<string>();
  const forget = database.prepare('DELETE FROM idempotency_keys WHERE kept < ?');
  const find = database.prepare('SELECT * FROM idempotency_keys WHERE scope = ? AND key = ?');
  const keep = database.prepare('INSERT INTO idempotency_keys VALUES (?, ?, ?, ?, ?, ?, ?)');
  const nameOf = ({ scope, key }: KeyUse) => `${scope} ${key}`;
  return {
    lock: (use) => {
      if (locked.has(nameOf(use))) return false;
      locked.add(nameOf(use));
      return true;
    },
    unlock: (use) => {
      locked.delete(nameOf(use));
    },
    claim: ({ scope, key }, fingerprint, now) => {
      forget.run(now - KEPT_MS);
      const row = find.get(scope, key);
      if (row === undefined) return { kind: 'new' };
      if (row.fingerprint !== fingerprint) return { kind: 'other-request' };
      const body = row.body === null ? undefined : String(row.body);
      return {
        kind: 'done',
        outcome: { status: Number(row.status), headers: JSON.parse(String(row.lines)), body },
      };
    },
    keep: ({ scope, key }, fingerprint, { status, headers, body }, now) => {
      keep.run(scope, key, fingerprint, status, JSON.stringify(headers), body ?? null, now);
    },
  };
}

/** The characters of the key, quoted or not (IDM-1); MALFORMED for any other text; undefined: none was sent. */
export function readKey(written: string | readonly string[] | undefined): string | undefined {
  if (written === undefined) return undefined;
  const bare = typeof written === 'string' ? written : written.join(',');
  const [, quoted, plain] =
    /^(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,255})"|([A-Za-z0-9._~:-]{1,255}))$/.exec(bare) ?? [];
  return quoted ?? plain ?? MALFORMED;
}

/** A key never contains a line feed. */
export const MALFORMED = '\n';

export function fingerprintOf(contentType: string | undefined, bytes: Uint8Array): string {
  return createHash('sha256')
    .update(`${contentType ?? ''}\n`)
    .update(bytes)
    .digest('base64url');
}
