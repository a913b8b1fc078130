// The circuit breaker of one target: opens after consecutive failures, tries one request, closes when it is answered.
import type { BreakerRules } from '../../plan/upstreams/target-rules.ts';

export interface Breaker {
  /** Replaces the rules. Undefined closes the breaker permanently. */
  readonly configure: (rules: BreakerRules | undefined) => void;
  readonly isClosed: () => boolean;
  /** Whether a request may start: always while closed. Otherwise one at a time after the open time. */
  readonly admits: (now: number) => boolean;
  /** Milliseconds until `admits` may be true. 0 also while the trial request runs. */
  readonly waitMs: (now: number) => number;
  /** Starts a request, also one that is not admitted. Pass the result back with its outcome. */
  readonly begin: (now: number) => BreakerPeriod;
  readonly answered: (period: BreakerPeriod) => void;
  readonly failed: (period: BreakerPeriod, now: number) => void;
  readonly cancelled: (period: BreakerPeriod, now: number) => void;
}

/** The period between two state changes in which a request started. Outcomes from an earlier period do not count. */
export type BreakerPeriod = number;

type State =
  | { readonly kind: 'closed'; readonly failures: number }
  | { readonly kind: 'open'; readonly until: number }
  | { readonly kind: 'trying' };

const CLOSED: State = { kind: 'closed', failures: 0 };

/** `onChange`: called when the breaker opens or closes, not when a trial fails. */
export function createBreaker(onChange: (closed: boolean) => void): Breaker {
  let rules: BreakerRules | undefined;
  let state: State = CLOSED;
  let period: BreakerPeriod = 0;

  function become(next: State): void {
    state = next;
    period += 1;
  }
  function close(): void {
    become(CLOSED);
    onChange(true);
  }
  function open(now: number, forMs: number): void {
    const wasClosed = state.kind === 'closed';
    become({ kind: 'open', until: now + forMs });
    if (wasClosed) onChange(false);
  }

  return {
    configure(next) {
      rules = next;
      if (next === undefined && state.kind !== 'closed') close();
    },
    isClosed: () => state.kind === 'closed',
    admits: (now) => state.kind === 'closed' || (state.kind === 'open' && now >= state.until),
    waitMs: (now) => (state.kind === 'open' ? Math.max(0, state.until - now) : 0),
    begin(now) {
      if (state.kind === 'open' && now >= state.until) become({ kind: 'trying' });
      return period;
    },
    answered(of) {
      if (of !== period) return;
      if (state.kind !== 'closed') close();
      else if (state.failures > 0) state = CLOSED;
    },
    failed(of, now) {
      if (of !== period || rules === undefined) return;
      switch (state.kind) {
        case 'closed': {
          const failures = state.failures + 1;
          if (failures >= rules.failures) open(now, rules.open);
          else state = { kind: 'closed', failures };
          return;
        }
        case 'trying':
          open(now, rules.open);
          return;
        case 'open':
          // If no other target is in service, an open one may get requests. The open time continues.
          return;
        default:
          state satisfies never;
      }
    },
    cancelled(of, now) {
      // The trial has no result, so the next request may try.
      if (of === period && state.kind === 'trying') become({ kind: 'open', until: now });
    },
  };
}
