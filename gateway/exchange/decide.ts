// Starts the judgement of a request; the order of its steps is that of `pipeline.ts`.
// The answer is there at once unless a port has to be waited for.
import type { MaybePromise } from '../policy/contract.ts';
import { refuse } from './admission.ts';
import type { Directive, Refusal } from './directive.ts';
import { type Completion, type Decision, type RequestStart, undecided } from './facts.ts';
import { refuseFlood } from './guard.ts';
import { settle } from './judging.ts';
import { judge } from './pipeline.ts';
import type { ExchangePorts } from './ports.ts';
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
  const orRefuse = (flood: Refusal | undefined): MaybePromise<Directive> =>
    flood === undefined ? settle(judge({ view, start, ports }, decision, completion)) : refuse(flood);
  // Guard: before anything costly, so that a flood from one address buys nothing but look-ups in one map.
  const guarding = refuseFlood(view.clientAddress, start.plan, ports);
  const directive = guarding instanceof Promise ? guarding.then(orRefuse) : orRefuse(guarding);
  return { decision, directive };
}
