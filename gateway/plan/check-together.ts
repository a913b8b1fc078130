// Cross checks between policy files: one name per API, one API per host and path.
// Also what both checking and compiling need to know of an API's routes.
import { isLoopback } from '../policy/notation.ts';
import type { Path, SourceDocument } from './document.ts';
import type { PolicyParts } from './policy-grammar.ts';
import type { Problem } from './problems.ts';
import type { PolicyView } from './views.ts';

/** Hosts of an API: its own, or that of `public`; lower case, no port. Names of this machine count as one. */
export function hostsOf(parts: PolicyParts, publicOrigin: string | undefined): readonly string[] {
  const { host } = parts;
  if (typeof host === 'string') return [host];
  return host ?? (publicOrigin === undefined ? [] : [new URL(publicOrigin).hostname]);
}

export function checkTogether(
  views: readonly PolicyView[],
  publicOrigin: string | undefined,
): readonly Problem[] {
  const problems: Problem[] = [];
  const names = new Map<string, SourceDocument>();
  const routes = new Map<string, { readonly document: SourceDocument; readonly view: PolicyView }>();
  for (const view of views) {
    const { document, parts } = view;
    if (parts.api !== undefined) {
      const other = names.get(parts.api);
      if (other === undefined) names.set(parts.api, document);
      else {
        const message = `the API ${document.show(['api'], parts.api)} is already described in ${other.file}`;
        problems.push(document.problem(['api'], { rule: 'duplicate', message }));
      }
    }
    for (const { path, at } of pathsOf(parts)) {
      for (const host of hostsOf(parts, publicOrigin)) {
        const key = `${isLoopback(host) ? 'localhost' : host} ${path}`;
        const other = routes.get(key);
        if (other === undefined) routes.set(key, { document, view });
        else if (other.view !== view) {
          const message = `this host and path belong to the API in ${other.document.file}`;
          problems.push(document.problem(at, { rule: 'duplicate', message }));
          break;
        }
      }
    }
  }
  return problems;
}

/** The route templates of an API with the place each is written. */
export function pathsOf(parts: PolicyParts): readonly { readonly path: string; readonly at: Path }[] {
  const versioned = (parts.resolve ?? []).flatMap(({ path }, index) =>
    path === undefined ? [] : [{ path, at: ['resolve', index, 'path'] }],
  );
  // Without a header or default, a request at the base could name no version: there is no such route (standards 3.4).
  const byBase =
    parts.versions === 'none' || (parts.resolve ?? []).some((entry) => entry.header ?? entry.default);
  return parts.base === undefined || !byBase ? versioned : [...versioned, { path: parts.base, at: ['base'] }];
}
