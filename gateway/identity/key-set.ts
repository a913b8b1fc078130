// The keys of one issuer: kept through outages, renewed in the background, never fetched in a storm.
import type { JWK } from 'jose';
import { andThen, type EpochMs, type MaybePromise } from '../policy/contract.ts';
import { isRecord, issuerAddress, readAnswer, reasonOf } from './issuer-request.ts';
import { type VerifySignature, verifiersOf } from './signature.ts';

/** Milliseconds. */
const REFRESH_EVERY = 10 * 60_000;
const COOLDOWN = 30_000;
/** While no set was ever had there is nothing to spare, and an issuer that starts beside the gateway is soon up. */
const RETRY_WHEN_EMPTY = 1_000;
const STALE_MAX = 24 * 3_600_000;
const FETCH_TIMEOUT = 5_000;

export interface Keys {
  readonly generation: number;
  /** Keys that may verify; with none there is no verdict on any token. */
  readonly size: number;
  readonly hasKid: (kid: string) => boolean;
  /** Of the keys that fit the header of a token, in their order in the set. */
  readonly verifiersFor: (alg: string, kid: string | undefined) => readonly VerifySignature[];
}

/** What became of a fetch, for a log line; `reason` is for operators and never for clients. */
export type KeyFetch =
  | { readonly kind: 'fetched'; readonly keys: number }
  | { readonly kind: 'failed'; readonly reason: string };

export interface KeySetOptions {
  readonly now: () => EpochMs;
  readonly fetch?: typeof fetch;
  /** Milliseconds a fetch may take, body included; default 5 s. */
  readonly timeout?: number;
  readonly report?: (fetch: KeyFetch) => void;
}

export interface KeySet {
  /**
   * Moves whenever the keys do, so that what was judged with older keys can be told apart. Cheap, called for every token;
   * starts a fetch in the background if one is due.
   */
  readonly generation: () => number;
  /**
   * The keys to judge a token with, after at most one fetch per cooldown when `kid` is unknown.
   * Undefined: no keys, or an unknown `kid` while the newest keys cannot be had; that is no verdict on a token (JWT-4).
   */
  readonly keysFor: (kid: string | undefined) => MaybePromise<Keys | undefined>;
  /** Other keys than those of `generation`, after at most one fetch per cooldown; undefined if there are none. */
  readonly keysAfter: (generation: number) => MaybePromise<Keys | undefined>;
  /** Fetches unless that was done lately; settles with the fetch and never rejects. */
  readonly warm: () => Promise<void>;
  readonly close: () => void;
}

/** Bytes of a JWK set, after decompression; more is a failure. */
const MAX_BYTES = 256 * 1024;

/**
 * Keeps the key set at `url` (JWT-4): https or loopback only, last good set kept for 24 h, one fetch at a time.
 * @throws TypeError when keys may not be fetched from `url`.
 */
export function createKeySet(url: string, options: KeySetOptions): KeySet {
  const address = issuerAddress(url);
  const closing = new AbortController();
  let keys: Keys = edition(0, []);
  let fingerprint: string | undefined;
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failed = false;
  let flight: Promise<void> | undefined;

  const held = (): Keys | undefined =>
    keys.size > 0 && options.now() < fetchedAt + STALE_MAX ? keys : undefined;

  const fetchOnce = async (): Promise<void> => {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(options.timeout ?? FETCH_TIMEOUT)]);
    try {
      const fresh = await fetchKeys(address, options.fetch ?? fetch, signal);
      // Reached only with keys: a set without any is a fault of the issuer, and those of before stay.
      fetchedAt = options.now();
      const print = JSON.stringify(fresh.map(({ jwk }) => jwk));
      if (print !== fingerprint) {
        fingerprint = print;
        keys = edition(keys.generation + 1, fresh);
      }
      failed = false;
      options.report?.({ kind: 'fetched', keys: fresh.length });
    } catch (error) {
      failed = true;
      if (!closing.signal.aborted) options.report?.({ kind: 'failed', reason: reasonOf(error) });
    }
  };

  // One flight at a time: an older answer can therefore never replace a newer one.
  const refresh = (cooldown: number): Promise<void> | undefined => {
    if (flight !== undefined) return flight;
    const at = options.now();
    // A clock that was set back ends the wait: it would last for years.
    if ((at >= triedAt && at < triedAt + cooldown) || closing.signal.aborted) return undefined;
    triedAt = at;
    flight = fetchOnce().finally(() => {
      flight = undefined;
    });
    return flight;
  };

  const cooldown = (): number => (held() === undefined ? RETRY_WHEN_EMPTY : COOLDOWN);
  const refreshIfDue = (): void => {
    if (flight === undefined) void refresh(failed ? cooldown() : REFRESH_EVERY);
  };

  // The schedule also runs without traffic: a key removed during a quiet night is gone in the morning.
  const timer = setInterval(refreshIfDue, COOLDOWN).unref();

  return {
    generation: () => {
      refreshIfDue();
      return keys.generation;
    },
    keysFor: (kid) => {
      const before = held();
      if (before !== undefined && (kid === undefined || before.hasKid(kid))) return before;
      return andThen(refresh(cooldown()), () => {
        const after = held();
        const unknown = kid !== undefined && after?.hasKid(kid) !== true;
        return unknown && failed ? undefined : after;
      });
    },
    keysAfter: (generation) =>
      andThen(refresh(cooldown()), () => {
        const after = held();
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

function edition(generation: number, keys: readonly SetKey[]): Keys {
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
 * Reads the keys of a JWK set that may verify signatures (JWT-4): at least one.
 * @throws Error when the answer is not such a set of at most 256 KiB with status 200, or `signal` aborts.
 */
async function fetchKeys(address: URL, fetcher: typeof fetch, signal: AbortSignal): Promise<SetKey[]> {
  const response = await fetcher(address, {
    signal,
    redirect: 'error',
    headers: { accept: 'application/jwk-set+json, application/json' },
  });
  const document = await readAnswer(response, 'the JWK set', MAX_BYTES);
  if (!isRecord(document) || !Array.isArray(document.keys)) throw new Error('the answer is not a JWK set');
  const keys = document.keys.flatMap((jwk) => {
    const verifiers = mayVerify(jwk) ? verifiersOf(jwk) : undefined;
    return verifiers === undefined ? [] : { jwk, verifiers };
  });
  if (keys.length === 0) throw new Error('the JWK set holds no key that may verify a signature');
  return keys;
}

/**
 * RFC 7517 §5: keys that are not understood are passed over. So are symmetric and private keys, which no
 * public set may hold, and keys for encryption.
 */
function mayVerify(key: unknown): key is JWK {
  if (!isRecord(key) || typeof key.kty !== 'string' || key.kty === 'oct') return false;
  if ('d' in key || 'priv' in key || (key.use !== undefined && key.use !== 'sig')) return false;
  return key.kid === undefined || typeof key.kid === 'string';
}
