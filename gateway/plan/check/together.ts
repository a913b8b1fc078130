// Cross checks between policy files: one name per API, one API per host and path.
// Runs on the well-formed parts of all files, last of the checks.
import { hostsOf, pathsOf } from '../api-routes.ts';
import type { Problem } from '../problems.ts';
import type { Path, SourceDocument } from '../read/document.ts';
import { hostKey } from '../route-table.ts';
import type { PolicyView } from './views.ts';

/** What a file takes for itself, without the document: thousands of them are kept between reloads. */
export interface Claims {
  readonly file: string;
  readonly api: string | undefined;
  readonly routes: readonly { readonly at: Path; readonly keys: readonly string[] }[];
}

export interface Claimant {
  readonly claims: Claims;
  /** Where it is written; asked for only when two files claim the same. */
  readonly document: () => SourceDocument;
}

export function claimsOf({ document, parts }: PolicyView, publicOrigin: string | undefined): Claims {
  const hosts = hostsOf(parts, publicOrigin).map(hostKey);
  const routes = pathsOf(parts).map(({ path, at }) => ({ at, keys: hosts.map((host) => `${host} ${path}`) }));
  return { file: document.file, api: parts.api, routes };
}

export function checkTogether(claimants: readonly Claimant[]): readonly Problem[] {
  const problems: Problem[] = [];
  const byName = new Map<string, Claims>();
  const byRoute = new Map<string, Claims>();
  for (const { claims, document } of claimants) {
    const { api, routes } = claims;
    if (api !== undefined) {
      const other = byName.get(api);
      if (other === undefined) byName.set(api, claims);
      else {
        const written = document();
        const message = `the API ${written.show(['api'], api)} is already described in ${other.file}`;
        problems.push(written.problem(['api'], { rule: 'duplicate', message }));
      }
    }
    for (const { at, keys } of routes) {
      for (const key of keys) {
        const other = byRoute.get(key);
        if (other === undefined) byRoute.set(key, claims);
        else if (other !== claims) {
          const message = `this host and path belong to the API in ${other.file}`;
          problems.push(document().problem(at, { rule: 'duplicate', message }));
          break;
        }
      }
    }
  }
  return problems;
}
