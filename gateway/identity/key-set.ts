// Fetches and caches the JWK set of one issuer, and keeps it through outages.
import type { JWK } from 'jose';
import { andThen, type EpochMs, type MaybePromise } from '../policy/contract.ts';
import { isRecord, issuerAddress, readResponse, reasonOf } from './issuer-request.ts';
import { type VerifySignature, verifiersOf } from './signature.ts';

/** Milliseconds. */
const REFRESH_EVERY = 10 * 60_000;
const COOLDOWN = 30_000;
/** The interval is shorter without keys, because an issuer often starts together with the gateway. */
const RETRY_WHEN_EMPTY = 1_000;
const STALE_MAX = 24 * 3_600_000;
const FETCH_TIMEOUT = 5_000;

export interface Keys {
  readonly generation: number;
  /** Keys that may verify. Without any, no token gets a verdict. */
  readonly size: number;
  readonly hasKid: (kid: string) => boolean;
  /** The keys that match the header of a token, in the order of the set. */
  readonly verifiersFor: (alg: string, kid: string | undefined) => readonly VerifySignature[];
}

/** For a log line. `reason` is for operators, never for clients. */
export type KeyFetch =
  | { readonly kind: 'fetched'; readonly keys: number }
  | { readonly kind: 'failed'; readonly reason: string };

export interface KeySetOptions {
  readonly now: () => EpochMs;
  readonly fetch?: typeof fetch;
  /** Milliseconds for a fetch, body included. Default: 5 s. */
  readonly timeout?: number;
  readonly report?: (fetch: KeyFetch) => void;
}

export interface KeySet {
  /**
   * Increases when the keys change, so that verdicts of older keys can be detected. Called for every token. Starts a
   * background fetch if one is due.
   */
  readonly generation: () => number;
  /**
   * The keys for a token. An unknown `kid` causes at most one fetch per cooldown. Undefined without keys, or for an unknown
   * `kid` while the fetch fails: then the token gets no verdict (JWT-4).
   */
  readonly keysFor: (kid: string | undefined) => MaybePromise<Keys | undefined>;
  /** Keys newer than `generation`, after at most one fetch per cooldown. Undefined if there are none. */
  readonly keysAfter: (generation: number) => MaybePromise<Keys | undefined>;
  /** Fetches unless the cooldown runs. Resolves after the fetch and never rejects. */
  readonly warm: () => Promise<void>;
  readonly close: () => void;
}

/** Bytes of a JWK set after decompression. A larger one is a failure. */
const MAX_BYTES = 256 * 1024;

/**
 * JWT-4: https or loopback only, one fetch at a time, and the last good set is kept for 24 h. @throws TypeError if keys may
 * not be fetched from `url`.
 */
export function createKeySet(url: string, options: KeySetOptions): KeySet {
  const address = issuerAddress(url);
  const closing = new AbortController();
  let keys: Keys = createKeys(0, []);
  let fingerprint: string | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failed = false;
  let pendingFetch: Promise<void> | undefined;

  const usableKeys = (): Keys | undefined =>
    keys.size > 0 && options.now() < fetchedAt + STALE_MAX ? keys : undefined;

  const fetchOnce = async (): Promise<void> => {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(options.timeout ?? FETCH_TIMEOUT)]);
    try {
      const fresh = await fetchKeys(address, options.fetch ?? fetch, signal);
      // Reached only with keys: a set without keys is an issuer's fault, and the former keys stay.
      fetchedAt = options.now();
      const freshFingerprint = JSON.stringify(fresh.map(({ jwk }) => jwk));
      if (freshFingerprint !== fingerprint) {
        fingerprint = freshFingerprint;
        keys = createKeys(keys.generation + 1, fresh);
      }
      failed = false;
      options.report?.({ kind: 'fetched', keys: fresh.length });
    } catch (error) {
      failed = true;
      if (!closing.signal.aborted) options.report?.({ kind: 'failed', reason: reasonOf(error) });
    }
  };

  // One fetch at a time, so that an older response never replaces a newer one.
  const refresh = (cooldown: number): Promise<void> | undefined => {
    if (pendingFetch !== undefined) return pendingFetch;
    const at = options.now();
    // A clock that was set back ends the cooldown, which could otherwise last for years.
    if ((at >= triedAt && at < triedAt + cooldown) || closing.signal.aborted) return undefined;
    triedAt = at;
    pendingFetch = fetchOnce().finally(() => {
      pendingFetch = undefined;
    });
    return pendingFetch;
  };

  const cooldown = (): number => (usableKeys() === undefined ? RETRY_WHEN_EMPTY : COOLDOWN);
  const refreshIfDue = (): void => {
    if (pendingFetch === undefined) void refresh(failed ? cooldown() : REFRESH_EVERY);
  };

  // Also runs without traffic, so that a key removed in a quiet night is not used in the morning.
  const timer = setInterval(refreshIfDue, COOLDOWN).unref();

  return {
    generation: () => {
      refreshIfDue();
      return keys.generation;
    },
    keysFor: (kid) => {
      const before = usableKeys();
      if (before !== undefined && (kid === undefined || before.hasKid(kid))) return before;
      return andThen(refresh(cooldown()), () => {
        const after = usableKeys();
        const unknown = kid !== undefined && after?.hasKid(kid) !== true;
        return unknown && failed ? undefined : after;
      });
    },
    keysAfter: (generation) =>
      andThen(refresh(cooldown()), () => {
        const after = usableKeys();
        return after?.generation === generation ? undefined : after;
      }),
    warm: async () => refresh(cooldown()),
    close: () => {
      clearInterval(timer);
      closing.abort();
    },
  };
}

interface SetKey {
  readonly jwk: JWK;
  readonly verifiers: ReadonlyMap<string, VerifySignature>;
}

function createKeys(generation: number, keys: readonly SetKey[]): Keys {
  const byKid = Map.groupBy(keys, ({ jwk }) => jwk.kid);
  return {
    generation,
    size: keys.length,
    hasKid: (kid) => byKid.has(kid),
    verifiersFor: (alg, kid) =>
      (kid === undefined ? keys : (byKid.get(kid) ?? [])).flatMap(
        ({ verifiers }) => verifiers.get(alg) ?? [],
      ),
  };
}

/**
 * The keys of a JWK set that may verify signatures (JWT-4), at least one. @throws Error for any other response, or if
 * `signal` aborts.
 */
async function fetchKeys(address: URL, fetcher: typeof fetch, signal: AbortSignal): Promise<SetKey[]> {
  const response = await fetcher(address, {
    signal,
    redirect: 'error',
    headers: { accept: 'application/jwk-set+json, application/json' },
  });
  const document = await readResponse(response, 'JWK set', MAX_BYTES);
  if (!isRecord(document) || !Array.isArray(document.keys)) throw new Error('the response is not a JWK set');
  const keys = document.keys.flatMap((jwk) => {
    const verifiers = mayVerify(jwk) ? verifiersOf(jwk) : undefined;
    return verifiers === undefined ? [] : { jwk, verifiers };
  });
  if (keys.length === 0) throw new Error('the JWK set contains no key that may verify signatures');
  return keys;
}

/**
 * RFC 7517 §5: skips unknown keys. Also skips symmetric and private keys, which no public set may contain, and encryption
 * keys.
 */
function mayVerify(key: unknown): key is JWK {
  if (!isRecord(key) || typeof key.kty !== 'string' || key.kty === 'oct') return false;
  if ('d' in key || 'priv' in key || (key.use !== undefined && key.use !== 'sig')) return false;
  return key.kid === undefined || typeof key.kid === 'string';
}
