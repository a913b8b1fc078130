// Admin routes for API keys: list, create, rotate, revoke.
import type { KeyAnswer, KeysAnswer, NewKeyAnswer } from '../api/admin-answers.ts';
import { readEndingRequest, readKeyRequest, readRotationRequest } from '../api/admin-requests.ts';
import type { ApiPlan, GatewayPlan } from '../plan/plan.ts';
import {
  isKeyId,
  type KeyRecord,
  type KeyStore,
  makeKey,
  newKeyId,
  newSecret,
  revokeKey,
  rotateKey,
  stateOfKey,
} from '../policy/authentication/key-record.ts';
import type { EpochMs } from '../policy/contract.ts';
import { type AdminAnswer, errorAnswer, instantText, jsonAnswer, malformedBody } from './answers.ts';
import { auditState, contended, keyBody, noSuchKey, unreadable } from './key-answers.ts';
import { type AdminRequest, type AdminRoute, type AdminWriteResult, orStoreUnavailable } from './route.ts';

export interface KeyPorts {
  readonly keys: KeyStore;
  readonly plan: () => Pick<GatewayPlan, 'apis'>;
  /** The real time: keys expire by it, not by the lifecycle clock. */
  readonly wallClock: () => EpochMs;
}

/** Enough time for a team to deploy the new key. */
const USUAL_OVERLAP_MS = 86_400_000;

const ENDED = 'This key is revoked or has expired. Create another key: POST /-/keys.';

export function keyRoutes(ports: KeyPorts): readonly AdminRoute[] {
  return [
    { method: 'GET', path: '/-/keys', show: () => listAnswer(ports) },
    { method: 'GET', path: '/-/keys/{id}', show: (request) => oneAnswer(ports, request) },
    { method: 'POST', path: '/-/keys', action: 'add_key', perform: (request) => add(ports, request) },
    {
      method: 'POST',
      path: '/-/keys/{id}/rotate',
      action: 'rotate_key',
      perform: (request) => rotate(ports, request),
    },
    {
      method: 'DELETE',
      path: '/-/keys/{id}',
      action: 'revoke_key',
      perform: (request) => revoke(ports, request),
    },
  ];
}

async function listAnswer({ keys, wallClock }: KeyPorts): Promise<AdminAnswer> {
  const now = wallClock();
  const known = (await keys.list()).map((record) => keyBody(record, now));
  return jsonAnswer(200, { now: instantText(now), keys: known } satisfies KeysAnswer);
}

async function oneAnswer({ keys, wallClock }: KeyPorts, { parameter }: AdminRequest): Promise<AdminAnswer> {
  const record = await found(keys, parameter('id'));
  if (record === undefined) return noSuchKey();
  if (record === 'unreadable') return unreadable();
  const now = wallClock();
  return jsonAnswer(200, { now: instantText(now), key: keyBody(record, now) } satisfies KeyAnswer);
}

async function add(ports: KeyPorts, { body }: AdminRequest): Promise<AdminWriteResult> {
  const { keys, wallClock } = ports;
  const read = readKeyRequest(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const { consumer, scopes = [], contact, expires, by, why } = read.value;
  const now = wallClock();
  const audit = { subject: consumer, by, why };
  if (expires !== undefined && expires <= now) {
    const problems = ['"expires": the instant is in the past'];
    return { answer: errorAnswer(422, problems.join('; '), { problems }), audit };
  }
  const id = newKeyId();
  const { key, digest } = newSecret(id);
  const record = makeKey({ id, consumer, scopes: [...new Set(scopes)], contact, expires }, digest, now);
  return orStoreUnavailable(audit, async () => {
    if (!(await keys.replace(undefined, record))) return { answer: contended(), audit };
    const shown = shownOnce(201, { secret: key, record, ...usesOf(record, ports) }, now);
    const answer = { ...shown, headers: { location: `/-/keys/${id}` } };
    return { answer, audit: { ...audit, after: auditState(record) } };
  });
}

async function rotate(ports: KeyPorts, { body, parameter }: AdminRequest): Promise<AdminWriteResult> {
  const { keys, wallClock } = ports;
  const read = readRotationRequest(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const { overlap: overlapMs = USUAL_OVERLAP_MS, by, why } = read.value;
  return change(keys, { id: parameter('id'), by, why }, (record) => {
    const now = wallClock();
    if (stateOfKey(record, now) !== 'active') return undefined;
    const { key, digest } = newSecret(record.id);
    const next = rotateKey(record, digest, { now, overlapMs });
    const made = { secret: key, record: next, ...usesOf(next, ports) };
    return { next, answer: shownOnce(200, made, now) };
  });
}

async function revoke(
  { keys, wallClock }: KeyPorts,
  { body, parameter }: AdminRequest,
): Promise<AdminWriteResult> {
  const read = readEndingRequest(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const write = { id: parameter('id'), ...read.value };
  const revoked = (record: KeyRecord, now: EpochMs): AdminAnswer =>
    jsonAnswer(200, { now: instantText(now), key: keyBody(record, now) } satisfies KeyAnswer);
  return change(
    keys,
    write,
    (record) => {
      const now = wallClock();
      if (record.revoked !== undefined) return undefined;
      const next = revokeKey(record, now);
      return { next, answer: revoked(next, now) };
    },
    async () => {
      const now = wallClock();
      const next = await keys.endUnreadable(write.id, now);
      return next && { next, answer: revoked(next, now) };
    },
  );
}

interface KeyWrite {
  readonly id: string;
  readonly by: string;
  readonly why: string;
}

interface KeyChange {
  readonly next: KeyRecord;
  readonly answer: AdminAnswer;
}

/** `make` returns undefined for a key that has ended. `end` revokes a key whose record cannot be read. */
async function change(
  keys: KeyStore,
  { id, by, why }: KeyWrite,
  make: (record: KeyRecord) => KeyChange | undefined,
  end?: () => Promise<KeyChange | undefined>,
): Promise<AdminWriteResult> {
  const audit = { subject: isKeyId(id) ? id : undefined, by, why };
  return orStoreUnavailable(audit, async () => {
    const record = await found(keys, id);
    if (record === undefined) return { answer: noSuchKey(), audit };
    if (record === 'unreadable') {
      if (end === undefined) return { answer: unreadable(), audit };
      const ended = await end();
      return ended === undefined
        ? { answer: contended(), audit }
        : { answer: ended.answer, audit: { ...audit, after: auditState(ended.next) } };
    }
    const about = { ...audit, before: auditState(record) };
    const made = make(record);
    if (made === undefined) return { answer: errorAnswer(409, ENDED), audit: about };
    if (!(await keys.replace(record, made.next))) return { answer: contended(), audit: about };
    return { answer: made.answer, audit: { ...about, after: auditState(made.next) } };
  });
}

/** Passes no invalid id to the store: it may be a whole key, sent by mistake. */
async function found(keys: KeyStore, id: string): ReturnType<KeyStore['read']> {
  return isKeyId(id) ? keys.read(id) : undefined;
}

interface CreatedKey extends Pick<NewKeyAnswer, 'secret' | 'takenBy' | 'unknownScopes'> {
  readonly record: KeyRecord;
}

function shownOnce(status: number, { record, ...made }: CreatedKey, now: EpochMs): AdminAnswer {
  const body = { now: instantText(now), key: keyBody(record, now), ...made };
  return jsonAnswer(status, body satisfies NewKeyAnswer);
}

/**
 * `takenBy`: the APIs with a version that accepts keys.
 * `unknownScopes`: scopes of the key that no rule requires, such as misspelt ones.
 */
function usesOf({ scopes }: KeyRecord, { plan }: KeyPorts): Required<Omit<CreatedKey, 'record' | 'secret'>> {
  const { apis } = plan();
  const known = new Set(apis.flatMap(scopesIn));
  return {
    takenBy: apis.filter(({ keyHeaders }) => keyHeaders.length > 0).map(({ name }) => name),
    unknownScopes: scopes.filter((scope) => !known.has(scope)),
  };
}

function scopesIn({ access, versions }: ApiPlan): readonly string[] {
  const rules = [...versions.values()].flatMap((version) => [version, ...(version.operations?.list ?? [])]);
  return [access, ...rules.map((each) => each.access)].flatMap((rule) =>
    rule.kind === 'public' ? [] : [...(rule.scopes.read ?? []), ...(rule.scopes.write ?? [])],
  );
}
