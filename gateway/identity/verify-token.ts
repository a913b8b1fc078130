// Judges one access token by the rules of its issuer, in the order of JWT-1; jose does the cryptography.
// The slow road: reached only when the token cache does not know the token.
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose';
import type { JwtIdentity } from '../plan/settings.ts';
import type { TokenFlaw } from '../policy/authentication/access.ts';
import { consumerFrom, LEEWAY } from '../policy/authentication/consumer.ts';
import { bindingOf } from '../policy/authentication/token-authenticator.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { KeySet, Keys } from './key-set.ts';
import {
  expired,
  invalid,
  type Judged,
  known,
  lasting,
  passing,
  type Verification,
  type VerifyToken,
} from './token-cache.ts';
import { hasRepeatedClaims, readTokenHeader, type TokenHeader } from './token-shape.ts';

/** Claims of other kinds of JWT: ID tokens, logout and security event tokens (JWT-5). */
const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'];

/** Among `types`: a token may be without `typ`. */
const NO_TYPE = 'none';

const OF_CLAIM: ReadonlyMap<string, TokenFlaw> = new Map([
  ['typ', 'types'],
  ['iss', 'issuer'],
  ['aud', 'audience'],
]);

/** While an issuer rotates two may fit a token without `kid`; what more costs, a set has no reason to ask for. */
const MOST_TRIED = 4;

/** Makes the verification for one identity (JWT-1 … JWT-8). It never rejects for anything a token says. */
export function createVerifyToken(settings: JwtIdentity, keySet: KeySet, now: () => EpochMs): VerifyToken {
  const judge = async (token: string, header: TokenHeader): Promise<Verification> => {
    const keys = await keySet.keysFor(header.kid);
    if (keys === undefined) return { ...passing({ kind: 'unavailable' }), generation: keySet.generation() };
    const verdict = await judgeBy(keys, token, header);
    // The issuer may have put another key under a kid that it had before.
    if (header.kid === undefined || !keys.kids.has(header.kid) || !isOfKey(verdict)) return verdict;
    const others = await keySet.keysAfter(keys.generation);
    return others === undefined ? verdict : judgeBy(others, token, header);
  };

  const judgeBy = async (keys: Keys, token: string, header: TokenHeader): Promise<Verification> => {
    const { generation } = keys;
    // Not remembered: the next fetch may bring the key.
    if (header.kid !== undefined && !keys.kids.has(header.kid))
      return { ...passing(invalid('key_unknown')), generation };

    const at = now();
    const typ = expectedType(settings.tokenTypes, header.typ);
    try {
      const payload = await verifySignature(token, keys.find, {
        algorithms: [...settings.algorithms],
        ...(typ !== undefined && { typ }),
        issuer: settings.issuer,
        audience: settings.audience,
        requiredClaims: ['exp', 'iat', 'sub'],
        clockTolerance: LEEWAY,
        maxTokenAge: settings.maxLifetimeSeconds,
        currentDate: new Date(at),
      });
      if (hasRepeatedClaims(token)) return { ...lasting(invalid('claims')), generation };
      return { ...judgeClaims(payload, settings), generation };
    } catch (error) {
      return { ...verdictOn(error), generation };
    }
  };

  return (token) => {
    const header = readTokenHeader(token);
    const unfit = (flaw: TokenFlaw) => ({ ...lasting(invalid(flaw)), generation: keySet.generation() });
    if (header === undefined) return unfit('malformed');
    return settings.algorithms.includes(header.alg) ? judge(token, header) : unfit('algorithms');
  };
}

function judgeClaims(claims: JWTPayload, settings: JwtIdentity): Judged {
  const { exp, iat } = claims;
  if (typeof exp !== 'number' || typeof iat !== 'number') return lasting(invalid('claims'));
  const required = ['sub', ...(settings.requiredClaims ?? [])];
  if (!required.every((name) => isText(claims[name]))) return lasting(invalid('claims'));
  // Written so that NaN and infinities fail (JWT-2).
  const lifetime = exp - iat;
  if (!(lifetime > 0 && lifetime <= settings.maxLifetimeSeconds + LEEWAY))
    return lasting(invalid('max_lifetime'));
  const binding = bindingOf(claims);
  if (binding.kind === 'other') return lasting(invalid('binding'));
  if (FOREIGN_CLAIMS.some((name) => Object.hasOwn(claims, name))) return lasting(invalid('claims'));

  const consumer = consumerFrom(claims, settings.consumerClaims, settings.prefixes);
  if (consumer === undefined) return lasting(invalid('consumer'));
  return {
    outcome: known(consumer, binding),
    // Without the leeway: a token in its last seconds of grace is looked at each time (JWT-8).
    expires: exp * 1000,
  };
}

const isText = (claim: unknown): boolean => typeof claim === 'string' && claim !== '';

/**
 * jose checks `typ` after the signature and against one value: the accepted one that the token has, one that fails, or
 * none where the token has no type and may be without.
 */
function expectedType(accepted: readonly string[], typ: string | undefined): string | undefined {
  if (typ === undefined && accepted.includes(NO_TYPE)) return undefined;
  const wanted = typ?.toLowerCase().replace(/^application\//, '');
  return accepted.find((type) => type === wanted && type !== NO_TYPE) ?? `other than ${typ}`;
}

/** Whether another key might find otherwise. */
function isOfKey({ outcome }: Verification): boolean {
  if (outcome.kind !== 'refused' || outcome.refusal.reason !== 'token_invalid') return false;
  return outcome.refusal.flaw === 'signature' || outcome.refusal.flaw === 'key_unknown';
}

/** Whatever stopped the verification, the token is not proven; a client learns no more than expired or not (AUTH-2). */
function verdictOn(error: unknown): Judged {
  const flaw = flawOf(error);
  if (error instanceof errors.JWTExpired) return lasting(expired(flaw));
  return isTooEarly(error) ? passing(invalid(flaw)) : lasting(invalid(flaw));
}

/** Of what jose threw. */
function flawOf(error: unknown): TokenFlaw {
  // By `iat` it is older than any token of this identity may become.
  if (error instanceof errors.JWTExpired) return error.claim === 'iat' ? 'max_lifetime' : 'expired';
  if (error instanceof errors.JWTClaimValidationFailed)
    return OF_CLAIM.get(error.claim) ?? (isTooEarly(error) ? 'not_yet' : 'claims');
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (error instanceof errors.JWKSNoMatchingKey) return 'key_unknown';
  return 'malformed';
}

/** By the clock of this moment; later it may pass. */
function isTooEarly(error: unknown): boolean {
  return (
    error instanceof errors.JWTClaimValidationFailed &&
    error.reason === 'check_failed' &&
    (error.claim === 'nbf' || error.claim === 'iat')
  );
}

/** The claims of a token whose signature and claims are as `options` want them; rejects with an error of jose's. */
async function verifySignature(
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
