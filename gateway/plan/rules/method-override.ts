// Rule method-override: the service may use another method than the one that the gateway judged.

import { clientField } from '../../policy/headers/client-fields.ts';
import { parseOperation, sameRequests } from '../../policy/lifecycle/operation-template.ts';
import type { OperationFile, VersionParts } from '../../sections/policy-file.ts';
import type { PolicyView, Report } from '../../sections/view.ts';
import { versionPath } from '../../sections/view.ts';

type Access = VersionParts['access'];

export function methodOverride(view: PolicyView, report: Report): void {
  const { access, headers } = view.parts;
  const versions = [...view.versions];
  const kept = headers?.request?.keep?.findIndex((name) => clientField(name).kind === 'override') ?? -1;
  if (kept >= 0 && versions.some(([, version]) => dependsOnMethod(version, access)))
    report(['headers', 'request', 'keep', kept], {
      rule: 'method-override',
      message:
        'scopes and operation rules go by the method of the request, and not by the one that this header names',
      hint: 'remove it from keep, unless the service judges the methods itself',
    });
  for (const [label, version] of versions) {
    if (view.takesForms[label] === false) continue;
    const found = weakenedByPost(version, access);
    if (found === undefined) continue;
    const { name, method } = found;
    report([...versionPath(label), 'operations', name, 'access'], {
      rule: 'method-override',
      message: `a POST with the form field _method=${method} needs fewer scopes than this operation`,
      hint: 'disable the method override in the service, then write rules: { method-override: off }',
      at: 'key',
    });
    return;
  }
}

function dependsOnMethod(version: VersionParts, ofApi: Access): boolean {
  if (Object.keys(version.operations ?? {}).length > 0) return true;
  const access = version.access ?? ofApi;
  if (typeof access !== 'object' || access.scopes === undefined) return false;
  const { read, write } = access.scopes;
  return read?.join(' ') !== write?.join(' ');
}

/** The first operation that needs a scope which a POST to the same path does not need. */
function weakenedByPost(
  version: VersionParts,
  ofApi: Access,
): { readonly name: string; readonly method: string } | undefined {
  const operations = Object.entries(version.operations ?? {}).flatMap(([name, { access }]) => {
    const parsed = parseOperation(name);
    return parsed.kind === 'operation' ? [{ name, access, template: parsed.template }] : [];
  });
  for (const { name, access, template } of operations) {
    const { method } = template;
    // Services override POST with another writing method, never with GET.
    if (typeof access !== 'object' || !['PUT', 'PATCH', 'DELETE'].includes(method)) continue;
    const [same] = (['POST', '*'] as const).flatMap((post) =>
      operations.filter(
        (each) => each.access !== undefined && sameRequests(each.template, { ...template, method: post }),
      ),
    );
    const needed = scopesOfPost(same?.access, version.access ?? ofApi);
    if (needed !== undefined && access.scopes.some((scope) => !needed.includes(scope)))
      return { name, method };
  }
  return undefined;
}

/** Undefined if no POST is allowed. */
function scopesOfPost(own: OperationFile['access'], ofVersion: Access): readonly string[] | undefined {
  if (own !== undefined) return own === 'public' ? [] : own.scopes;
  return ofVersion === 'public' ? [] : ofVersion?.scopes?.write;
}
