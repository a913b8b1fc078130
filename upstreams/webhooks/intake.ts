// POST /events: stores an event and its deliveries, then answers 202; for services on this machine only.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError, sendJson } from '../service/answer.ts';
import { readObject } from '../service/body.ts';
import { isWrittenIn, JSON_TYPE } from '../service/media.ts';
import { type EpochMs, newDelivery } from './delivery.ts';
import { readEvent } from './read-event.ts';
import type { WebhookStore } from './store.ts';

export const INTAKE_PATH = '/events';

export interface IntakeParts {
  readonly store: WebhookStore;
  readonly now: () => EpochMs;
  /** Gets the number of deliveries of an event; undefined for a repeated event. */
  readonly observe: (type: string, deliveries: number | undefined) => void;
}

/** A repeated id gets 202 and is stored once. Rejects if the store is unavailable or the client disconnects. */
export async function answerIntake(
  { store, now, observe }: IntakeParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Services send no Origin. A browser does, for a page of another site.
  if (request.headers.origin !== undefined) return sendError(response, 404, 'There is no such resource');
  if (request.method !== 'POST') {
    return sendError(response, 405, 'Send events with POST', { Allow: 'POST' });
  }
  if (!isWrittenIn([JSON_TYPE], request.headers)) {
    return sendError(response, 415, `The body must be ${JSON_TYPE} in UTF-8`);
  }
  const body = await readObject(request);
  if (body.kind === 'refused') return sendError(response, body.status, body.message);
  const read = readEvent(body.bytes, now());
  if (read.kind === 'refused') return sendError(response, 400, read.message);
  const { event } = read;
  const wanting = await store.subscriptions.wanting(event.type);
  const result = await store.keep(
    event,
    wanting.map(({ id }) => newDelivery(event, id, event.kept)),
  );
  observe(event.type, result === 'known' ? undefined : wanting.length);
  sendJson(response, 202, { id: event.id });
}
