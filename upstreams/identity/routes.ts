// What the issuer answers, below its mount: each path with its methods, as the specification and RFC 8414 name them.
// Looked at before anything else; what is not here does not exist, whatever the library could do.

export type Route =
  | { readonly kind: 'provider' | 'interaction'; readonly methods: readonly string[] }
  | undefined;

const READ = ['GET', 'HEAD'];

const FIXED: ReadonlyMap<string, readonly string[]> = new Map([
  // OAU-1: a request by POST would carry its parameters where no link and no log shows them, and needs laxer cookies.
  ['/authorize', ['GET']],
  ['/token', ['POST']],
  ['/revoke', ['POST']],
  ['/logout', ['GET']],
  ['/logout/confirm', ['POST']],
  ['/logout/success', ['GET']],
  ['/.well-known/jwks.json', READ],
  ['/.well-known/oauth-authorization-server', READ],
]);

/** `path` is what follows the mount, without a query. */
export function routeOf(path: string): Route {
  const methods = FIXED.get(path);
  if (methods !== undefined) return { kind: 'provider', methods };
  if (/^\/authorize\/[\w-]+$/.test(path)) return { kind: 'provider', methods: ['GET'] };
  if (/^\/interaction\/[\w-]+$/.test(path)) return { kind: 'interaction', methods: ['GET', 'POST'] };
  return undefined;
}
