// What is said of a key that has to be there, where its name alone would not say what to write.
// By its path joined with dots, for the shape check of either kind of file.

export const MISSING_IN_GATEWAY: Readonly<Record<string, string>> = {
  'listeners.https.tls.certificates':
    'the key "certificates" is missing: name a certificate of the gateway, [{ names: [ … ], cert: <file>, key: <file> }]',
};

export const MISSING_IN_POLICY: Readonly<Record<string, string>> = {
  access: 'no access rule: write "access: public", or name an identity and its scopes',
  'access.scopes':
    'the key "scopes" is missing: say which ones callers need, { read: [ … ], write: [ … ] }, or any for whoever is known',
};
