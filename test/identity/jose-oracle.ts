// Verifies tokens with jose's `jwtVerify`, as the reference for the gateway's own verification.
import { createPublicKey } from 'node:crypto';
import {
  createLocalJWKSet,
  errors,
  type JWK,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose';
import {
  expired,
  invalid,
  known,
  permanent,
  type TokenVerdict,
  transient,
} from '../../gateway/identity/token-cache.ts';
import type { JwtIdentity } from '../../gateway/plan/settings.ts';
import type { TokenFlaw } from '../../gateway/policy/authentication/access.ts';
import { consumerFrom, LEEWAY } from '../../gateway/policy/authentication/consumer.ts';
import { bindingOf } from '../../gateway/policy/authentication/token-authenticator.ts';

const MAX_TRIED = 4;

/** Uses a fixed published key set. `at` in epoch milliseconds. */
export function createJoseOracle(
  settings: JwtIdentity,
  published: readonly JWK[],
  at: number,
): (token: string) => Promise<TokenVerdict> {
  const keys = published.filter((key) => mayVerify(key) && canBeImported(key));
  const kids = new Set(keys.map(({ kid }) => kid));
  const find = createLocalJWKSet({ keys: [...keys] });

  return async (token) => {
    const header = readHeader(token);
    if (header === undefined) return transient(invalid('malformed'));
    const { alg, kid, typ } = header;
    if (!settings.algorithms.includes(alg)) return transient(invalid('algorithms'));
    if (keys.length === 0) return transient({ kind: 'unavailable' });
    if (kid !== undefined && !kids.has(kid)) return transient(invalid('key_unknown'));
    const type = expectedType(settings.tokenTypes, typ);
    try {
      const claims = await verifySignature(token, find, {
        algorithms: [...settings.algorithms],
        ...(type !== undefined && { typ: type }),
        issuer: settings.issuer,
        audience: settings.audience,
        requiredClaims: ['exp', 'iat', 'sub'],
        clockTolerance: LEEWAY,
        maxTokenAge: settings.maxLifetimeSeconds,
        currentDate: new Date(at),
      });
      if (readUniqueMembers(token.split('.')[1] ?? '') === undefined) return permanent(invalid('claims'));
      return judgeClaims(claims, settings);
    } catch (error) {
      return verdictOn(error);
    }
  };
}

function mayVerify(key: JWK): boolean {
  if (typeof key.kty !== 'string' || key.kty === 'oct' || 'd' in key) return false;
  if (key.use !== undefined && key.use !== 'sig') return false;
  if (key.kid !== undefined && typeof key.kid !== 'string') return false;
  return key.kty !== 'RSA' || (typeof key.n === 'string' && Buffer.from(key.n, 'base64url').length >= 256);
}

const OF_CURVES: Readonly<Record<string, RegExp>> = {
  'P-256': /^ES256$/,
  'P-384': /^ES384$/,
  'P-521': /^ES512$/,
  Ed25519: /^(?:EdDSA|Ed25519)$/,
};

function canBeImported(key: JWK): boolean {
  const algorithms = key.kty === 'RSA' ? /^[RP]S(?:256|384|512)$/ : OF_CURVES[key.crv ?? ''];
  if (algorithms === undefined || (key.alg !== undefined && !algorithms.test(key.alg))) return false;
  try {
    createPublicKey({ key, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}

async function verifySignature(
  token: string,
  find: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, find, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    let left = MAX_TRIED;
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

/** jose expects one `typ`: the accepted one that the token has, an impossible one, or none. */
function expectedType(accepted: readonly string[], typ: string | undefined): string | undefined {
  if (typ === undefined && accepted.includes('none')) return undefined;
  const wanted = typ?.toLowerCase().replace(/^application\//, '');
  return accepted.find((type) => type === wanted && type !== 'none') ?? `other than ${typ}`;
}

const OF_CLAIM: ReadonlyMap<string, TokenFlaw> = new Map([
  ['typ', 'types'],
  ['iss', 'issuer'],
  ['aud', 'audience'],
]);

function verdictOn(error: unknown): TokenVerdict {
  if (error instanceof errors.JWTExpired)
    return permanent(expired(error.claim === 'iat' ? 'max_lifetime' : 'expired'));
  if (error instanceof errors.JWTClaimValidationFailed) {
    const tooEarly = error.reason === 'check_failed' && (error.claim === 'nbf' || error.claim === 'iat');
    return tooEarly
      ? transient(invalid('not_yet'))
      : permanent(invalid(OF_CLAIM.get(error.claim) ?? 'claims'));
  }
  if (error instanceof errors.JWSSignatureVerificationFailed) return permanent(invalid('signature'));
  if (error instanceof errors.JWKSNoMatchingKey) return permanent(invalid('key_unknown'));
  return permanent(invalid('malformed'));
}

const FOREIGN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash', 'events'];
const isText = (claim: unknown): boolean => typeof claim === 'string' && claim !== '';

function judgeClaims(claims: JWTPayload, settings: JwtIdentity): TokenVerdict {
  const { exp, iat } = claims;
  if (typeof exp !== 'number' || typeof iat !== 'number') return permanent(invalid('claims'));
  const required = ['sub', ...(settings.requiredClaims ?? [])];
  if (!required.every((name) => isText(claims[name]))) return permanent(invalid('claims'));
  const lifetime = exp - iat;
  if (!(lifetime > 0 && lifetime <= settings.maxLifetimeSeconds + LEEWAY))
    return permanent(invalid('max_lifetime'));
  const binding = bindingOf(claims);
  if (binding.kind === 'other') return permanent(invalid('binding'));
  if (FOREIGN_CLAIMS.some((name) => Object.hasOwn(claims, name))) return permanent(invalid('claims'));
  const consumer = consumerFrom(claims, settings.consumerClaims, settings.prefixes);
  if (consumer === undefined) return permanent(invalid('consumer'));
  return { outcome: known(consumer, binding), expires: exp * 1000 };
}

const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Runs before jose, which decodes base64url leniently and keeps the last of repeated names. */
function readHeader(token: string) {
  if (token.length > 8192 || !COMPACT.test(token)) return undefined;
  const parts = token.split('.');
  if (!parts.every((part) => Buffer.from(part, 'base64url').toString('base64url') === part)) return undefined;
  const header = readUniqueMembers(parts[0] ?? '');
  if (header === undefined || 'crit' in header || 'b64' in header) return undefined;
  const { alg, kid, typ } = header;
  if (typeof alg !== 'string') return undefined;
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > 256)) return undefined;
  if (typ !== undefined && typeof typ !== 'string') return undefined;
  return { alg, kid, typ };
}

/** Returns undefined for anything but an object, also after a byte order mark. */
function readUniqueMembers(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const text = utf8.decode(Buffer.from(part, 'base64url'));
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.keys(value).length === countMembers(text) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Members of the outermost object of valid JSON: colons at depth 1 outside of strings. */
function countMembers(json: string): number {
  let depth = 0;
  let members = 0;
  for (const [mark] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (mark === '{' || mark === '[') depth += 1;
    else if (mark === '}' || mark === ']') depth -= 1;
    else if (mark === ':' && depth === 1) members += 1;
  }
  return members;
}
