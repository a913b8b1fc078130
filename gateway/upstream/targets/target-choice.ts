// What a call gets when it asks for a target, and what it gives back.
// Made by targets.ts, used by whoever calls an upstream.
import type { Decision } from '../../exchange/facts.ts';
import type { Target } from '../../plan/plan.ts';
import type { Inbound } from '../../plane/port.ts';

/** How a call ended. `cancelled`: by whatever says nothing of the target, such as a client that left. */
export type Outcome = 'answered' | 'failed' | 'cancelled';

/** One target chosen for one call. */
export interface Choice {
  readonly target: Target;
  /** Call when the head of the answer has come: a breaker need not wait for the end of a long body. */
  readonly answered: () => void;
  /** Call exactly once, when the call is over. */
  readonly settle: (outcome: Outcome) => void;
}

/** Who calls, as far as a target is chosen by it: the consumer, else the address. */
export function callerIdOf(
  { consumer }: Pick<Decision, 'consumer'>,
  { view }: Pick<Inbound, 'view'>,
): string {
  return consumer?.id ?? view.clientAddress;
}
