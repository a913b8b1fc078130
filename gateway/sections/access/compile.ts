// Compiles the access rules of an API, its versions and operations, and the Vary fields.
import type { ApiPlan, VersionRules } from '../../plan/plan.ts';
import type { IdentitySettings, Settings } from '../../plan/settings.ts';
import type { AccessRule, CredentialScheme, IdentifiedRule } from '../../policy/authentication/access.ts';
import { BEARER_FIELD } from '../../policy/authentication/token-authenticator.ts';
import { ANY_ORIGIN } from '../../policy/cors/origin.ts';
import type { PolicyFile } from '../policy-file.ts';
import { versionFieldsOf } from '../resolve/compile.ts';
import type { OperationInput, VersionInput } from '../section.ts';

type Identities = Pick<Settings, 'identities'>;
type Compiled = Pick<VersionRules, 'access' | 'vary'>;

export function compileAccess(
  file: PolicyFile,
  settings: Identities,
): Pick<ApiPlan, 'access' | 'vary' | 'keyHeaders' | 'shared'> {
  return {
    ...withVary(file, accessOfApi(file, settings)),
    keyHeaders: keyHeadersOf(file, settings),
    shared: file.shared ?? false,
  };
}

function accessOfApi({ access }: PolicyFile, settings: Identities): AccessRule {
  if (access === 'public') return { kind: 'public' };
  return identified([access.identity].flat(), access.anonymous ?? false, access.scopes, settings);
}

export function accessOfVersion(input: VersionInput): Compiled {
  return withVary(input.file, ruleOfVersion(input));
}

function ruleOfVersion({ version: { access }, ofApi, settings }: VersionInput): AccessRule {
  if (access === undefined) return ofApi.access;
  if (access === 'public') return { kind: 'public' };
  const inherited: Partial<IdentifiedRule> = ofApi.access.kind === 'public' ? {} : ofApi.access;
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

export function accessOfOperation({ file, operation: { access }, rules }: OperationInput): Compiled {
  if (access === undefined) return { access: rules.access, vary: rules.vary };
  if (access === 'public') return withVary(file, { kind: 'public' });
  if (rules.access.kind === 'public') throw new RangeError('unchecked scopes in a public API');
  return withVary(file, { ...rules.access, scopes: { read: access.scopes, write: access.scopes } });
}

function withVary(file: PolicyFile, access: AccessRule): Compiled {
  return { access, vary: varyOf(file, access) };
}

/** CACHE-2: each field once, whether the request has it or not. */
function varyOf(file: PolicyFile, access: AccessRule): string {
  const origin = file.cors === undefined || file.cors.origins.includes(ANY_ORIGIN) ? [] : ['Origin'];
  const credentials = access.kind === 'public' || access.vary === '' ? [] : access.vary.split(', ');
  const fields = [...versionFieldsOf(file), ...origin, ...credentials];
  const lower = fields.map((each) => each.toLowerCase());
  return fields.filter((_, at) => lower.indexOf(lower[at] ?? '') === at).join(', ');
}

/** Lower-case names of the headers that carry API keys. No upstream receives them. */
function keyHeadersOf({ access, versions }: PolicyFile, settings: Identities): readonly string[] {
  const ofVersions = versions === 'none' ? [] : Object.values(versions).map((version) => version.access);
  const names = [access, ...ofVersions].flatMap((each) =>
    typeof each === 'object' && each.identity !== undefined ? each.identity : [],
  );
  return schemesOf(names, settings).flatMap((each) =>
    each.scheme === 'ApiKey' ? each.header.toLowerCase() : [],
  );
}

/** Each scheme once, at the position of its first identity. Bearer lists the issuers of all token identities. */
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
