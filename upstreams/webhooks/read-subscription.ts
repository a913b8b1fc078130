// Checks the fields of a subscription that an owner may write: url, events and signature (WH-8).
import type { JsonObject } from '../service/body.ts';
import { EVENT_TYPES, isEventType } from './event-types.ts';
import { SUBSCRIPTION_FIELDS } from './show.ts';
import { SIGNATURE_FORMS, type SignatureForm } from './signature.ts';

export interface WrittenSubscription {
  readonly url: string;
  readonly events: readonly string[];
  readonly signature: SignatureForm;
}

export type ReadSubscription =
  | { readonly kind: 'valid'; readonly written: WrittenSubscription }
  | { readonly kind: 'refused'; readonly message: string };

/** The parsed URL, or why the service may not call it. */
export type CheckUrl = (
  url: string,
) => { readonly kind: 'allowed'; readonly url: URL } | { readonly kind: 'refused'; readonly message: string };

const WRITABLE = ['url', 'events', 'signature'];
/** Read-only fields are accepted and ignored, so that a representation can be sent back. */
const SHOWN: readonly string[] = SUBSCRIPTION_FIELDS;
const MAX_EVENTS = 50;

export function readSubscription(value: JsonObject, checkUrl: CheckUrl): ReadSubscription {
  const unknown = Object.keys(value).find((name) => !WRITABLE.includes(name) && !SHOWN.includes(name));
  if (unknown !== undefined) {
    return refused(`"${unknown.slice(0, 50)}" is unknown; a subscription has ${WRITABLE.join(', ')}`);
  }
  const { url, events, signature = 'both' } = value;
  if (typeof url !== 'string') return refused('url must be a string, such as "https://example.com/hooks"');
  const checked = checkUrl(url);
  if (checked.kind === 'refused') return checked;
  if (!isTextList(events) || events.length === 0 || events.length > MAX_EVENTS) {
    return refused(`events must be a list of 1 to ${MAX_EVENTS} event types, such as ["payment.completed"]`);
  }
  const malformed = events.find((type) => !isEventType(type));
  if (malformed !== undefined) {
    return refused(`"${malformed.slice(0, 100)}" is not an event type; the form is <resource>.<action>`);
  }
  const missing = events.find((type) => !EVENT_TYPES.includes(type));
  if (missing !== undefined) {
    return refused(`Unknown event type "${missing}"; known: ${EVENT_TYPES.join(', ')}`);
  }
  const form = SIGNATURE_FORMS.find((each) => each === signature);
  if (form === undefined) return refused(`signature must be one of ${SIGNATURE_FORMS.join(', ')}`);
  return { kind: 'valid', written: { url: checked.url.href, events: [...new Set(events)], signature: form } };
}

function refused(message: string): ReadSubscription {
  return { kind: 'refused', message };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
