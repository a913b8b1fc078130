// The issuer's metadata (RFC 8414): the document of oidc-provider without the parts of OpenID Connect that are not offered.
import type { KoaContextWithOIDC } from 'oidc-provider';
import { SCOPES } from './clients.ts';

const OFFERED: ReadonlySet<string> = new Set([
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'revocation_endpoint',
  'end_session_endpoint',
  'jwks_uri',
  'response_types_supported',
  'grant_types_supported',
  'code_challenge_methods_supported',
  'token_endpoint_auth_methods_supported',
  'revocation_endpoint_auth_methods_supported',
  'authorization_response_iss_parameter_supported',
]);

export async function filterMetadata(
  context: KoaContextWithOIDC,
  next: () => Promise<unknown>,
): Promise<void> {
  await next();
  const document: unknown = context.body;
  if (context.oidc?.route !== 'discovery' || typeof document !== 'object' || document === null) return;
  context.body = {
    ...Object.fromEntries(Object.entries(document).filter(([name]) => OFFERED.has(name))),
    response_modes_supported: ['query'],
    scopes_supported: Object.keys(SCOPES),
  };
}
