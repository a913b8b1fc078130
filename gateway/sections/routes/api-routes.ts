// The hosts and path templates under which one API is reached, from its policy file.

import type { Path } from '../../plan/read/document.ts';
import type { PolicyParts } from '../policy-file.ts';

/** Hosts of an API: its own, else that of `public`, and the one that carries the version; lower case, no port. */
export function hostsOf(parts: PolicyParts, publicOrigin: string | undefined): readonly string[] {
  const { host = publicOrigin === undefined ? [] : [new URL(publicOrigin).hostname] } = parts;
  const versioned = parts.resolve?.flatMap(({ subdomain }) => subdomain ?? []) ?? [];
  return [...(typeof host === 'string' ? [host] : host), ...versioned];
}

/** The path templates of an API with the place each is written. */
export function pathsOf(parts: PolicyParts): readonly { readonly path: string; readonly at: Path }[] {
  const resolve = parts.resolve ?? [];
  const versioned = resolve.flatMap(({ path }, index) =>
    path === undefined ? [] : [{ path, at: ['resolve', index, 'path'] }],
  );
  // With nothing but a path no request at the base could name a version: there is no such route (STAT-1).
  const answersAtBase = parts.versions === 'none' || resolve.some(({ path }) => path === undefined);
  return parts.base === undefined || !answersAtBase
    ? versioned
    : [...versioned, { path: parts.base, at: ['base'] }];
}
