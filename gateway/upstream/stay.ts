// One call's claim on one target: its place among the calls to it, and its choice, both given back together and once.
// Held by both ways of forwarding from the choice of a target to the last byte.
import type { ConnectionRules } from '../plan/connection-rules.ts';
import type { Claim, Gate } from './gate.ts';
import type { Choice, Outcome } from './targets/target-choice.ts';

export interface Waiting {
  /** Whether the body of the request has not come whole yet. */
  readonly arriving: boolean;
  readonly onPlace: () => void;
  readonly onBusy: () => void;
}

export interface Stay {
  /** Exactly one of the two is called, `onPlace` before this returns where a place is free; neither after `settle`. */
  readonly enter: (rules: ConnectionRules, waiting: Waiting) => void;
  /** The body of the request has come whole. */
  readonly whole: () => void;
  /** Later calls do nothing. */
  readonly settle: (outcome: Outcome) => void;
}

export function createStay(choice: Choice, gate: Gate): Stay {
  let leave: (() => void) | undefined;
  let claim: Claim | undefined;
  let settled = false;
  return {
    enter(rules, { arriving, onPlace, onBusy }) {
      const turn = {
        onPlace(giveBack: () => void) {
          leave = giveBack;
          onPlace();
        },
        onBusy,
      };
      claim = gate.enter(rules, turn, arriving);
      leave ??= claim.leave;
    },
    whole: () => claim?.whole(),
    settle(outcome) {
      if (settled) return;
      settled = true;
      leave?.();
      choice.settle(outcome);
    },
  };
}
