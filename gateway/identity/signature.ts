// Verifies JWS signatures (RFC 7518 §3, RFC 8037 §3.1) with the keys of a JWK set.
import { constants, createPublicKey, type KeyObject, type SigningOptions, verify } from 'node:crypto';
import { promisify } from 'node:util';
import type { JWK } from 'jose';
import type { MaybePromise } from '../policy/contract.ts';

export type VerifySignature = (input: Uint8Array, signature: Uint8Array) => MaybePromise<boolean>;

interface Algorithm extends SigningOptions {
  readonly kty: string;
  /** Undefined: keys of this algorithm have no curve. */
  readonly crv?: string;
  /** Undefined: the algorithm includes hashing. */
  readonly digest?: string;
}

const rsa = (digest: string): Algorithm => ({ kty: 'RSA', digest, padding: constants.RSA_PKCS1_PADDING });
/** The salt is as long as the digest (RFC 7518 §3.5). */
const rsaPss = (digest: string, saltLength: number): Algorithm => ({
  ...rsa(digest),
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength,
});
/** The two numbers side by side (RFC 7518 §3.4), not DER. */
const ecdsa = (crv: string, digest: string): Algorithm => ({
  kty: 'EC',
  crv,
  digest,
  dsaEncoding: 'ieee-p1363',
});
const ED25519: Algorithm = { kty: 'OKP', crv: 'Ed25519' };

/** All algorithms that the settings may allow. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['RS256', rsa('sha256')],
  ['RS384', rsa('sha384')],
  ['RS512', rsa('sha512')],
  ['PS256', rsaPss('sha256', 32)],
  ['PS384', rsaPss('sha384', 48)],
  ['PS512', rsaPss('sha512', 64)],
  ['ES256', ecdsa('P-256', 'sha256')],
  ['ES384', ecdsa('P-384', 'sha384')],
  ['ES512', ecdsa('P-521', 'sha512')],
  ['EdDSA', ED25519],
  ['Ed25519', ED25519],
]);

/** RFC 7518 §3.3. */
const LEAST_RSA_BITS = 2048;

/**
 * The verifiers of `jwk` by `alg`. Empty if its `key_ops` name anything except `verify`. Undefined for an unknown kind,
 * curve or algorithm, a damaged key, or an RSA key under 2048 bits.
 */
export function verifiersOf(jwk: JWK): ReadonlyMap<string, VerifySignature> | undefined {
  const fitting = [...ALGORITHMS].filter(
    ([alg, { kty, crv }]) =>
      jwk.kty === kty && (crv === undefined || jwk.crv === crv) && (jwk.alg === undefined || jwk.alg === alg),
  );
  const key = fitting.length > 0 ? importKey(jwk) : undefined;
  if (key === undefined) return undefined;
  if (!isForVerifying(jwk)) return new Map();
  return new Map(fitting.map(([alg, algorithm]) => [alg, verifierOf(key, algorithm)]));
}

function importKey(jwk: JWK): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return jwk.kty !== 'RSA' || bitsOf(key) >= LEAST_RSA_BITS ? key : undefined;
  } catch {
    // OpenSSL gives no detail about an invalid key.
    return undefined;
  }
}

/** RFC 7517 §4.3. */
function isForVerifying({ key_ops: operations, ext }: JWK): boolean {
  if (ext !== undefined && typeof ext !== 'boolean') return false;
  if (operations === undefined) return true;
  return Array.isArray(operations) && operations.length === 1 && operations[0] === 'verify';
}

const bitsOf = (key: KeyObject): number => key.asymmetricKeyDetails?.modulusLength ?? 0;

const verifyInThreadPool = promisify(verify);

function verifierOf(key: KeyObject, { kty: _, crv, digest, ...options }: Algorithm): VerifySignature {
  const formed = { key, ...options };
  return isSlow(key)
    ? (input, signature) => verifyInThreadPool(digest, input, formed, signature)
    : (input, signature) => verify(digest, input, formed, signature);
}

/** P-384 takes 0.5 ms and P-521 1 ms, which would block other requests. All others take at most 0.1 ms. */
function isSlow(key: KeyObject): boolean {
  return bitsOf(key) > 4096 || /^secp(?:384|521)r1$/.test(key.asymmetricKeyDetails?.namedCurve ?? '');
}
