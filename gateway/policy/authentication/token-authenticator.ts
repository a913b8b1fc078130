// Bearer tokens among the ways of knowing who calls: a token verifier as an authenticator.
// Made for each identity that judges tokens. What a verifier remembers of a token holds for all requests; what a bound one
// has to come with is looked at here, for each of them.
import type { EpochMs } from '../contract.ts';
import type { Authenticated, Authenticator, Carried, TokenVerifier, Verified } from './access.ts';
import { BEARER_FIELD, readBearer } from './bearer.ts';
import { showsCertificate } from './binding.ts';

/** All that a client learns of what is wrong with a token, unless that it expired (AUTH-2). */
export const NOT_VALID = 'The access token is not valid';

const UNSHOWN: Authenticated = {
  kind: 'refused',
  refusal: { reason: 'token_invalid', description: NOT_VALID, flaw: 'binding' },
};

/** `now`: the real clock. */
export function tokenAuthenticator(now: () => EpochMs, verifier: TokenVerifier): Authenticator {
  /** JWT-6: refused unless the binding is shown, and good for no longer than what shows it. */
  const settle = (verified: Verified, { clientCertificate: shown }: Carried): Authenticated => {
    if (verified.kind !== 'consumer' || verified.boundTo === undefined) return verified;
    return showsCertificate(shown, verified.boundTo, now())
      ? { kind: 'consumer', consumer: { ...verified.consumer, ends: shown.ends } }
      : UNSHOWN;
  };
  return {
    via: 'token',
    field: BEARER_FIELD,
    isPresent: ({ headers }) => {
      const bearer = readBearer(headers);
      return bearer.kind === 'token' || bearer.refusal.reason !== 'credentials_missing';
    },
    claims: ({ headers }) => {
      const bearer = readBearer(headers);
      return bearer.kind === 'token' && verifier.claims(bearer.token);
    },
    judge: (carried) => {
      const line = carried.headers.get('authorization');
      const known = line === undefined ? undefined : verifier.known?.(line);
      if (known !== undefined) return settle(known, carried);
      const bearer = readBearer(carried.headers);
      if (bearer.kind === 'refused') return bearer;
      const verified = verifier.verify(bearer.token, carried.clientAddress);
      return verified instanceof Promise
        ? verified.then((each) => settle(each, carried))
        : settle(verified, carried);
    },
  };
}
