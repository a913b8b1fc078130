// One verifier per issuer of the settings, and word of the moments their keys go away and come back.
// Opened and closed by gateway.ts.
import type { JwtIdentity } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import { createTokenVerifier, type IdentityVerifier } from './verifier.ts';

export interface VerifiersOptions {
  /** The real clock. */
  readonly now: () => EpochMs;
  /** Called when the key fetches of an identity begin to fail, with the reason, and when they work again. */
  readonly onKeys: (identity: string, failure: string | undefined) => void;
}

export function openVerifiers(
  identities: readonly JwtIdentity[],
  { now, onKeys }: VerifiersOptions,
): ReadonlyMap<string, IdentityVerifier> {
  const open = (settings: JwtIdentity): IdentityVerifier => {
    let failing = false;
    return createTokenVerifier(settings, {
      now,
      // Said once per change: a fetch that fails is tried again every second while there are no keys.
      report: (fetched) => {
        if (failing === (fetched.kind === 'failed')) return;
        failing = !failing;
        onKeys(settings.name, fetched.kind === 'failed' ? fetched.reason : undefined);
      },
    });
  };
  return new Map(identities.map((identity) => [identity.name, open(identity)]));
}
