// Signs access tokens in the JWT profile of RFC 9068 for the sample APIs.
// Called by the token endpoint of the server and by the token command.
import { randomUUID } from 'node:crypto';
import { importJWK, SignJWT } from 'jose';
import type { Client } from './clients.ts';
import type { IssuerKey } from './key-file.ts';

/** The resource all sample APIs share. */
const AUDIENCE = 'sundial-samples';

/** Seconds a token lives. */
export const TOKEN_LIFETIME = 3600;

export interface Grant {
  readonly issuer: string;
  readonly client: Pick<Client, 'id' | 'accountCreated'>;
  readonly scopes: readonly string[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A compact RS256 access token for a client that acts on its own behalf, so that `sub` is the client (RFC 9068 §2.2). */
export async function signAccessToken(key: IssuerKey, grant: Grant): Promise<string> {
  const issuedAt = Math.floor(grant.now / 1000);
  const { id, accountCreated } = grant.client;
  const claims = { client_id: id, scope: grant.scopes.join(' ') };
  return new SignJWT(accountCreated === undefined ? claims : { ...claims, account_created: accountCreated })
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: key.kid })
    .setIssuer(grant.issuer)
    .setAudience(AUDIENCE)
    .setSubject(id)
    .setJti(randomUUID())
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + TOKEN_LIFETIME)
    .sign(await importJWK(key.privateJwk, 'RS256'));
}
