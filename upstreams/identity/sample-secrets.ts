// The secrets of the sample clients and users, which everyone may read: what is known by heart of a demo, and of nothing else.
// Read by those who show them: the token command, the sample client page, tests. The issuer itself knows digests alone.

/** By client id. */
export const SAMPLE_CLIENT_SECRETS: Readonly<Record<string, string>> = {
  acme: 'acme-sample-secret',
  globex: 'globex-sample-secret',
  initech: 'initech-sample-secret',
  storefront: 'storefront-sample-secret',
  classic: 'classic-sample-secret',
  webshop: 'webshop-sample-secret',
};

/** By user name. */
export const SAMPLE_PASSWORDS: Readonly<Record<string, string>> = {
  ana: 'sunrise-sample',
  ben: 'midday-sample',
};
