// Allows only the response mode `query`: a code goes back in the query of a redirect.
import type { KoaContextWithOIDC } from 'oidc-provider';

/**
 * OAU-8: the library would also put a code into a fragment, or into a page whose script posts it. It refuses unknown modes with a
 * redirect, so every other mode is renamed to an unknown one.
 */
export async function allowQueryModeOnly(
  context: KoaContextWithOIDC,
  next: () => Promise<unknown>,
): Promise<void> {
  const { response_mode: mode } = context.query;
  if (typeof mode === 'string' && mode !== '' && mode !== 'query') {
    context.query = { ...context.query, response_mode: 'none' };
  }
  await next();
}
