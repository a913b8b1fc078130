// Verdicts on tokens, and for how long each may be repeated without another look.
// Made by verify-token and introspect, kept by the token cache.
import type { Authenticated, TokenFlaw } from '../policy/authentication/access.ts';
import type { EpochMs } from '../policy/contract.ts';

export interface Judged {
  readonly outcome: Authenticated;
  /** Up to when it may be repeated. */
  readonly expires: EpochMs;
}

export interface Verification extends Judged {
  /** Of the keys it was judged with. */
  readonly generation: number;
}

/** A verdict that needs no keys comes at once. */
export type VerifyToken = (token: string) => Verification | Promise<Verification>;

const refused = (description: string, flaw: TokenFlaw): Authenticated => ({
  kind: 'refused',
  refusal: { reason: 'token_invalid', description, flaw },
});

/** A client learns no more than expired or not (AUTH-2). */
export const invalid = (flaw: TokenFlaw) => refused('The access token is not valid', flaw);
export const expired = (flaw: TokenFlaw) => refused('The access token expired', flaw);

/** No later look would find otherwise. */
export const lasting = (outcome: Authenticated): Judged => ({ outcome, expires: Number.POSITIVE_INFINITY });
/** The next look may find otherwise. */
export const passing = (outcome: Authenticated): Judged => ({ outcome, expires: 0 });
