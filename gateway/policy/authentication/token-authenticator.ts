// Bearer tokens among the ways of knowing who calls: a token verifier as an authenticator.
// Made for each identity that judges tokens.
import type { Authenticator, TokenVerifier } from './access.ts';
import { BEARER_FIELD, readBearer } from './bearer.ts';

export function tokenAuthenticator(verifier: TokenVerifier): Authenticator {
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
    judge: ({ headers }) => {
      const bearer = readBearer(headers);
      return bearer.kind === 'refused' ? bearer : verifier.verify(bearer.token);
    },
  };
}
