// Whether a call that failed is made once more (FWD-16).
import { Fault } from '../exchange/directive.ts';
import type { Target } from '../plan/plan.ts';
import type { RetryRules } from '../plan/upstreams/connection-rules.ts';
import type { MonotonicMs } from '../policy/contract.ts';
import type { CallFailure } from './call.ts';
import type { Choice } from './targets/target-state.ts';

// RFC 9110 §9.2.2.
const IDEMPOTENT: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Whether sending it twice changes nothing, and can be done at all: a body streams past and is gone. */
export function isRepeatable(method: string, hasBody: boolean): boolean {
  return !hasBody && IDEMPOTENT.has(method);
}

export interface RetryState {
  readonly method: string;
  readonly hasBody: boolean;
  /** How often it was made again already. */
  readonly tries: number;
  /** Undefined: never. */
  readonly retries: RetryRules | undefined;
  readonly budget: RetryBudget | undefined;
}

/**
 * A request that was sent is retried only with an idempotent method, without a body, and before the first byte of an answer.
 * A request that was not sent may always be retried.
 */
export function mayTryAgain(
  failure: CallFailure,
  { method, hasBody, tries, retries, budget }: RetryState,
): boolean {
  if (retries === undefined || budget === undefined || tries >= retries.attempts) return false;
  const repeatable = failure.unanswered && isRepeatable(method, hasBody);
  if (!failure.unsent && !repeatable) return false;
  // An idle connection that closed as it was used does not indicate load.
  return failure.stale || budget.take(retries.budget);
}

/** A target that could not be reached is not asked again at once; one that broke off may be the only one there is. */
export function chooseAnother(
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

/** How many requests of an upstream may be sent once more: a share of the recent ones, and one per second in any case. */
export interface RetryBudget {
  readonly onRequest: () => void;
  /** Whether one more retry is within `share` of the requests of the last ten seconds; if so it is counted. */
  readonly take: (share: number) => boolean;
}

/** `monotonic`: milliseconds. */
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
