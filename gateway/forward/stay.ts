// One call's claim on one target: its place among the calls to it, and its choice, both given back together and once.
// Held by both ways of forwarding from the choice of a target to the last byte.
import type { ConnectionRules } from '../plan/connection-rules.ts';
import type { Gate } from './gate.ts';
import type { Choice, Outcome } from './target-choice.ts';

export interface Stay {
  /** Exactly one of the two is called, `onPlace` before this returns where a place is free; neither after `settle`. */
  readonly enter: (rules: ConnectionRules, onPlace: () => void, onBusy: () => void) => void;
  /** Later calls do nothing. */
  readonly settle: (outcome: Outcome) => void;
}

export function createStay(choice: Choice, gate: Gate): Stay {
  let leave: (() => void) | undefined;
  let settled = false;
  return {
    enter(rules, onPlace, onBusy) {
      const abandon = gate.enter(rules, {
        onPlace(giveBack) {
          leave = giveBack;
          onPlace();
        },
        onBusy,
      });
      leave ??= abandon;
    },
    settle(outcome) {
      if (settled) return;
      settled = true;
      leave?.();
      choice.settle(outcome);
    },
  };
}
