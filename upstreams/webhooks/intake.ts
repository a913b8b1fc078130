// POST /events: takes an event from a service, and answers 202 once it and its deliveries are on the disk.
// For services on this machine alone: no policy leads here.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendError, sendJson } from '../service/answer.ts';
import { readObject } from '../service/body.ts';
import { isWrittenIn, JSON_TYPE } from '../service/media.ts';
import { type EpochMs, newDelivery } from './delivery.ts';
import type { WebhookStore } from './store.ts';
import { readEvent } from './written-event.ts';

export const INTAKE_PATH = '/events';

export interface IntakeParts {
  readonly store: WebhookStore;
  readonly now: () => EpochMs;
  /** Told how many deliveries an event became; undefined for one that was known. */
  readonly observe: (type: string, deliveries: number | undefined) => void;
}

/** The same id again: 202, and kept once. Rejects when the store is away, and when the client leaves half-way. */
export async function answerIntake(
  { store, now, observe }: IntakeParts,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // A service says none; a browser does, for a page of another site that tells it what to send here.
  if (request.headers.origin !== undefined) return sendError(response, 404, 'There is no such resource');
  if (request.method !== 'POST') {
    return sendError(response, 405, 'Events are posted here', { Allow: 'POST' });
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
