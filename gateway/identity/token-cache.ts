// Remembers verdicts on tokens, so that a token seen before is answered at once and without cryptography.
// The fast road in front of verify-token; one per identity, emptied when the issuer's keys change.
import { LRUCache } from 'lru-cache';
import type { TokenVerifier, Verified } from '../policy/authentication/access.ts';
import type { EpochMs, MaybePromise } from '../policy/contract.ts';
import type { Verification, VerifyToken } from './verdict.ts';

/** Milliseconds. */
const KEEP_REFUSED = 10_000;

/** Accepted and refused tokens have rooms of their own: a flood of forgeries drives no good token out. */
const MAX_ACCEPTED = 10_000;
const MAX_REFUSED = 1_000;
const MAX_ACCEPTED_CHARACTERS = 16_000_000;

/** A 256-bit tail of the signature: no two honest tokens share it, and the whole token is compared all the same. */
const KEY_CHARACTERS = 43;

interface Entry {
  readonly token: string;
  readonly outcome: Verified;
  readonly since: EpochMs;
  readonly expires: EpochMs;
}

export interface TokenCacheOptions {
  readonly verify: VerifyToken;
  /** Milliseconds for which an accepted token is; 0: nothing is remembered. */
  readonly keep: number;
  /** The key set's; entries of an older one are dropped. */
  readonly generation: () => number;
  readonly now: () => EpochMs;
}

/**
 * Puts a cache in front of `verify` (JWT-8): accepted tokens for `keep` and never past `exp`, refused ones
 * for 10 seconds at most. A hit is answered without a promise; callers that ask for one token at once share one verification.
 */
export function createTokenCache(options: TokenCacheOptions): TokenVerifier['verify'] {
  const { verify, now } = options;
  const accepted = new LRUCache<string, Entry>({
    max: MAX_ACCEPTED,
    maxSize: MAX_ACCEPTED_CHARACTERS,
    sizeCalculation: (entry) => entry.token.length,
  });
  const refused = new LRUCache<string, Entry>({ max: MAX_REFUSED });
  const flights = new Map<string, Promise<Verified>>();
  let generation = options.generation();

  const flushIfStale = (): void => {
    if (generation === options.generation()) return;
    generation = options.generation();
    accepted.clear();
    refused.clear();
  };

  const keep = (token: string, { outcome, expires, generation: of }: Verification): Verified => {
    flushIfStale();
    // A verdict by keys that were replaced while it was being reached answers this request and no other.
    if (of !== generation) return outcome;
    const room = outcome.kind === 'consumer' ? accepted : refused;
    const since = now();
    const longest = outcome.kind === 'consumer' ? options.keep : Math.min(options.keep, KEEP_REFUSED);
    const until = Math.min(expires, since + longest);
    if (until > since) room.set(keyOf(token), { token, outcome, since, expires: until });
    return outcome;
  };

  const verifyOnce = (token: string, clientAddress?: string): MaybePromise<Verified> => {
    const running = flights.get(token);
    if (running !== undefined) return running;
    const verdict = verify(token, clientAddress);
    // Reached without keys, so cheap: a look-up would save little.
    if (!(verdict instanceof Promise)) return verdict.outcome;
    const flight = verdict
      .then((verification) => keep(token, verification))
      .finally(() => flights.delete(token));
    flights.set(token, flight);
    return flight;
  };

  return (token, clientAddress) => {
    flushIfStale();
    const key = keyOf(token);
    const known = hit(accepted.get(key), token, now()) ?? hit(refused.get(key), token, now());
    return known ?? verifyOnce(token, clientAddress);
  };
}

const keyOf = (token: string): string => token.slice(-KEY_CHARACTERS);

/** A clock that was set back asks anew: a verdict of a day that has not come may be wrong, and would last until then. */
function hit(entry: Entry | undefined, token: string, now: EpochMs): Verified | undefined {
  if (entry === undefined || entry.token !== token) return undefined;
  return now >= entry.since && now < entry.expires ? entry.outcome : undefined;
}
