// The paths of the issuer below its mount, with their methods; all other paths of the library are unreachable.

export type Route =
  | { readonly kind: 'provider' | 'interaction'; readonly methods: readonly string[] }
  | undefined;

const READ = ['GET', 'HEAD'];

const FIXED: ReadonlyMap<string, readonly string[]> = new Map([
  // OAU-1: parameters in a POST would appear in no link and no log, and POST needs laxer cookies.
  ['/authorize', ['GET']],
  ['/token', ['POST']],
  ['/revoke', ['POST']],
  ['/logout', ['GET']],
  ['/logout/confirm', ['POST']],
  ['/logout/success', ['GET']],
  ['/.well-known/jwks.json', READ],
  ['/.well-known/oauth-authorization-server', READ],
]);

/** `path` follows the mount, without a query. */
export function routeOf(path: string): Route {
  const methods = FIXED.get(path);
  if (methods !== undefined) return { kind: 'provider', methods };
  if (/^\/authorize\/[\w-]+$/.test(path)) return { kind: 'provider', methods: ['GET'] };
  if (/^\/interaction\/[\w-]+$/.test(path)) return { kind: 'interaction', methods: ['GET', 'POST'] };
  return undefined;
}
