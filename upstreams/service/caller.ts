// Who calls, as far as keys of one caller are kept apart from those of another (IDM-4).
// The token was verified by the gateway; nothing is allowed or refused by what is read here.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isObject } from './merge-patch.ts';

/**
 * The client that a JWT names and the person it acts for, by whose word; the same in its next token. Of any other credentials
 * a digest; empty for none. Two people at one application are two callers: else one would be told what the other has made.
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
    return {}; // no JWT
  }
}
