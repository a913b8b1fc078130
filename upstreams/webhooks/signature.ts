// Signs a delivery: the headers that prove its sender, its time and its content, made for each attempt (WH-3).
import { createHmac } from 'node:crypto';
import { type Secret, secretBytes } from './secret.ts';

/**
 * `both`: the Standard Webhooks headers, and `x-webhook-signature` with a signed time. `body-only`: in place of the latter the
 * specification's literal form, which allows replay attacks.
 */
export const SIGNATURE_FORMS = ['both', 'body-only'] as const;
export type SignatureForm = (typeof SIGNATURE_FORMS)[number];

export interface Signed {
  /** Id of the event, the same in every attempt. It has no dot, which separates the signed parts. */
  readonly id: string;
  /** Time of this attempt, seconds since 1970. */
  readonly timestamp: number;
  /** The bytes that are sent (WH-3). */
  readonly body: Buffer;
  /** All valid secrets, the newest first; two during a rotation. */
  readonly secrets: readonly Secret[];
  readonly form: SignatureForm;
}

/** The headers of WH-1. `body-only` has room for one signature, that of the newest secret. */
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
