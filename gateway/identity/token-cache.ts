// Caches the verdicts on tokens, so that a known token needs no cryptography.
import type { Consumer, TokenFlaw, TokenOutcome, TokenVerifier } from '../policy/authentication/access.ts';
import { type Binding, lineOf, NOT_VALID } from '../policy/authentication/token-authenticator.ts';
import type { EpochMs, MaybePromise } from '../policy/contract.ts';
import { createRecentMap } from '../policy/recent-map.ts';

/** Milliseconds. */
const KEEP_REFUSED = 10_000;

/** Separate caches, so that a flood of forged tokens evicts no valid one. */
const MAX_ACCEPTED = 10_000;
const MAX_REFUSED = 1_000;
const MAX_CHARACTERS = 16_000_000;

interface CachedVerdict {
  readonly outcome: TokenOutcome;
  readonly since: EpochMs;
  readonly expires: EpochMs;
}

export interface IdentityVerifier extends TokenVerifier {
  /** Starts a key fetch, so that the first token need not wait. Never rejects. */
  readonly warm: () => Promise<void>;
  readonly close: () => void;
}

export interface TokenCacheOptions {
  readonly verify: VerifyToken;
  /** Milliseconds for which an accepted token is cached. 0 disables the cache. */
  readonly keep: number;
  /** Of the key set. Entries of an older generation are dropped. */
  readonly generation: () => number;
  readonly now: () => EpochMs;
}

/**
 * JWT-8: caches accepted tokens for `keep` but not beyond `exp`, and refused ones for at most 10 seconds. The cache key is
 * the whole header line. A hit returns without a promise, and so does a miss if `verify` does. Concurrent callers with one
 * token share one verification.
 */
export function createTokenCache(options: TokenCacheOptions): Required<Omit<TokenVerifier, 'claims'>> {
  const { verify, now } = options;
  const accepted = createRecentMap<CachedVerdict>(MAX_ACCEPTED, MAX_CHARACTERS);
  const refused = createRecentMap<CachedVerdict>(MAX_REFUSED, MAX_CHARACTERS);
  const pending = new Map<string, Promise<TokenOutcome>>();
  let generation: number | undefined;

  const flushIfStale = (): void => {
    const current = options.generation();
    if (generation === current) return;
    generation = current;
    accepted.clear();
    refused.clear();
  };

  const known = (line: string): TokenOutcome | undefined => {
    flushIfStale();
    const at = now();
    return verdictAt(at, accepted.get(line)) ?? verdictAt(at, refused.get(line));
  };

  const store = (line: string, { outcome, expires, generation: of }: Verification): TokenOutcome => {
    flushIfStale();
    // The keys changed during the verification, so the verdict is used once and not cached.
    if (of !== generation) return outcome;
    const cache = outcome.kind === 'consumer' ? accepted : refused;
    const since = now();
    const longest = outcome.kind === 'consumer' ? options.keep : Math.min(options.keep, KEEP_REFUSED);
    const until = Math.min(expires, since + longest);
    if (until > since) cache.set(line, { outcome, since, expires: until });
    return outcome;
  };

  const verifyOnce = (line: string, token: string, clientAddress?: string): MaybePromise<TokenOutcome> => {
    const running = pending.get(line);
    if (running !== undefined) return running;
    const verdict = verify(token, clientAddress);
    if (!(verdict instanceof Promise)) return store(line, verdict);
    const shared = verdict.then((each) => store(line, each)).finally(() => pending.delete(line));
    pending.set(line, shared);
    return shared;
  };

  return {
    known,
    verify: (token, clientAddress) => {
      const line = lineOf(token);
      return known(line) ?? verifyOnce(line, token, clientAddress);
    },
  };
}

/** Ignores verdicts from the future. They exist after the clock was set back, and would stay cached too long. */
function verdictAt(now: EpochMs, verdict: CachedVerdict | undefined): TokenOutcome | undefined {
  if (verdict === undefined) return undefined;
  return now >= verdict.since && now < verdict.expires ? verdict.outcome : undefined;
}

export interface TokenVerdict {
  readonly outcome: TokenOutcome;
  /** The verdict may be cached until this instant. */
  readonly expires: EpochMs;
}

export interface Verification extends TokenVerdict {
  /** Of the keys that gave the verdict. */
  readonly generation: number;
}

export type VerifyToken = (token: string, clientAddress?: string) => MaybePromise<Verification>;

const refused = (description: string, flaw: TokenFlaw): TokenOutcome => ({
  kind: 'refused',
  refusal: { reason: 'token_invalid', description, flaw },
});

/** AUTH-2: the client learns only whether the token expired. */
export const invalid = (flaw: TokenFlaw) => refused(NOT_VALID, flaw);
export const expired = (flaw: TokenFlaw) => refused('The access token expired', flaw);

/** JWT-6: the binding is checked with each request. */
export const known = (consumer: Consumer, binding: Exclude<Binding, { kind: 'other' }>): TokenOutcome => ({
  kind: 'consumer',
  consumer,
  ...(binding.kind === 'certificate' && { boundTo: binding.fingerprint }),
});

/** A later verification would give the same result. */
export const permanent = (outcome: TokenOutcome): TokenVerdict => ({
  outcome,
  expires: Number.POSITIVE_INFINITY,
});
/** A verdict that is not cached, because a later one may differ, or because verifying costs no more than a look-up. */
export const transient = (outcome: TokenOutcome): TokenVerdict => ({ outcome, expires: 0 });
