// The paths that the gateway reserves on its public listeners (RFC 8615), and the URLs made of them.

export const API_CATALOG = '/.well-known/api-catalog';
export const LIFECYCLE = '/.well-known/lifecycle';
export const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';
/** A consumer's own usage. No API is called by a name with a dot, so that none has its page there. */
export const OWN_USAGE = `${LIFECYCLE}/usage.json`;

/** The reserved path that `path` is or lies below; undefined when it is free. */
export function reservedPath(path: string): string | undefined {
  return [API_CATALOG, PROTECTED_RESOURCE, LIFECYCLE].find(
    (reserved) => path === reserved || path.startsWith(`${reserved}/`),
  );
}

/** Where the life of an API is published. */
export function lifecycleUrl(publicOrigin: string, api: string): string {
  return `${publicOrigin}${LIFECYCLE}/${api}`;
}
