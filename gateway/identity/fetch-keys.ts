// Fetches one JWK set over the network, bounded in time, bytes and redirects; says which of its keys may verify.
// Used by the key set only, in the background or on an unknown `kid`: never on a cache hit.
import type { JWK } from 'jose';

/** Bytes of a JWK set, after decompression; more is a failure. */
const MAX_BYTES = 256 * 1024;

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Checks where keys may be fetched from: https, or http on a loopback host (JWT-4).
 * @throws TypeError when `url` is no URL or may not be used.
 */
export function keySetAddress(url: string): URL {
  const address = new URL(url);
  const safe =
    address.protocol === 'https:' || (address.protocol === 'http:' && LOOPBACK.test(address.hostname));
  if (!safe) throw new TypeError('a JWK set is fetched over https, or over http from a loopback host');
  if (address.username !== '' || address.password !== '') {
    throw new TypeError('the address of a JWK set carries no credentials');
  }
  return address;
}

/**
 * Reads the keys of a JWK set that may verify signatures (JWT-4).
 * @throws Error when the answer is not a JWK set of at most 256 KiB with status 200, or `signal` aborts.
 */
export async function fetchKeys(address: URL, fetcher: typeof fetch, signal: AbortSignal): Promise<JWK[]> {
  const response = await fetcher(address, {
    signal,
    redirect: 'error',
    headers: { accept: 'application/jwk-set+json, application/json' },
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`the JWK set was answered with status ${response.status}`);
  }
  const document: unknown = JSON.parse(await readText(response));
  if (!isRecord(document) || !Array.isArray(document.keys)) throw new Error('the answer is not a JWK set');
  return document.keys.filter(mayVerify);
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  let bytes = 0;
  // Leaving the loop by an exception cancels the body, so a huge answer is dropped at the cap, not read.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BYTES) throw new Error(`the JWK set is larger than ${MAX_BYTES} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
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

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
