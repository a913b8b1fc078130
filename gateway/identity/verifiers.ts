// One verifier per issuer of the settings, and word of the moments when it cannot be asked and when it can again.
// Opened and closed by service.ts.
import type { TokenIdentity } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import { createIntrospectionVerifier } from './introspection-verifier.ts';
import { createKnownIssuers } from './known-issuers.ts';
import { createTokenVerifier, type IdentityVerifier } from './verifier.ts';

/** Told when requests to an issuer begin to fail, with the reason, and when they work again. */
type Told = (identity: string, failure: string | undefined) => void;

export interface VerifiersOptions {
  /** The real clock. */
  readonly now: () => EpochMs;
  /** Of the fetches of keys. */
  readonly onKeys: Told;
  /** Of the questions about tokens. */
  readonly onIntrospection: Told;
}

export function openVerifiers(
  identities: readonly TokenIdentity[],
  { now, onKeys, onIntrospection }: VerifiersOptions,
): ReadonlyMap<string, IdentityVerifier> {
  const issuerOf = createKnownIssuers();
  const open = (settings: TokenIdentity): IdentityVerifier => {
    switch (settings.kind) {
      case 'jwt': {
        const tell = onChange(settings.name, onKeys);
        return createTokenVerifier(settings, {
          now,
          issuerOf,
          report: (fetched) => tell(fetched.kind === 'failed' ? fetched.reason : undefined),
        });
      }
      case 'introspection':
        return createIntrospectionVerifier(settings, {
          now,
          issuerOf,
          report: onChange(settings.name, onIntrospection),
        });
      default: {
        const never: never = settings;
        throw new Error(`unhandled identity ${String(never)}`);
      }
    }
  };
  return new Map(identities.map((identity) => [identity.name, open(identity)]));
}

/** Said once per change: what fails is tried again every few seconds. */
function onChange(name: string, told: Told): (failure: string | undefined) => void {
  let failing = false;
  return (failure) => {
    if (failing === (failure !== undefined)) return;
    failing = !failing;
    told(name, failure);
  };
}
