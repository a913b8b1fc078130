// Verifies the signature and the time of a delivery, before anything of its body is used.
import { createHmac, timingSafeEqual } from 'node:crypto';

export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Seconds that a delivery may be old, or ahead of our clock (WH-4). */
const TOLERANCE = 300;
const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;

/**
 * Verifies the Standard Webhooks fields, whose signature covers id and time. One match of any signature with any secret suffices,
 * so that both sides can rotate independently. Signatures of other versions are ignored. `now`: epoch milliseconds.
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

/** Verifies `x-webhook-signature` with a signed time: `t=<seconds>,v1=<hex>`, possibly with several `v1`. */
export function verifyTimed(fields: Fields, body: Buffer, secrets: readonly string[], now: number): boolean {
  const written = fields['x-webhook-signature'];
  if (typeof written !== 'string') return false;
  const members = written.split(',').map((each) => each.split(/=(.*)/s));
  const time = members.find(([name]) => name === 't')?.[1];
  if (!isRecent(time, now)) return false;
  const given = members.flatMap(([name, value = '']) => (name === 'v1' ? Buffer.from(value) : []));
  return isAnyOf(given, secrets, (key) => hmac(key, `${time}.`, body, 'hex'));
}

/** Verifies the literal form of `x-webhook-signature`, the hex HMAC of the body. It does not cover the time. */
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

/** Compares in constant time. */
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

/** @throws Error for a malformed secret: verifying with a guess would prove nothing */
function keyOf(secret: string): Buffer {
  const encoded = SECRET.exec(secret)?.[1];
  if (encoded === undefined) throw new Error('a secret has the form whsec_<base64>');
  return Buffer.from(encoded, 'base64');
}

function hmac(key: Buffer, before: string, body: Buffer, encoding: 'base64' | 'hex'): Buffer {
  return Buffer.from(createHmac('sha256', key).update(before).update(body).digest(encoding));
}
