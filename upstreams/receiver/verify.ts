// Whether a delivery comes from the service we subscribed at, came just now, and is whole.
// The first thing that happens to what is received: nothing of a body is believed before.
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Header fields by lower-case names. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Seconds that a delivery may be old, or ahead of our clock (WH-4). */
const TOLERANCE = 300;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/**
 * By the Standard Webhooks fields: the id and the time are under the signature. Any of several signatures will do, and ours
 * may be any of several secrets, so that neither side rotates at the other's moment. Signatures of other versions are left
 * alone. `now`: epoch milliseconds.
 */
export function verifyStandard(
  fields: Fields,
  body: Buffer,
  secrets: readonly string[],
  now: number,
): boolean {
  const [id, time, written] = [
    fields['webhook-id'],
    fields['webhook-timestamp'],
    fields['webhook-signature'],
  ];
  if (typeof id !== 'string' || id === '' || typeof written !== 'string' || !isRecent(time, now))
    return false;
  const given = written
    .split(' ')
    .flatMap((each) => (each.startsWith('v1,') ? Buffer.from(each.slice(3)) : []));
  return isAnyOf(given, secrets, (key) => hmac(key, `${id}.${time}.`, body, 'base64'));
}

/** By `x-webhook-signature`, which has the time under the signature: `t=<seconds>,v1=<hex>`, more than one `v1` perhaps. */
export function verifyTimed(fields: Fields, body: Buffer, secrets: readonly string[], now: number): boolean {
  const written = fields['x-webhook-signature'];
  if (typeof written !== 'string') return false;
  const members = written.split(',').map((each) => each.split(/=(.*)/s));
  const time = members.find(([name]) => name === 't')?.[1];
  if (!isRecent(time, now)) return false;
  const given = members.flatMap(([name, value = '']) => (name === 'v1' ? Buffer.from(value) : []));
  return isAnyOf(given, secrets, (key) => hmac(key, `${time}.`, body, 'hex'));
}

/** By the literal form of `x-webhook-signature`, the hex HMAC of the body alone: says nothing of when it was sent. */
export function verifyBodyOnly(fields: Fields, body: Buffer, secrets: readonly string[]): boolean {
  const written = fields['x-webhook-signature'];
  return (
    typeof written === 'string' &&
    isAnyOf([Buffer.from(written)], secrets, (key) => hmac(key, '', body, 'hex'))
  );
}

function isRecent(time: Fields[string], now: number): boolean {
  return (
    typeof time === 'string' && /^\d{1,12}$/.test(time) && Math.abs(Number(time) - now / 1_000) <= TOLERANCE
  );
}

/** Compares in a time that does not depend on where two differ. */
function isAnyOf(
  given: readonly Buffer[],
  secrets: readonly string[],
  sign: (key: Buffer) => Buffer,
): boolean {
  const expected = secrets.map((secret) => sign(keyOf(secret)));
  return given.some((each) =>
    expected.some((right) => each.length === right.length && timingSafeEqual(each, right)),
  );
}

/** @throws Error for what is no secret of a subscription: a receiver that guesses verifies nothing */
function keyOf(secret: string): Buffer {
  const encoded = SECRET.exec(secret)?.[1];
  if (encoded === undefined) throw new Error('a secret has the form whsec_<base64>');
  return Buffer.from(encoded, 'base64');
}

function hmac(key: Buffer, before: string, body: Buffer, encoding: 'base64' | 'hex'): Buffer {
  return Buffer.from(createHmac('sha256', key).update(before).update(body).digest(encoding));
}
