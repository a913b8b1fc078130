// Fetches one JWK set over the network, bounded in time, bytes and redirects; says which of its keys may verify.
// Used by the key set only, in the background or on an unknown `kid`: never on a cache hit.
import { createPublicKey } from 'node:crypto';
import type { JWK } from 'jose';
import { isRecord, readAnswer } from './issuer-request.ts';

/** Bytes of a JWK set, after decompression; more is a failure. */
const MAX_BYTES = 256 * 1024;

/**
 * Reads the keys of a JWK set that may verify signatures (JWT-4): at least one.
 * @throws Error when the answer is not such a set of at most 256 KiB with status 200, or `signal` aborts.
 */
export async function fetchKeys(address: URL, fetcher: typeof fetch, signal: AbortSignal): Promise<JWK[]> {
  const response = await fetcher(address, {
    signal,
    redirect: 'error',
    headers: { accept: 'application/jwk-set+json, application/json' },
  });
  const document = await readAnswer(response, 'the JWK set', MAX_BYTES);
  if (!isRecord(document) || !Array.isArray(document.keys)) throw new Error('the answer is not a JWK set');
  const keys = document.keys.filter((key) => mayVerify(key) && canBeImported(key));
  if (keys.length === 0) throw new Error('the JWK set holds no key that may verify a signature');
  return keys;
}

/**
 * RFC 7517 §5: keys that are not understood are passed over. So are symmetric and private keys, which no
 * public set may hold, keys for encryption, and RSA keys under 2048 bits (RFC 7518 §3.3).
 */
function mayVerify(key: unknown): key is JWK {
  if (!isRecord(key) || typeof key.kty !== 'string' || key.kty === 'oct' || 'd' in key) return false;
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

/** Whether it is a key of its kind, and for signatures that such a key can verify. */
function canBeImported(key: JWK): boolean {
  const algorithms = key.kty === 'RSA' ? /^[RP]S(?:256|384|512)$/ : OF_CURVES[key.crv ?? ''];
  if (algorithms === undefined || (key.alg !== undefined && !algorithms.test(key.alg))) return false;
  try {
    createPublicKey({ key, format: 'jwk' });
    return true;
  } catch {
    // OpenSSL says no more than that these bytes are no key.
    return false;
  }
}
