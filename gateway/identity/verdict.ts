// Verdicts on tokens, and for how long each may be repeated without another look.
// Made by verify-token and introspect, kept by the token cache.
import type { Consumer, TokenFlaw, Verified } from '../policy/authentication/access.ts';
import { type Binding, NOT_VALID } from '../policy/authentication/token-authenticator.ts';
import type { EpochMs } from '../policy/contract.ts';

export interface Judged {
  readonly outcome: Verified;
  /** Up to when it may be repeated. */
  readonly expires: EpochMs;
}

export interface Verification extends Judged {
  /** Of the keys it was judged with. */
  readonly generation: number;
}

/** A verdict that needs no keys comes at once. */
export type VerifyToken = (token: string, clientAddress?: string) => Verification | Promise<Verification>;

const refused = (description: string, flaw: TokenFlaw): Verified => ({
  kind: 'refused',
  refusal: { reason: 'token_invalid', description, flaw },
});

/** A client learns no more than expired or not (AUTH-2). */
export const invalid = (flaw: TokenFlaw) => refused(NOT_VALID, flaw);
export const expired = (flaw: TokenFlaw) => refused('The access token expired', flaw);

/** JWT-6: what it is bound to is looked at with each request that carries it. */
export const known = (consumer: Consumer, binding: Exclude<Binding, { kind: 'other' }>): Verified => ({
  kind: 'consumer',
  consumer,
  ...(binding.kind === 'certificate' && { boundTo: binding.fingerprint }),
});

/** No later look would find otherwise. */
export const lasting = (outcome: Verified): Judged => ({ outcome, expires: Number.POSITIVE_INFINITY });
/** The next look may find otherwise. */
export const passing = (outcome: Verified): Judged => ({ outcome, expires: 0 });
