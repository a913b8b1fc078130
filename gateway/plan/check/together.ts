// Cross checks between policy files: one name per API, one API per host and path.
// Runs on the well-formed parts of all files, last of the checks.
import { hostsOf, pathsOf } from '../api-routes.ts';
import type { Problem } from '../problems.ts';
import type { SourceDocument } from '../read/document.ts';
import { hostKey } from '../route-table.ts';
import type { PolicyView } from './views.ts';

export function checkTogether(
  views: readonly PolicyView[],
  publicOrigin: string | undefined,
): readonly Problem[] {
  const problems: Problem[] = [];
  const byName = new Map<string, SourceDocument>();
  const byRoute = new Map<string, SourceDocument>();
  for (const { document, parts } of views) {
    if (parts.api !== undefined) {
      const other = byName.get(parts.api);
      if (other === undefined) byName.set(parts.api, document);
      else {
        const message = `the API ${document.show(['api'], parts.api)} is already described in ${other.file}`;
        problems.push(document.problem(['api'], { rule: 'duplicate', message }));
      }
    }
    for (const { path, at } of pathsOf(parts)) {
      for (const host of hostsOf(parts, publicOrigin)) {
        const key = `${hostKey(host)} ${path}`;
        const other = byRoute.get(key);
        if (other === undefined) byRoute.set(key, document);
        else if (other !== document) {
          const message = `this host and path belong to the API in ${other.file}`;
          problems.push(document.problem(at, { rule: 'duplicate', message }));
          break;
        }
      }
    }
  }
  return problems;
}
