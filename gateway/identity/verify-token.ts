// Verifies one access token by the rules of its issuer, in the order of JWT-1.
import type { JwtIdentity } from '../plan/settings.ts';
import type { TokenFlaw } from '../policy/authentication/access.ts';
import { consumerFrom, LEEWAY } from '../policy/authentication/consumer.ts';
import { bindingOf } from '../policy/authentication/token-authenticator.ts';
import { andThen, type EpochMs, type MaybePromise } from '../policy/contract.ts';
import type { KeySet, Keys } from './key-set.ts';
import type { VerifySignature } from './signature.ts';
import {
  expired,
  invalid,
  known,
  permanent,
  type TokenVerdict,
  transient,
  type Verification,
  type VerifyToken,
} from './token-cache.ts';
import { type Members, readMembers, readToken, type SignedToken } from './token-shape.ts';

/** JWT-5: claims of ID tokens, logout tokens and security event tokens. */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'];

/** In `types`: a token without `typ` is accepted. */
const NO_TYPE = 'none';

/** During a rotation two keys may match a token without `kid`. More would be expensive, and a set needs no more. */
const MAX_TRIED = 4;

/** Verifies tokens of one identity (JWT-1 … JWT-8). Never rejects, whatever a token contains. */
export function createVerifyToken(settings: JwtIdentity, keySet: KeySet, now: () => EpochMs): VerifyToken {
  const judge = (token: SignedToken): MaybePromise<Verification> =>
    andThen(keySet.keysFor(token.kid), (keys) => {
      if (keys === undefined)
        return { ...transient({ kind: 'unavailable' }), generation: keySet.generation() };
      return andThen(judgeWithKeys(keys, token), (verdict) => {
        // The issuer may have replaced a key under the same kid.
        if (token.kid === undefined || !keys.hasKid(token.kid) || !dependsOnKey(verdict)) return verdict;
        return andThen(keySet.keysAfter(keys.generation), (others) =>
          others === undefined ? verdict : judgeWithKeys(others, token),
        );
      });
    });

  const judgeWithKeys = (keys: Keys, token: SignedToken): MaybePromise<Verification> => {
    const { generation } = keys;
    // Not cached: the next fetch may return the key.
    if (token.kid !== undefined && !keys.hasKid(token.kid))
      return { ...transient(invalid('key_unknown')), generation };
    const verifiers = keys.verifiersFor(token.alg, token.kid).slice(0, MAX_TRIED);
    if (verifiers.length === 0) return { ...permanent(invalid('key_unknown')), generation };
    return andThen(isSignedByOne(verifiers, token), (signed) => ({
      ...(signed ? judgePayload(token, settings, now()) : permanent(invalid('signature'))),
      generation,
    }));
  };

  return (text) => {
    const token = readToken(text);
    // Not cached: this check is cheap, and the cache is for verdicts that cost a signature check.
    const refuseUncached = (flaw: TokenFlaw) => ({
      ...transient(invalid(flaw)),
      generation: keySet.generation(),
    });
    if (token === undefined) return refuseUncached('malformed');
    return settings.algorithms.includes(token.alg) ? judge(token) : refuseUncached('algorithms');
  };
}

function isSignedByOne(verifiers: readonly VerifySignature[], token: SignedToken): MaybePromise<boolean> {
  const verify = verifiers[0];
  if (verify === undefined) return false;
  return andThen(
    verify(token.input, token.signature),
    (signed) => signed || isSignedByOne(verifiers.slice(1), token),
  );
}

/** For a token with a valid signature. */
function judgePayload({ payload, typ }: SignedToken, settings: JwtIdentity, at: EpochMs): TokenVerdict {
  const read = readMembers(payload);
  if (read === undefined) return permanent(invalid('malformed'));
  return isAccepted(typ, settings.tokenTypes) ? judgeClaims(read, settings, at) : permanent(invalid('types'));
}

/** A type without `/` is short for one of `application/` (RFC 7515 §4.1.9). */
const mediaType = (typ: string): string => (typ.includes('/') ? typ : `application/${typ}`);

function isAccepted(typ: string | undefined, accepted: readonly string[]): boolean {
  if (typ === undefined) return accepted.includes(NO_TYPE);
  const wanted = mediaType(typ.toLowerCase());
  return accepted.some((type) => type !== NO_TYPE && mediaType(type) === wanted);
}

/** A missing claim is reported before any wrong value, in this order. */
const REQUIRED: readonly (readonly [name: string, missing: TokenFlaw])[] = [
  ['iss', 'issuer'],
  ['aud', 'audience'],
  ['iat', 'claims'],
  ['sub', 'claims'],
  ['exp', 'claims'],
];

function judgeClaims(
  { members: claims, ambiguous }: Members,
  settings: JwtIdentity,
  at: EpochMs,
): TokenVerdict {
  for (const [name, missing] of REQUIRED)
    if (!Object.hasOwn(claims, name)) return permanent(invalid(missing));
  const { iss, aud, iat, nbf = 0, exp } = claims;
  if (iss !== settings.issuer) return permanent(invalid('issuer'));
  if (![aud].flat().includes(settings.audience)) return permanent(invalid('audience'));
  if (typeof iat !== 'number' || typeof nbf !== 'number') return permanent(invalid('claims'));
  const seconds = Math.floor(at / 1000);
  if (nbf > seconds + LEEWAY) return transient(invalid('not_yet'));
  if (typeof exp !== 'number') return permanent(invalid('claims'));
  if (exp <= seconds - LEEWAY) return permanent(expired('expired'));
  // Judged by `iat`, the token is older than any token of this identity may become.
  if (seconds - iat > settings.maxLifetimeSeconds + LEEWAY) return permanent(expired('max_lifetime'));
  if (iat > seconds + LEEWAY) return transient(invalid('not_yet'));
  if (ambiguous) return permanent(invalid('claims'));

  const texts = ['sub', ...(settings.requiredClaims ?? [])];
  if (!texts.every((name) => isText(claims[name]))) return permanent(invalid('claims'));
  // Written so that infinities fail (JWT-2).
  const lifetime = exp - iat;
  if (!(lifetime > 0 && lifetime <= settings.maxLifetimeSeconds + LEEWAY))
    return permanent(invalid('max_lifetime'));
  const binding = bindingOf(claims);
  if (binding.kind === 'other') return permanent(invalid('binding'));
  if (FOREIGN_CLAIMS.some((name) => Object.hasOwn(claims, name))) return permanent(invalid('claims'));

  const consumer = consumerFrom(claims, settings.consumerClaims, settings.prefixes);
  if (consumer === undefined) return permanent(invalid('consumer'));
  return {
    outcome: known(consumer, binding),
    // JWT-8: without the leeway, so that a token in its grace period is verified each time.
    expires: exp * 1000,
  };
}

const isText = (claim: unknown): boolean => typeof claim === 'string' && claim !== '';

/** Whether another key could give another verdict. */
function dependsOnKey({ outcome }: Verification): boolean {
  if (outcome.kind !== 'refused' || outcome.refusal.reason !== 'token_invalid') return false;
  return outcome.refusal.flaw === 'signature' || outcome.refusal.flaw === 'key_unknown';
}
