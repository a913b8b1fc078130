// The secrets of the sample clients and users, which are public; the issuer itself knows only digests.

export const SAMPLE_CLIENT_SECRETS: Readonly<Record<string, string>> = {
  acme: 'acme-sample-secret',
  globex: 'globex-sample-secret',
  initech: 'initech-sample-secret',
  storefront: 'storefront-sample-secret',
  classic: 'classic-sample-secret',
  webshop: 'webshop-sample-secret',
};

export const SAMPLE_PASSWORDS: Readonly<Record<string, string>> = {
  ana: 'sunrise-sample',
  ben: 'midday-sample',
};
