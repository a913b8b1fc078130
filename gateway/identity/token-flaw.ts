// What stopped the verification of a token, in one word for the operator's log.
// The word is one of a closed list: nothing that a token says gets there.
import { errors } from 'jose';
import type { TokenFlaw } from '../policy/authentication/access.ts';

const OF_CLAIM: ReadonlyMap<string, TokenFlaw> = new Map([
  ['typ', 'types'],
  ['iss', 'issuer'],
  ['aud', 'audience'],
]);

/** Of what jose threw. */
export function flawOf(error: unknown): TokenFlaw {
  // By `iat` it is older than any token of this identity may become.
  if (error instanceof errors.JWTExpired) return error.claim === 'iat' ? 'max_lifetime' : 'expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return OF_CLAIM.get(error.claim) ?? (isTooEarly(error) ? 'not_yet' : 'claims');
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JWKSNoMatchingKey) return 'key_unknown';
  return 'malformed';
}

/** By the clock of this moment; later it may pass. */
export function isTooEarly(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed &&
    error.reason === 'check_failed' &&
    (error.claim === 'nbf' || error.claim === 'iat')
  );
}
