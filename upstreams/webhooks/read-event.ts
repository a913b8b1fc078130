// Reads an event posted by a service, checks it against the specification's Event record, and keeps its text.
import type { EpochMs, KeptEvent } from './delivery.ts';
import { isEventType } from './event-types.ts';

export type ReadEvent =
  | { readonly kind: 'event'; readonly event: KeptEvent }
  | { readonly kind: 'refused'; readonly message: string };

const MEMBERS = ['id', 'type', 'created', 'data'];
/** The id becomes `webhook-id`, which is signed as `id.timestamp.body`. Without a dot that is unambiguous. */
const ID = /^[A-Za-z0-9_-]{1,100}$/;
/** The year 5138 in seconds, or 1973 in milliseconds. */
const LAST_SECOND = 100_000_000_000;

export function readEvent(bytes: Uint8Array, now: EpochMs): ReadEvent {
  const body = decode(bytes);
  const value = body === undefined ? undefined : parse(body);
  if (body === undefined || !isObject(value)) return refused('The body must be a JSON object in UTF-8');
  const { id, type, created, data } = value;
  if (typeof id !== 'string' || !ID.test(id)) {
    return refused('id must be 1 to 100 of letters, digits, "-" and "_"; it identifies the event');
  }
  if (typeof type !== 'string' || !isEventType(type)) {
    return refused(
      'type must be of the form <resource>.<action>, in lower case, such as "payment.completed"',
    );
  }
  if (typeof created !== 'number' || !Number.isSafeInteger(created) || created < 0 || created > LAST_SECOND) {
    return refused('created must be a whole number of seconds since 1970');
  }
  if (!isObject(data)) return refused('data must be a JSON object');
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) {
    return refused(`An event has id, type, created and data; put "${unknown.slice(0, 50)}" into data`);
  }
  return { kind: 'event', event: { id, type, body, kept: now } };
}

export function makeEvent(
  { id, type, data }: { readonly id: string; readonly type: string; readonly data: object },
  now: EpochMs,
): KeptEvent {
  const created = Math.floor(now / 1000);
  return { id, type, body: JSON.stringify({ id, type, created, data }), kept: now };
}

function refused(message: string): ReadEvent {
  return { kind: 'refused', message };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes).trim();
  } catch {
    return undefined; // bytes that are not UTF-8 are refused like text that is not an object
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // likewise
  }
}
