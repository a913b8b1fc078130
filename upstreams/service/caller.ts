// Identifies the caller, to keep idempotency keys of different callers apart (IDM-4); it authorizes nothing.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from './merge-patch.ts';

/**
 * Issuer, client and subject of a JWT, which stay the same in its next token; a digest of any other credentials; empty for none.
 * Two people at one application are two callers: otherwise one would get the other's answer.
 */
export function callerOf({ authorization }: IncomingHttpHeaders): string {
  if (authorization === undefined) return '';
  const { iss, client_id: client, sub } = claimsOf(authorization);
  return typeof client === 'string' || typeof sub === 'string'
    ? JSON.stringify([iss, client, sub])
    : createHash('sha256').update(authorization).digest('base64url');
}

function claimsOf(authorization: string): Readonly<Record<string, unknown>> {
  const [, payload = ''] = /^Bearer [\w-]+\.([\w-]+)\.[\w-]+$/i.exec(authorization) ?? [];
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    return isObject(claims) ? claims : {};
  } catch {
    return {}; // not a JWT
  }
}
