// Checks `access`: known identities, scopes that some token can hold, and identity headers.

import type { Path } from '../../plan/read/document.ts';
import { keysOf, valueAt } from '../../plan/read/values.ts';
import { fieldMeaning, parseFieldName } from '../../policy/headers/field-name.ts';
import { gatewayMeaning } from '../headers/gateway-fields.ts';
import type { VersionParts } from '../policy-file.ts';
import { type CheckContext, isWritten, type PolicyView, type Report, reportUnknownName } from '../view.ts';

export function checkAccess(view: PolicyView, context: CheckContext, report: Report): void {
  const { access } = view.parts;
  if (typeof access === 'object') {
    checkIdentities(access, ['access'], view, context, report);
    const inheriting = view.versions
      .values()
      .filter((version) => view.unversioned || version.access === undefined);
    checkGrants(access, ['access'], [...inheriting], report);
  }
  for (const [label, version] of view.unversioned ? [] : view.versions) {
    const path: Path = ['versions', label, 'access'];
    if (typeof version.access !== 'object') continue;
    checkIdentities(version.access, path, view, context, report);
    checkGrants(version.access, path, [version], report);
    if (version.access.identity === undefined && access === 'public') {
      const message = 'a public API verifies no tokens, so scopes have no effect';
      report(path, { rule: 'access', message, hint: 'add identity: <name>', at: 'key' });
    }
    if (version.access.identity !== undefined && view.parts.resolve?.some(({ pin }) => pin !== undefined)) {
      const message =
        'with pins, the caller is authenticated before the version is known: use the identities of the API';
      report([...path, 'identity'], { rule: 'access', message });
    }
  }
  for (const name of view.upstreamNames) checkIdentityHeaders(name, view, report);
  checkShared(view, report);
}

/** CACHE-3: a public API identifies no caller. */
function checkShared({ parts, versions, unversioned }: PolicyView, report: Report): void {
  const own = unversioned ? [] : [...versions.values()];
  const rules = [parts.access, ...own.map((version) => version.access)];
  if (parts.shared !== true || parts.access === undefined || rules.some((each) => typeof each === 'object'))
    return;
  const message = 'shared has no effect, because the access is public and no caller is identified';
  report(['shared'], { rule: 'access', severity: 'warning', message, at: 'key' });
}

const NO_IDENTITY =
  'the gateway file has none: write identity: { <name>: { issuer: <URL>, audience: <text> } } there for tokens, identity: { keys: { header: X-API-Key } } there for API keys, or access: public here';

function checkIdentities(
  { identity }: { readonly identity?: string | readonly string[] | undefined },
  path: Path,
  view: PolicyView,
  { identities: known }: CheckContext,
  report: Report,
): void {
  if (known === undefined || identity === undefined) return;
  const names = [identity].flat();
  for (const [index, name] of names.entries()) {
    const at = typeof identity === 'string' ? [...path, 'identity'] : [...path, 'identity', index];
    if (!known.includes(name)) reportUnknownName(at, 'identity', name, known, view, report, NO_IDENTITY);
    else if (names.indexOf(name) < index)
      report(at, { rule: 'access', message: 'this identity is listed twice' });
  }
}

/** Without scopes everything is refused. This is intended if operations have their own access, and a mistake otherwise. */
function checkGrants(
  { scopes }: Extract<VersionParts['access'], object>,
  path: Path,
  versions: readonly VersionParts[],
  report: Report,
): void {
  if (scopes === undefined || scopes.read !== undefined || scopes.write !== undefined) return;
  const operations = versions.flatMap(({ operations = {} }) => Object.values(operations));
  if (operations.some(({ access }) => access !== undefined)) return;
  report([...path, 'scopes'], {
    rule: 'access',
    severity: 'warning',
    message: 'no scopes are granted: every request is refused with 403',
    hint: 'write scopes: any, or the scopes that reading and writing need: { read: [orders:read], write: [orders:write] }',
  });
}

/** XFF-1: identity headers must be fields that nothing else sets. */
function checkIdentityHeaders(upstream: string, view: PolicyView, report: Report): void {
  const identityHeaders = view.parts.upstreams?.[upstream]?.identity_headers;
  if (identityHeaders === undefined) return;
  const at: Path = ['upstreams', upstream, 'identity_headers'];
  const set = keysOf(valueAt(view.document.value, ['headers', 'request', 'set'])).map(parseFieldName);
  for (const use of ['consumer', 'scopes'] as const) {
    const name = identityHeaders[use];
    if (name === undefined || !isWritten(view, [...at, use])) continue;
    const hint = `write a field of its own, such as ${use === 'consumer' ? 'X-Consumer-Id' : 'X-Consumer-Scopes'}`;
    const meaning = gatewayMeaning(name, view) ?? fieldMeaning(name);
    const message =
      meaning !== undefined
        ? `${name} already carries ${meaning}`
        : set.includes(name)
          ? `headers.request.set has ${name} too`
          : use === 'scopes' && name === identityHeaders.consumer
            ? `${name} already carries the consumer`
            : undefined;
    if (message !== undefined) report([...at, use], { rule: 'headers', message, hint });
  }
}
