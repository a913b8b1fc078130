// How an answer goes back to a client: in the query of a redirect, and in no other way.
// A middleware of the provider, before everything else.
import type { KoaContextWithOIDC } from 'oidc-provider';

/**
 * OAU-8: the library would also put a code into a fragment, or into a page with a script that posts it. It refuses a mode
 * that it does not know, by a redirect; so every other one is given such a name.
 */
export async function keepToQuery(context: KoaContextWithOIDC, next: () => Promise<unknown>): Promise<void> {
  const { response_mode: mode } = context.query;
  if (typeof mode === 'string' && mode !== '' && mode !== 'query') {
    context.query = { ...context.query, response_mode: 'none' };
  }
  await next();
}
