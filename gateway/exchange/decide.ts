// Starts the judgement of a request; the order of its steps is that of `pipeline.ts`.
// The answer is there at once unless a port has to be waited for: an `async` function would make a promise for every request.
import type { MaybePromise } from '../policy/contract.ts';
import type { Taken } from '../policy/rate-limit/limit.ts';
import { retryAfterSeconds } from '../policy/rate-limit/quota-headers.ts';
import { refuse } from './admission.ts';
import type { Directive } from './directive.ts';
import { type Completion, type Decision, type RequestStart, undecided } from './facts.ts';
import { judge } from './pipeline.ts';
import type { ExchangePorts, Judging } from './ports.ts';
import type { RequestView } from './request-view.ts';

/** The decision is complete once the directive is there; before, it has what is known so far. */
export interface Decided {
  readonly decision: Decision;
  /** Rejects with what a port threw, such as Fault `identity_unavailable`. */
  readonly directive: MaybePromise<Directive>;
}

/** Judges one request against the plan of `start`. `completion` learns what becomes of an idempotency key. */
export function decide(
  view: RequestView,
  start: RequestStart,
  completion: Completion,
  ports: ExchangePorts,
): Decided {
  const decision = undecided();
  const admitted = (taken?: Taken): MaybePromise<Directive> =>
    taken === undefined || taken.allowed
      ? settle(judge({ view, start, ports }, decision, completion))
      : refuse({ reason: 'guard_limited', retryAfterSeconds: retryAfterSeconds(taken) });
  // Guard: before anything costly, so that a flood from one address buys nothing but look-ups in one map. Waited for only
  // by the first of an address, where several workers count together.
  const { guard } = start.plan;
  const taking = guard && ports.guard(view.clientAddress, guard);
  const directive = taking instanceof Promise ? taking.then(admitted) : admitted(taking);
  return { decision, directive };
}

/** The result at once if the judgement waits for nothing. An error is a rejection in either case. */
export function settle<Result>(judging: Judging<Result>): MaybePromise<Result> {
  try {
    return resume(judging, judging.next());
  } catch (error) {
    return Promise.reject(error);
  }
}

function resume<Result>(
  judging: Judging<Result>,
  step: IteratorResult<Promise<unknown>, Result>,
): MaybePromise<Result> {
  if (step.done === true) return step.value;
  return step.value
    .then(
      (value) => judging.next(value),
      (error: unknown) => judging.throw(error),
    )
    .then((next) => resume(judging, next));
}
