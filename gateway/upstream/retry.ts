// Decides whether a failed call is retried (FWD-16).
import { Fault } from '../exchange/directive.ts';
import type { Target } from '../plan/plan.ts';
import type { RetryRules } from '../plan/upstreams/connection-rules.ts';
import type { MonotonicMs } from '../policy/contract.ts';
import type { CallFailure } from './call.ts';
import type { Choice } from './targets/target-state.ts';

const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** The request is idempotent (RFC 9110 §9.2.2) and has no body, which cannot be sent again. */
export function isRepeatable(method: string, hasBody: boolean): boolean {
  return !hasBody && IDEMPOTENT.has(method);
}

export interface RetryState {
  readonly method: string;
  readonly hasBody: boolean;
  readonly tries: number;
  readonly retries: RetryRules | undefined;
  readonly budget: RetryBudget | undefined;
}

/**
 * A request that was sent is retried only with an idempotent method, without a body, and before a byte of a response.
 */
export function mayRetry(
  failure: CallFailure,
  { method, hasBody, tries, retries, budget }: RetryState,
): boolean {
  if (retries === undefined || budget === undefined || tries >= retries.attempts) return false;
  const repeatable = failure.unanswered && isRepeatable(method, hasBody);
  if (!failure.unsent && !repeatable) return false;
  // An idle connection that was closed while used does not indicate load.
  return failure.stale || budget.take(retries.budget);
}

/** Undefined if no target is in service, or if only a target is left to which the gateway could not connect. */
export function chooseForRetry(
  failed: Target,
  { unsent }: Pick<CallFailure, 'unsent'>,
  choose: () => Choice,
): Choice | undefined {
  let next: Choice;
  try {
    next = choose();
  } catch (thrown) {
    if (thrown instanceof Fault) return undefined;
    throw thrown;
  }
  if (!unsent || next.target.origin !== failed.origin) return next;
  next.settle('cancelled');
  return undefined;
}

const BUDGET_SECONDS = 10;
const SECOND_MS = 1_000;

/** Limits the retries of an upstream to a share of its recent requests, with a minimum of one per second. */
export interface RetryBudget {
  readonly onRequest: () => void;
  /** True if one more retry is within `share` of the requests of the last ten seconds. It is then counted. */
  readonly take: (share: number) => boolean;
}

export function createRetryBudget(monotonic: () => MonotonicMs): RetryBudget {
  const requests = new Uint32Array(BUDGET_SECONDS);
  const retries = new Uint32Array(BUDGET_SECONDS);
  let current = Math.floor(monotonic() / SECOND_MS);

  function slot(): number {
    const now = Math.floor(monotonic() / SECOND_MS);
    for (let passed = Math.max(current + 1, now - BUDGET_SECONDS + 1); passed <= now; passed += 1) {
      requests[passed % BUDGET_SECONDS] = 0;
      retries[passed % BUDGET_SECONDS] = 0;
    }
    current = now;
    return now % BUDGET_SECONDS;
  }

  return {
    onRequest() {
      const at = slot();
      requests[at] = (requests[at] ?? 0) + 1;
    },
    take(share) {
      const at = slot();
      const used = sum(retries);
      if (used >= Math.max(BUDGET_SECONDS, Math.floor(sum(requests) * share))) return false;
      retries[at] = (retries[at] ?? 0) + 1;
      return true;
    },
  };
}

const sum = (counts: Uint32Array): number => counts.reduce((total, count) => total + count, 0);
