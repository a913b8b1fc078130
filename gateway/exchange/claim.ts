// Asks the store for a key, and makes of it what its holder says about it in the end: kept, released, lost.
// Called by under-key.ts; whoever gets the order has the claim from there.
import { randomUUID } from 'node:crypto';
import { StoreUnavailable } from '../policy/contract.ts';
import { keepingOf, keptHeaders } from '../policy/idempotency/keeping.ts';
import { fingerprintOf } from '../policy/idempotency/key.ts';
import type { Claimed, IdempotencyRefusal, IdempotencyRules } from '../policy/idempotency/rules.ts';
import { type Claim, Fault } from './directive.ts';
import type { Completion, ExchangeFacts } from './facts.ts';
import type { ExchangePorts } from './ports.ts';

export interface ClaimOptions {
  readonly rules: IdempotencyRules;
  /** As the store knows it. */
  readonly key: string;
  readonly contentType: string;
  /** The most that the upstream is waited for, milliseconds. */
  readonly totalMs: number;
  readonly facts: ExchangeFacts;
  readonly ports: Pick<ExchangePorts, 'idempotency' | 'monotonic' | 'wallClock' | 'onFault'>;
}

/** IDM-5: longer than an upstream is waited for, by what a body may take to come before the lock is renewed and more. */
const LOCK_BEYOND_MS = 15_000;
const RENEWED_AFTER_MS = 5_000;

export type Asked =
  | Exclude<Claimed, { kind: 'claimed' }>
  | { readonly kind: 'claimed'; readonly claim: Claim };

/** @throws StoreUnavailable */
export async function claimKey(options: ClaimOptions): Promise<Asked> {
  const { rules, key, contentType, totalMs, facts, ports } = options;
  const { completion } = facts;
  const store = ports.idempotency;
  const owner = randomUUID();
  const lockMs = totalMs + LOCK_BEYOND_MS;
  let isSettled = false;

  /** What fails for want of a store lapses with the lock. */
  const settle = async (said: () => Promise<boolean>): Promise<boolean> => {
    if (isSettled) return false;
    isSettled = true;
    try {
      return await said();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) ports.onFault(new Fault('internal', { cause: error }), facts);
      return false;
    }
  };
  const release = (): void => void settle(() => store.release(key, owner));
  const hold = (): void => void settle(() => store.hold(key, owner, rules.keepMs));

  const claimedAt = ports.monotonic();
  const claim: Claim = {
    rules,
    renew: async () => {
      if (ports.monotonic() - claimedAt < RENEWED_AFTER_MS) return undefined;
      try {
        const { kind } = await store.claim(key, owner, lockMs);
        if (kind === 'claimed') return undefined;
        isSettled = true;
        completion.idempotency = 'conflict';
        return { reason: 'idempotency_conflict' };
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return withoutStore(rules, completion, ports.wallClock);
      }
    },
    judge: (status, headers) => keepingOf(rules, status, headers.record()),
    headOf: (status, headers) => ({ status, headers: keptHeaders(headers.record()) }),
    keep: async (request, answer) => {
      const fingerprint = fingerprintOf(contentType, request);
      const done = await settle(() => store.finish(key, owner, { fingerprint, ...answer }, rules.keepMs));
      if (!done) completion.idempotency = 'unprotected';
    },
    noRoom: () => awayFor(ports.wallClock),
    release,
    abandon: () => {
      completion.idempotency = 'unprotected';
      release();
    },
    forgo: () => {
      completion.idempotency = rules.required ? 'unknown' : 'unprotected';
      if (rules.required) hold();
      else release();
    },
    lose: () => {
      if (isSettled) return;
      completion.idempotency = 'unknown';
      if (rules.unknown === 'hold') hold();
      else release();
    },
  };
  try {
    const found = await store.claim(key, owner, lockMs);
    return found.kind === 'claimed' ? { kind: 'claimed', claim } : found;
  } catch (error) {
    // It may have happened all the same: nobody works under that lock.
    release();
    throw error;
  }
}

/** IDM-8: undefined where the request passes without the guarantee. */
export function withoutStore(
  { required }: Pick<IdempotencyRules, 'required'>,
  completion: Completion,
  wallClock: ExchangePorts['wallClock'],
): IdempotencyRefusal | undefined {
  if (required) return awayFor(wallClock);
  completion.idempotency = 'unprotected';
  return undefined;
}

/** For a moment, whatever it is that is not to be had. */
export function awayFor(wallClock: ExchangePorts['wallClock']): IdempotencyRefusal {
  return { reason: 'idempotency_unavailable', retryAfterSeconds: 1, restoredAt: wallClock() + 1000 };
}
