// Hints for unknown keys that belong elsewhere, and messages for missing keys.
import { API_KEYS, VERSION_KEYS } from '../sections/policy-file.ts';
import { RESOLVE_KEYS } from '../sections/resolve/grammar.ts';
import { PATH_KEYS } from '../sections/routes/grammar.ts';
import type { Path } from './read/document.ts';

export const MISSING_IN_GATEWAY: Readonly<Record<string, string>> = {
  'listeners.https.tls.certificates':
    'the key "certificates" is missing: name a certificate of the gateway, [{ names: [ … ], cert: <file>, key: <file> }]',
};

export const MISSING_IN_POLICY: Readonly<Record<string, string>> = {
  access: 'no access rule: write "access: public", or name an identity and its scopes',
  'access.scopes':
    'the key "scopes" is missing: write the scopes that callers need, { read: [ … ], write: [ … ] }, or any for every identified caller',
};

/** The hint for a path option at the top of a policy file or the gateway file. */
export function placeOfPathKey(path: Path, key: string): string | undefined {
  return path.length === 0 && PATH_KEYS.includes(key) ? `write paths: { ${key}: … }` : undefined;
}

/** The hint for `key` in the map at `path`. Undefined if the key belongs nowhere. */
export function placeOfKey(path: Path, key: string, unversioned: boolean): string | undefined {
  const isVersions = path[0] === 'versions';
  const ofPaths = placeOfPathKey(path, key);
  if (ofPaths !== undefined) return ofPaths;
  if (path.length === 0 && VERSION_KEYS.includes(key)) {
    if (!unversioned) return 'it belongs in a version, below "versions"';
    const instead = key === 'after' || key === 'successor' ? '; "alternate" names a replacement' : '';
    return `only versions have this key, and this API has none${instead}`;
  }
  if (path.length === 0 && key === 'header')
    return 'to carry the version: resolve: [ { header: … } ]; to set fields: "headers"';
  if (path.length === 0 && RESOLVE_KEYS.some((each) => each === key))
    return `it is an entry of "resolve": [ { ${key}: … } ]`;
  const isOperation = isVersions && path.length === 4 && path[2] === 'operations';
  if (isOperation && VERSION_KEYS.includes(key)) return 'it belongs in the version, outside "operations"';
  const isVersion = isVersions && path.length === 2;
  return (isVersion || isOperation) && API_KEYS.includes(key)
    ? 'it belongs at the top of the file'
    : undefined;
}
