// Paths that the gateway reserves on its public listeners (RFC 8615), and URLs below them.

export const API_CATALOG = '/.well-known/api-catalog';
export const LIFECYCLE = '/.well-known/lifecycle';
export const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';
/** Usage of the calling consumer. API names have no dot, so no API's page has this path. */
export const OWN_USAGE = `${LIFECYCLE}/usage.json`;

/** The reserved path that equals `path` or contains it. Undefined if there is none. */
export function reservedPath(path: string): string | undefined {
  return [API_CATALOG, PROTECTED_RESOURCE, LIFECYCLE].find(
    (reserved) => path === reserved || path.startsWith(`${reserved}/`),
  );
}

export function lifecycleUrl(publicOrigin: string, api: string): string {
  return `${publicOrigin}${LIFECYCLE}/${api}`;
}
