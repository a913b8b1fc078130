// Subscribes the receiver at the webhooks service, once, and stores the secret, which the service returns only then.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

export const EVENTS = [
  'order.created',
  'order.updated',
  'order.cancelled',
  'order.deleted',
  'payment.completed',
  'payment.failed',
  'payment.refunded',
  'version.deprecated',
  'version.brownout_scheduled',
  'version.sunset_extended',
  'version.sunset_approaching',
  'version.sunset',
  'version.retired',
] as const;
const AGAIN_AFTER_MS = 100;
const ANSWER_WITHIN_MS = 5_000;

/** The header that a gateway would set: in a demo on one machine the receiver needs no token. */
const CONSUMER_HEADER = { 'x-consumer-id': 'sample-receiver' };

interface Registration {
  readonly id: string;
  readonly secret: string;
}

export interface RegistrationOptions {
  readonly service: string;
  readonly url: string;
  /** File for the secret, readable by its owner only. */
  readonly file: string;
  readonly signal: AbortSignal;
}

export function storedSecret(file: string): string | undefined {
  return readRegistration(file)?.secret;
}

/**
 * The secret of a subscription to every event at `url`, existing or new. Retries until the service answers. Rejects if `signal`
 * is aborted or the service refuses.
 */
export async function register({ service, url, file, signal }: RegistrationOptions): Promise<string> {
  for (;;) {
    try {
      const kept = readRegistration(file);
      if (kept !== undefined && (await reuseSubscription(service, kept.id, url, signal))) return kept.secret;
      const made = await subscribe(service, url, signal);
      writeFileSync(`${file}.new`, JSON.stringify(made), { mode: 0o600 });
      renameSync(`${file}.new`, file);
      return made.secret;
    } catch (error) {
      if (!isTemporary(error)) throw error;
    }
    await setTimeout(AGAIN_AFTER_MS, undefined, { signal });
  }
}

/**
 * Whether the subscription exists. One that has another URL or lacks an event is changed; a second subscription would leave the
 * old one without a receiver.
 */
async function reuseSubscription(
  service: string,
  id: string,
  url: string,
  signal: AbortSignal,
): Promise<boolean> {
  const at = `${service}/webhooks/${encodeURIComponent(id)}`;
  const { status, body } = await call(at, {}, signal);
  if (status !== 200) return false;
  const wanted = member(body, 'events');
  const hasAll = Array.isArray(wanted) && EVENTS.every((event) => wanted.includes(event));
  if (hasAll && textMember(body, 'url') === url) return true;
  const change = { method: 'PATCH', body: JSON.stringify({ url, events: EVENTS }) };
  return (await call(at, change, signal)).status === 200;
}

async function subscribe(service: string, url: string, signal: AbortSignal): Promise<Registration> {
  const init = { method: 'POST', body: JSON.stringify({ url, events: EVENTS }) };
  const { status, body } = await call(`${service}/webhooks`, init, signal);
  const [id, secret] = [textMember(body, 'id'), textMember(body, 'secret')];
  if (status !== 201 || id === undefined || secret === undefined)
    throw new Error(
      `the webhooks service refuses the subscription: ${textMember(body, 'message') ?? status}`,
    );
  return { id, secret };
}

/** Rejects as `fetch` does, and with `TemporaryFailure` for a status that may be temporary. */
async function call(
  url: string,
  init: { readonly method?: string; readonly body?: string },
  signal: AbortSignal,
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, {
    ...init,
    headers: { ...CONSUMER_HEADER, 'content-type': 'application/json' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
  });
  if (response.status >= 500) throw new TemporaryFailure();
  return { status: response.status, body: await response.json() };
}

class TemporaryFailure extends Error {}

function isTemporary(error: unknown): boolean {
  const isLate = error instanceof DOMException && error.name === 'TimeoutError';
  return (
    error instanceof TemporaryFailure ||
    isLate ||
    (error instanceof TypeError && error.message === 'fetch failed')
  );
}

function readRegistration(file: string): Registration | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  const value = parse(text);
  const [id, secret] = [textMember(value, 'id'), textMember(value, 'secret')];
  if (id === undefined || secret === undefined)
    throw new Error(`${file} contains no subscription; remove it to create one`);
  return { id, secret };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // the parser's message would quote a secret
  }
}

function textMember(value: unknown, name: string): string | undefined {
  const found = member(value, name);
  return typeof found === 'string' ? found : undefined;
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
