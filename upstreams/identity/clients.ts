// The clients of the sample issuer; secrets are stored as SHA-256 only (OAU-5).

export interface Client {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  /** SHA-256 of the secret, base64url; undefined for a public client. */
  readonly secretDigest: string | undefined;
  /**
   * How the client gets tokens. `machine`: client credentials. `web`: a code sent to an https URL that is compared byte for byte.
   * `native`: a code sent to a loopback URL on the person's machine, with any port.
   */
  readonly kind: 'machine' | 'web' | 'native';
  /** Empty for machines. */
  readonly redirectUris: readonly string[];
  /** Whether PKCE is optional, as for the specification's confidential clients; never for a public client. */
  readonly mayOmitPkce: boolean;
  /** The `account_created` claim of its tokens; undefined: no such claim. */
  readonly accountCreated: string | undefined;
}

export const SCOPES: Readonly<Record<string, string>> = {
  'orders:read': 'See your orders',
  'orders:write': 'Place, change and cancel orders',
  'catalog:read': 'See the catalog',
  'payments:read': 'See your payments',
  'payments:write': 'Make and refund payments',
  'webhooks:read': 'See where your events are sent',
  'webhooks:write': 'Choose where your events are sent',
};

const machine = (id: string, secretDigest: string, accountCreated: string | undefined): Client => ({
  id,
  name: id,
  scopes: Object.keys(SCOPES),
  secretDigest,
  kind: 'machine',
  redirectUris: [],
  mayOmitPkce: false,
  accountCreated,
});

const application = (
  parts: Pick<Client, 'id' | 'name' | 'kind' | 'redirectUris' | 'secretDigest'> & { mayOmitPkce?: true },
): Client => ({
  mayOmitPkce: false,
  ...parts,
  scopes: ['orders:read', 'orders:write'],
  accountCreated: undefined,
});

/** The callback of the sample client, which may run on any port. */
const CALLBACK = 'http://127.0.0.1/callback';

export const CLIENTS: readonly Client[] = [
  machine('acme', 'fdI5_UiyU3vXMZIgcsSEhjJkBx9YWZh6pt1KKCmVvNM', '2025-03-14'),
  // globex has a later day than acme; tokens of initech have no day.
  machine('globex', 'dh3GxbfNb9oL0pXHPIui80HQn_uDCehuhWQ2TxTYGp8', '2025-11-05'),
  machine('initech', 'ZHoIa8Ybj39dvRnUzpRkNCyDvsxThuld8GFpmGzy1cs', undefined),
  application({
    id: 'storefront',
    name: 'Sample storefront',
    kind: 'native',
    redirectUris: [CALLBACK],
    secretDigest: 'deOL6Fr7IMH0jw_CFxINH9PM6AwAPLZ9zyx0loDIXFg',
  }),
  application({
    id: 'classic',
    name: 'Sample storefront, without PKCE',
    kind: 'native',
    redirectUris: [CALLBACK],
    secretDigest: 'YdHvuKepv8bMul2_rhMz0M95Ygx6wU7-B8LilX1dHe4',
    mayOmitPkce: true,
  }),
  application({
    id: 'webshop',
    name: 'Sample web shop',
    kind: 'web',
    redirectUris: ['https://shop.example/callback', 'https://shop.example/callback?from=menu'],
    secretDigest: 'DCKyMqF-eOwIOceO8b6umJGE76_IFpyXNLLqxbUeyRA',
  }),
  application({
    id: 'handheld',
    name: 'Sample app',
    kind: 'native',
    redirectUris: [CALLBACK],
    secretDigest: undefined,
  }),
];

const BY_ID: ReadonlyMap<string, Client> = new Map(CLIENTS.map((client) => [client.id, client]));

export function clientOf(id: string): Client | undefined {
  return BY_ID.get(id);
}
