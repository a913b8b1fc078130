// The clients the sample issuer knows. Samples, with secrets everyone may read: no real issuer keeps them in code.
// Read by the token endpoint and the token command.
import { createHash, timingSafeEqual } from 'node:crypto';

export interface Client {
  readonly id: string;
  readonly secret: string;
  readonly scopes: readonly string[];
  /** The day its account was made, for the claim of that name; undefined: its tokens do not say. */
  readonly accountCreated: string | undefined;
}

const SCOPES = [
  'orders:read',
  'orders:write',
  'catalog:read',
  'payments:read',
  'payments:write',
  'webhooks:read',
  'webhooks:write',
];

export const ACME: Client = {
  id: 'acme',
  secret: 'acme-sample-secret',
  scopes: SCOPES,
  accountCreated: '2025-03-14',
};

/** Made later than acme, and another one whose tokens hold no day. */
const OTHERS: readonly Client[] = [
  { id: 'globex', secret: 'globex-sample-secret', scopes: SCOPES, accountCreated: '2025-11-05' },
  { id: 'initech', secret: 'initech-sample-secret', scopes: SCOPES, accountCreated: undefined },
];

export const CLIENTS: readonly Client[] = [ACME, ...OTHERS];

/** The client with this id and secret, or undefined without telling which of the two was wrong. */
export function authenticateClient(id: string, secret: string): Client | undefined {
  const client = CLIENTS.find((each) => each.id === id);
  const matches = timingSafeEqual(digest(secret), digest(client?.secret ?? ACME.secret));
  return matches ? client : undefined;
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
