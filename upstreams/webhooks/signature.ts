// Signs a delivery: the header fields by which a subscriber knows who sent it, when, and that no byte was changed.
// Called for every attempt, since its time is signed as well (WH-3).
import { createHmac } from 'node:crypto';
import { type Secret, secretBytes } from './secret.ts';

/**
 * `both`: the Standard Webhooks fields, and `x-webhook-signature` with the time under the signature. `body-only`: in place of the
 * latter the specification's literal form, which anyone who has seen a delivery can send again.
 */
export const SIGNATURE_FORMS = ['both', 'body-only'] as const;
export type SignatureForm = (typeof SIGNATURE_FORMS)[number];

export interface Signed {
  /** Of the event, the same in every attempt; without a full stop, which separates what is signed. */
  readonly id: string;
  /** Of this attempt, seconds since 1970. */
  readonly timestamp: number;
  /** The bytes that are sent (WH-3). */
  readonly body: Buffer;
  /** All that are valid now, the newest first: while one is rotated, two. */
  readonly secrets: readonly Secret[];
  readonly form: SignatureForm;
}

/** The fields of WH-1. `body-only` can carry one signature: that of the newest secret. */
export function signDelivery({
  id,
  timestamp,
  body,
  secrets,
  form,
}: Signed): Readonly<Record<string, string>> {
  const [newest] = secrets;
  if (newest === undefined) throw new TypeError('a delivery without a secret cannot be signed');
  const standard = secrets.map((secret) => `v1,${hmac(secret, `${id}.${timestamp}.`, body, 'base64')}`);
  const timed = secrets.map((secret) => `v1=${hmac(secret, `${timestamp}.`, body, 'hex')}`);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': standard.join(' '),
    'x-webhook-signature':
      form === 'body-only' ? hmac(newest, '', body, 'hex') : [`t=${timestamp}`, ...timed].join(','),
  };
}

function hmac(secret: Secret, before: string, body: Buffer, encoding: 'base64' | 'hex'): string {
  return createHmac('sha256', secretBytes(secret)).update(before).update(body).digest(encoding);
}
