// One identity of the configuration made able to judge tokens: key set, verification and cache put together.
// The composition root makes one per identity; the pipeline's authentication step asks it.
import type { JwtIdentity } from '../plan/settings.ts';
import type { TokenVerifier } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';
import { createKeySet, type KeySetOptions } from './key-set.ts';
import { createTokenCache } from './token-cache.ts';
import { type IssuerOf, issuerOf } from './token-shape.ts';
import { createVerifyToken } from './verify-token.ts';

export interface VerifierOptions extends KeySetOptions {
  /** The real clock, never the moved clock of the lifecycle rules. */
  readonly now: () => EpochMs;
  readonly issuerOf?: IssuerOf;
}

export interface IdentityVerifier extends TokenVerifier {
  /** Fetches the keys in the background so that the first token need not wait; never rejects. */
  readonly warm: () => Promise<void>;
  /** Stops the schedule and any fetch under way. */
  readonly close: () => void;
}

/**
 * Makes the verifier of one identity. The issuer need not be up yet; until its keys were had, tokens are `unavailable`.
 * @throws TypeError when the keys may not be fetched from `settings.jwksUrl` (JWT-4).
 */
export function createTokenVerifier(settings: JwtIdentity, options: VerifierOptions): IdentityVerifier {
  const named = options.issuerOf ?? issuerOf;
  const keySet = createKeySet(settings.jwksUrl, options);
  return {
    claims: (token) => named(token) === settings.issuer,
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
