// Opens an authenticator for every identity of the gateway file.
import type { CertificateIdentity, IdentitySettings, JwtIdentity, TokenIdentity } from '../plan/settings.ts';
import type {
  AuthenticationResult,
  Authenticator,
  ClientCertificate,
} from '../policy/authentication/access.ts';
import { consumerOfCertificate } from '../policy/authentication/consumer.ts';
import type { KeyLookup } from '../policy/authentication/key-record.ts';
import { tokenAuthenticator } from '../policy/authentication/token-authenticator.ts';
import type { EpochMs } from '../policy/contract.ts';
import { createKeyAuthenticator } from './api-keys.ts';
import { createIntrospectionVerifier } from './introspection-verifier.ts';
import { createKeySet, type KeySetOptions } from './key-set.ts';
import { createTokenCache, type IdentityVerifier } from './token-cache.ts';
import { createIssuerCache, type IssuerOf, issuerOf } from './token-shape.ts';
import { createVerifyToken } from './verify-token.ts';

/** Called when requests to an issuer begin to fail, with the reason, and when they succeed again. */
type ReportFailure = (identity: string, failure: string | undefined) => void;

export interface AuthenticatorsOptions {
  readonly keys: KeyLookup;
  /** The real clock. */
  readonly now: () => EpochMs;
  /** For JWK set fetches. */
  readonly onKeys: ReportFailure;
  /** For token introspection. */
  readonly onIntrospection: ReportFailure;
}

export interface Authenticators {
  readonly byName: ReadonlyMap<string, Authenticator>;
  /** Starts fetches before the first request needs them. Does not wait. */
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

function openVerifiers(
  identities: readonly TokenIdentity[],
  { now, onKeys, onIntrospection }: Omit<AuthenticatorsOptions, 'keys'>,
): ReadonlyMap<string, IdentityVerifier> {
  const issuerOf = createIssuerCache();
  const open = (settings: TokenIdentity): IdentityVerifier => {
    switch (settings.kind) {
      case 'jwt': {
        const reportChange = onChange(settings.name, onKeys);
        return createTokenVerifier(settings, {
          now,
          issuerOf,
          report: (fetched) => reportChange(fetched.kind === 'failed' ? fetched.reason : undefined),
        });
      }
      case 'introspection':
        return createIntrospectionVerifier(settings, {
          now,
          issuerOf,
          report: onChange(settings.name, onIntrospection),
        });
      default:
        return settings satisfies never;
    }
  };
  return new Map(identities.map((identity) => [identity.name, open(identity)]));
}

/** Reports changes only, because failing fetches repeat every few seconds. */
function onChange(name: string, report: ReportFailure): (failure: string | undefined) => void {
  let failing = false;
  return (failure) => {
    if (failing === (failure !== undefined)) return;
    failing = !failing;
    report(name, failure);
  };
}

const MISSING: AuthenticationResult = { kind: 'refused', refusal: { reason: 'credentials_missing' } };
const INVALID_CERTIFICATE: AuthenticationResult = {
  kind: 'refused',
  refusal: { reason: 'certificate_invalid' },
};

/** The plane has already verified the certificate, and that the client itself opened the connection. */
export function createCertificateAuthenticator(
  settings: CertificateIdentity,
  now: () => EpochMs,
): Authenticator {
  const scopes = new Set(settings.scopes);
  /** One entry per connection. */
  const cache = new WeakMap<ClientCertificate, AuthenticationResult>();

  const judge = (certificate: ClientCertificate): AuthenticationResult => {
    const consumer = consumerOfCertificate(certificate, settings.consumer, scopes, settings.prefixes);
    const answer: AuthenticationResult =
      consumer === undefined ? INVALID_CERTIFICATE : { kind: 'consumer', consumer };
    cache.set(certificate, answer);
    return answer;
  };
  return {
    via: 'certificate',
    isPresent: ({ clientCertificate }) => clientCertificate !== undefined,
    claims: ({ clientCertificate }) => clientCertificate !== undefined,
    judge: ({ clientCertificate }) => {
      if (clientCertificate === undefined) return MISSING;
      // The handshake verified the certificate, perhaps long ago.
      if (clientCertificate.ends <= now()) return INVALID_CERTIFICATE;
      return cache.get(clientCertificate) ?? judge(clientCertificate);
    },
  };
}

export interface VerifierOptions extends KeySetOptions {
  /** The real clock, never the lifecycle clock. */
  readonly now: () => EpochMs;
  readonly issuerOf?: IssuerOf;
}

/**
 * The issuer may still be down: tokens are `unavailable` until its keys are fetched. @throws TypeError if the keys may not
 * be fetched from `settings.jwksUrl` (JWT-4).
 */
export function createTokenVerifier(settings: JwtIdentity, options: VerifierOptions): IdentityVerifier {
  const readIssuer = options.issuerOf ?? issuerOf;
  const keySet = createKeySet(settings.jwksUrl, options);
  return {
    claims: (token) => readIssuer(token) === settings.issuer,
    ...createTokenCache({
      verify: createVerifyToken(settings, keySet, options.now),
      keep: settings.tokenCacheMs,
      generation: keySet.generation,
      now: options.now,
    }),
    warm: keySet.warm,
    close: keySet.close,
  };
}
