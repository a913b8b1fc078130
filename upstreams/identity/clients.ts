// The clients the sample issuer knows. Samples, with secrets everyone may read: no real issuer keeps them in code.
// Read by the token endpoint and the token command.
import { createHash, timingSafeEqual } from 'node:crypto';

export interface Client {
  readonly id: string;
  readonly secret: string;
  readonly scopes: readonly string[];
}

export const ACME: Client = {
  id: 'acme',
  secret: 'acme-sample-secret',
  scopes: ['orders:read', 'orders:write', 'catalog:read'],
};

/** The client with this id and secret, or undefined without telling which of the two was wrong. */
export function authenticateClient(id: string, secret: string): Client | undefined {
  const matches = timingSafeEqual(digest(secret), digest(ACME.secret));
  return matches && id === ACME.id ? ACME : undefined;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
