// Converts a client to the form of oidc-provider, after a check of its redirect URIs.
import type { ClientMetadata } from 'oidc-provider';
import type { Client } from './clients.ts';

const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\])[:/]/;

/** @throws Error if a code would be sent over plain HTTP to anything but a loopback address (OAU-2) */
export function clientMetadata(client: Client): ClientMetadata {
  const { id, name, kind, redirectUris, secretDigest } = client;
  const unsafe = redirectUris.find(
    (uri) => !uri.startsWith('https://') && !(kind === 'native' && LOOPBACK.test(uri)),
  );
  if (unsafe !== undefined) throw new Error(`the client ${id} must not use the redirect URI ${unsafe}`);
  return {
    client_id: id,
    client_name: name,
    ...(secretDigest === undefined
      ? { token_endpoint_auth_method: 'none' as const }
      : // The digest of the secret, which client-secret.ts compares.
        { client_secret: secretDigest, token_endpoint_auth_method: 'client_secret_basic' as const }),
    ...(kind === 'machine'
      ? { grant_types: ['client_credentials'], response_types: [], redirect_uris: [] }
      : {
          application_type: kind,
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code' as const],
          redirect_uris: [...redirectUris],
          post_logout_redirect_uris: redirectUris.map((uri) => new URL('/', uri).href),
        }),
  };
}
