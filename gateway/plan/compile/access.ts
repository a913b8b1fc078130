// Who may call, compiled: of an API, of a version of it, and of one operation, each with what it does not say taken over.
import type { AccessRule, CredentialScheme, IdentifiedRule } from '../../policy/authentication/access.ts';
import { BEARER_FIELD } from '../../policy/authentication/token-authenticator.ts';
import type { OperationFile, PolicyFile, VersionFile } from '../../sections/policy-file.ts';
import type { IdentitySettings, Settings } from '../settings.ts';

type Identities = Pick<Settings, 'identities'>;

export function compileAccess({ access }: PolicyFile, settings: Identities): AccessRule {
  if (access === 'public') return { kind: 'public' };
  return identified([access.identity].flat(), access.anonymous ?? false, access.scopes, settings);
}

export function versionAccess(
  { access }: Pick<VersionFile, 'access'>,
  ofApi: AccessRule,
  settings: Identities,
): AccessRule {
  if (access === undefined) return ofApi;
  if (access === 'public') return { kind: 'public' };
  const inherited: Partial<IdentifiedRule> = ofApi.kind === 'public' ? {} : ofApi;
  const identities = access.identity === undefined ? inherited.identities : [access.identity].flat();
  if (identities === undefined) throw new RangeError('unchecked scopes of a version in a public API');
  const anonymous = access.anonymous ?? inherited.anonymous ?? false;
  return identified(identities, anonymous, access.scopes, settings);
}

function identified(
  identities: readonly string[],
  anonymous: boolean,
  { read, write }: Partial<IdentifiedRule['scopes']>,
  settings: Identities,
): IdentifiedRule {
  const schemes = schemesOf(identities, settings);
  const fields = schemes.flatMap((each) => {
    if (each.scheme === 'ClientCertificate') return [];
    return each.scheme === 'Bearer' ? BEARER_FIELD : each.header;
  });
  const vary = anonymous ? fields.join(', ') : '';
  return { kind: 'identified', identities, schemes, anonymous, vary, scopes: { read, write } };
}

export function operationAccess(
  { access }: Pick<OperationFile, 'access'>,
  ofVersion: AccessRule,
): AccessRule {
  if (access === undefined) return ofVersion;
  if (access === 'public') return { kind: 'public' };
  if (ofVersion.kind === 'public') throw new RangeError('unchecked scopes in a public API');
  return { ...ofVersion, scopes: { read: access.scopes, write: access.scopes } };
}

/** Lower-case names of the fields in which the API or one of its versions takes keys: no upstream sees one. */
export function keyHeadersOf({ access, versions }: PolicyFile, settings: Identities): readonly string[] {
  const ofVersions = versions === 'none' ? [] : Object.values(versions).map((version) => version.access);
  const names = [access, ...ofVersions].flatMap((each) =>
    typeof each === 'object' && each.identity !== undefined ? each.identity : [],
  );
  return schemesOf(names, settings).flatMap((each) =>
    each.scheme === 'ApiKey' ? each.header.toLowerCase() : [],
  );
}

/** Each scheme once, where its first identity stands; every issuer of tokens is among those of Bearer. */
function schemesOf(names: readonly string[], { identities }: Identities): readonly CredentialScheme[] {
  const used = names.flatMap((name) => identities.find((identity) => identity.name === name) ?? []);
  const issuers = used.flatMap((identity) =>
    'issuer' in identity && identity.issuer !== undefined ? [identity.issuer] : [],
  );
  const schemes = new Map<string, CredentialScheme>();
  for (const identity of used) {
    const scheme = schemeOf(identity, issuers);
    const key = scheme.scheme === 'ApiKey' ? `ApiKey ${scheme.header.toLowerCase()}` : scheme.scheme;
    if (!schemes.has(key)) schemes.set(key, scheme);
  }
  return [...schemes.values()];
}

function schemeOf(identity: IdentitySettings, issuers: readonly string[]): CredentialScheme {
  switch (identity.kind) {
    case 'jwt':
    case 'introspection':
      return { scheme: 'Bearer', issuers: [...new Set(issuers)] };
    case 'keys':
      return { scheme: 'ApiKey', header: identity.header };
    case 'certificate':
      return { scheme: 'ClientCertificate' };
    default:
      return identity satisfies never;
  }
}
