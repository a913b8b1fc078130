// Bodies of API keys for clients and the audit trail, and refusals of changes.
import type { KeyBody } from '../api/admin-answers.ts';
import { type KeyRecord, stateOfKey } from '../policy/authentication/key-record.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { AuditState } from '../telemetry/logs/logger.ts';
import { type AdminAnswer, errorAnswer, instantText } from './answers.ts';

export function keyBody(record: KeyRecord, now: EpochMs): KeyBody {
  const { id, consumer, scopes, contact, created, expires, rotated, revoked, secrets } = record;
  const instant = (at: EpochMs | undefined) => (at === undefined ? null : instantText(at));
  const before = secrets.flatMap(({ until }) => (until === undefined || until <= now ? [] : [until]));
  return {
    id,
    consumer,
    scopes,
    contact: contact ?? null,
    state: stateOfKey(record, now),
    created: instantText(created),
    expires: instant(expires),
    rotated: instant(rotated),
    overlap: before.length === 0 ? null : instantText(Math.max(...before)),
    revoked: instant(revoked),
  };
}

export function auditState({ id, consumer, scopes, expires, rotated, revoked }: KeyRecord): AuditState {
  const instant = (at: EpochMs | undefined) => (at === undefined ? undefined : instantText(at));
  return {
    id,
    consumer,
    scopes: scopes.join(' '),
    expires: instant(expires),
    rotated: instant(rotated),
    revoked: instant(revoked),
  };
}

export function noSuchKey(): AdminAnswer {
  return errorAnswer(
    404,
    'There is no such key. GET /-/keys lists them, by the part between sdl_ and the next _.',
  );
}

/** Not 404: the key exists, but its record is damaged or was written by a later release. */
export function unreadable(): AdminAnswer {
  return errorAnswer(
    409,
    'The gateway cannot read the record of this key, so it refuses the key. Revoke it and make another.',
  );
}

export function contended(): AdminAnswer {
  return errorAnswer(409, 'Another request changed this key at the same time. Read the key, then retry.');
}
