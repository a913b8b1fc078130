// Writes to a collection: reads, judges and stores in one transaction, with the events and the outcome for a repeated idempotency
// key.
import type { IncomingMessage } from 'node:http';
import type { ResponseHeaders } from './answer.ts';
import { type JsonObject, readObject } from './body.ts';
import { callerOf } from './caller.ts';
import type { Collection, Decision, WriteRules } from './collection-contract.ts';
import { inTransaction } from './database.ts';
import { fingerprintOf, type KeyUse, MALFORMED, readKey } from './idempotency-keys.ts';
import { isWrittenIn, JSON_TYPE, MERGE_PATCH } from './media.ts';
import { mergePatch } from './merge-patch.ts';
import { NOT_THERE, type Outcome, PRECONDITION_FAILED, type Refused } from './outcome.ts';
import type { StoredItem } from './records.ts';
import { type LinkBase, represent, validatorsOf } from './representation.ts';
import type { Target } from './target.ts';
import { judge, validatorHeaders } from './validators.ts';

/** Methods that accept an idempotency key (IDM-2). */
const KEYED = ['POST', 'PUT'];

export async function writeTo<Item>(
  collection: Collection<Item>,
  target: Target,
  query: URLSearchParams,
  request: IncomingMessage,
): Promise<Outcome | Refused> {
  const { writing } = collection;
  if (writing === undefined) throw new Error('a write to a read-only collection');
  if (query.size > 0) return { refused: 400, message: 'This request takes no query parameters' };
  const use = keyUseOf(collection, request);
  if (use === undefined) return write(collection, writing, target, use, request);
  if (use.key === MALFORMED)
    return {
      refused: 400,
      message: 'Idempotency-Key must be 1 to 255 visible characters, in quotes or plain',
    };
  if (!writing.keys.lock(use)) {
    const message = 'A request with this Idempotency-Key is still running';
    return { refused: 409, message, headers: { 'Retry-After': '1' } };
  }
  try {
    return await write(collection, writing, target, use, request);
  } finally {
    writing.keys.unlock(use);
  }
}

async function write<Item>(
  collection: Collection<Item>,
  writing: WriteRules<Item>,
  target: Target,
  use: KeyUse | undefined,
  request: IncomingMessage,
): Promise<Outcome | Refused> {
  const body = await readWritten(target, request);
  if ('refused' in body) return body;
  const fingerprint = fingerprintOf(request.headers['content-type'], body.bytes);
  const now = collection.now();
  const outcome = inTransaction(writing.database, (): Outcome | Refused => {
    const claim = use === undefined ? undefined : writing.keys.claim(use, fingerprint, now);
    if (claim?.kind === 'other-request')
      return { refused: 422, message: 'This Idempotency-Key was used for another request' };
    if (claim?.kind === 'done') {
      const { outcome: before } = claim;
      return { ...before, headers: { ...before.headers, 'Idempotency-Replayed': 'true' } };
    }
    const made = act(collection, writing, target, body.value, request, now);
    // A refused request has changed nothing, so its key stays free for the corrected request.
    if (use !== undefined && 'status' in made) writing.keys.keep(use, fingerprint, made, now);
    return made;
  });
  if ('status' in outcome) writing.outbox.wake();
  return outcome;
}

/** An action needs no body, and the body of a DELETE has no meaning (RFC 9110 §9.3.5). */
async function readWritten(
  target: Target,
  request: IncomingMessage,
): Promise<{ readonly value: JsonObject; readonly bytes: Uint8Array } | Refused> {
  const { method = '', headers } = request;
  if (method === 'DELETE') return { value: {}, bytes: new Uint8Array() };
  const types = method === 'PATCH' ? [MERGE_PATCH, JSON_TYPE] : [JSON_TYPE];
  if (!isWrittenIn(types, headers)) {
    const accepted = types.join(', ');
    return {
      refused: 415,
      message: `The body must be ${types.join(' or ')} in UTF-8`,
      headers: { Accept: accepted, ...(method === 'PATCH' ? { 'Accept-Patch': accepted } : {}) },
    };
  }
  const body = await readObject(request, { isOptional: target.kind === 'action' });
  return body.kind === 'refused' ? { refused: body.status, message: body.message } : body;
}

function act<Item>(
  collection: Collection<Item>,
  writing: WriteRules<Item>,
  target: Target,
  written: JsonObject,
  { method, headers }: IncomingMessage,
  now: number,
): Outcome | Refused {
  const { records, edition, idOf } = collection;
  const emit = (type: string | undefined, { key, item }: StoredItem<Item>) => {
    if (type !== undefined) writing.outbox.put(type, writing.dataOf(idOf(key), item), now);
  };
  if (target.kind === 'whole') {
    const parsed = edition.parse(written, undefined);
    if (parsed.kind === 'invalid') return { refused: 400, message: parsed.message };
    const decision = writing.create(parsed.item);
    if (decision.kind === 'conflict') return { refused: 409, message: decision.message };
    const kept = records.insert(decision.item, now);
    emit(decision.event, kept);
    // A relative URL, so that it also works through a gateway that has another path for the collection.
    const location = `${collection.path.slice(1)}/${idOf(kept.key)}`;
    return answered(collection, kept, 201, 'collection', { Location: location });
  }
  // Read again: another process may have removed the item while the body arrived.
  const before = records.find(target.key);
  if (before === undefined) return NOT_THERE;
  const current = validatorsOf(collection, before);
  if (judge(headers, false, current) === 'failed')
    return { refused: 412, message: PRECONDITION_FAILED, headers: validatorHeaders(current) };
  const settle = (decision: Decision<Item>, linkBase: LinkBase): Outcome | Refused => {
    if (decision.kind === 'conflict') return { refused: 409, message: decision.message };
    const kept = records.replace(before.key, decision.item, now);
    emit(decision.event, kept);
    return answered(collection, kept, 200, linkBase);
  };
  if (target.kind === 'action') {
    const action = writing.actions[target.name];
    if (action === undefined) throw new Error(`there is no action ${target.name}`);
    return settle(action(before.item), 'action');
  }
  if (method === 'DELETE') {
    records.remove(before.key, now);
    emit(writing.removed, before);
    return { status: 204, headers: {}, body: undefined };
  }
  const shown = edition.show(idOf(before.key), before.item);
  const parsed = edition.parse(method === 'PATCH' ? mergePatch(shown, written) : written, before.item);
  if (parsed.kind === 'invalid') return { refused: 400, message: parsed.message };
  return settle(writing.change(before.item, parsed.item), 'item');
}

function answered<Item>(
  collection: Collection<Item>,
  kept: StoredItem<Item>,
  status: number,
  linkBase: LinkBase,
  headers: ResponseHeaders = {},
): Outcome {
  const body = JSON.stringify(represent(collection, kept, linkBase));
  return { status, body, headers: { ...headers, ...validatorHeaders(validatorsOf(collection, kept)) } };
}

function keyUseOf<Item>(
  { editionName }: Collection<Item>,
  { method = '', url = '', headers }: IncomingMessage,
): KeyUse | undefined {
  const key = KEYED.includes(method) ? readKey(headers['idempotency-key']) : undefined;
  if (key === undefined) return undefined;
  return { key, scope: JSON.stringify([callerOf(headers), method, url, editionName]) };
}
