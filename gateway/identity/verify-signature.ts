// The cryptographic part of a verification, also where a header fits several keys of the set.
// Between verify-token.ts and jose, which leaves that choice to its caller.
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { Keys } from './key-set.ts';

/** While an issuer rotates two may fit a token without `kid`; what more costs, a set has no reason to ask for. */
const MOST_TRIED = 4;

/** The claims of a token whose signature and claims are as `options` want them; rejects with an error of jose's. */
export async function verifySignature(
  token: string,
  find: Keys['find'],
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, find, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let left = MOST_TRIED;
    for await (const key of error) {
      if (left === 0) break;
      left -= 1;
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (failure) {
        if (!(failure instanceof errors.JWSSignatureVerificationFailed)) throw failure;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}
