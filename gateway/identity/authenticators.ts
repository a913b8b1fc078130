// Every identity of the settings, able to judge what requests carry: tokens, API keys, certificates.
// Opened and closed by service.ts; the pipeline asks those that the access of an API names.
import type { IdentitySettings } from '../plan/settings.ts';
import type { Authenticator } from '../policy/authentication/access.ts';
import type { KnownKeys } from '../policy/authentication/key-record.ts';
import { tokenAuthenticator } from '../policy/authentication/token-authenticator.ts';
import { createKeyAuthenticator } from './api-keys.ts';
import { createCertificateAuthenticator } from './client-certificate.ts';
import { openVerifiers, type VerifiersOptions } from './verifiers.ts';

export interface AuthenticatorsOptions extends VerifiersOptions {
  readonly keys: KnownKeys;
}

export interface Authenticators {
  readonly byName: ReadonlyMap<string, Authenticator>;
  /** Has what can be had before the first request asks for it; does not wait. */
  readonly warm: () => void;
  readonly close: () => void;
}

export function openAuthenticators(
  identities: readonly IdentitySettings[],
  { keys, ...options }: AuthenticatorsOptions,
): Authenticators {
  const verifiers = openVerifiers(
    identities.filter((identity) => identity.kind === 'jwt' || identity.kind === 'introspection'),
    options,
  );
  const byName = new Map<string, Authenticator>();
  for (const [name, verifier] of verifiers) byName.set(name, tokenAuthenticator(options.now, verifier));
  for (const identity of identities) {
    if (identity.kind === 'keys')
      byName.set(identity.name, createKeyAuthenticator({ header: identity.header, keys, now: options.now }));
    if (identity.kind === 'certificate')
      byName.set(identity.name, createCertificateAuthenticator(identity, options.now));
  }
  return {
    byName,
    warm: () => {
      for (const verifier of verifiers.values()) void verifier.warm();
    },
    close: () => {
      for (const verifier of verifiers.values()) verifier.close();
    },
  };
}
