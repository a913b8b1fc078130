// Verdicts on tokens, remembered, so that a token seen before is answered at once and without cryptography.
import type { Consumer, TokenFlaw, TokenVerifier, Verified } from '../policy/authentication/access.ts';
import { type Binding, lineOf, NOT_VALID } from '../policy/authentication/token-authenticator.ts';
import type { EpochMs, MaybePromise } from '../policy/contract.ts';
import { createRecentMap } from '../policy/recent-map.ts';

/** Milliseconds. */
const KEEP_REFUSED = 10_000;

/** Accepted and refused tokens have rooms of their own: a flood of forgeries drives no good token out. */
const MAX_ACCEPTED = 10_000;
const MAX_REFUSED = 1_000;
const MAX_CHARACTERS = 16_000_000;

interface RememberedVerdict {
  readonly outcome: Verified;
  readonly since: EpochMs;
  readonly expires: EpochMs;
}

export interface IdentityVerifier extends TokenVerifier {
  /** Fetches the keys in the background so that the first token need not wait; never rejects. */
  readonly warm: () => Promise<void>;
  readonly close: () => void;
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
 * for 10 seconds at most. Its key is the whole field line. A hit is answered without a promise, and so is a miss if
 * `verify` returns none. Callers that wait for the same token share one verification.
 */
export function createTokenCache(options: TokenCacheOptions): Required<Omit<TokenVerifier, 'claims'>> {
  const { verify, now } = options;
  const accepted = createRecentMap<RememberedVerdict>(MAX_ACCEPTED, MAX_CHARACTERS);
  const refused = createRecentMap<RememberedVerdict>(MAX_REFUSED, MAX_CHARACTERS);
  const flights = new Map<string, Promise<Verified>>();
  let generation: number | undefined;

  const flushIfStale = (): void => {
    const current = options.generation();
    if (generation === current) return;
    generation = current;
    accepted.clear();
    refused.clear();
  };

  const known = (line: string): Verified | undefined => {
    flushIfStale();
    const at = now();
    return verdictAt(at, accepted.get(line)) ?? verdictAt(at, refused.get(line));
  };

  const keep = (line: string, { outcome, expires, generation: of }: Verification): Verified => {
    flushIfStale();
    // A verdict by keys that were replaced while it was being reached answers this request and no other.
    if (of !== generation) return outcome;
    const room = outcome.kind === 'consumer' ? accepted : refused;
    const since = now();
    const longest = outcome.kind === 'consumer' ? options.keep : Math.min(options.keep, KEEP_REFUSED);
    const until = Math.min(expires, since + longest);
    if (until > since) room.set(line, { outcome, since, expires: until });
    return outcome;
  };

  const verifyOnce = (line: string, token: string, clientAddress?: string): MaybePromise<Verified> => {
    const running = flights.get(line);
    if (running !== undefined) return running;
    const verdict = verify(token, clientAddress);
    if (!(verdict instanceof Promise)) return keep(line, verdict);
    const flight = verdict.then((each) => keep(line, each)).finally(() => flights.delete(line));
    flights.set(line, flight);
    return flight;
  };

  return {
    known,
    verify: (token, clientAddress) => {
      const line = lineOf(token);
      return known(line) ?? verifyOnce(line, token, clientAddress);
    },
  };
}

/** A clock that was set back asks anew: a verdict of a day that has not come may be wrong, and would last until then. */
function verdictAt(now: EpochMs, verdict: RememberedVerdict | undefined): Verified | undefined {
  if (verdict === undefined) return undefined;
  return now >= verdict.since && now < verdict.expires ? verdict.outcome : undefined;
}

export interface TokenVerdict {
  readonly outcome: Verified;
  /** Up to when it may be repeated. */
  readonly expires: EpochMs;
}

export interface Verification extends TokenVerdict {
  /** Of the keys it was judged with. */
  readonly generation: number;
}

export type VerifyToken = (token: string, clientAddress?: string) => MaybePromise<Verification>;

const refused = (description: string, flaw: TokenFlaw): Verified => ({
  kind: 'refused',
  refusal: { reason: 'token_invalid', description, flaw },
});

/** A client learns no more than expired or not (AUTH-2). */
export const invalid = (flaw: TokenFlaw) => refused(NOT_VALID, flaw);
export const expired = (flaw: TokenFlaw) => refused('The access token expired', flaw);

/** JWT-6: what it is bound to is looked at with each request that carries it. */
export const known = (consumer: Consumer, binding: Exclude<Binding, { kind: 'other' }>): Verified => ({
  kind: 'consumer',
  consumer,
  ...(binding.kind === 'certificate' && { boundTo: binding.fingerprint }),
});

/** No later look would find otherwise. */
export const permanent = (outcome: Verified): TokenVerdict => ({
  outcome,
  expires: Number.POSITIVE_INFINITY,
});
/** Not remembered: the next look may find otherwise, or costs no more than a look-up. */
export const transient = (outcome: Verified): TokenVerdict => ({ outcome, expires: 0 });
