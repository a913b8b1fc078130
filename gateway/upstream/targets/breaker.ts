// The circuit breaker of one target: opens after failures in a row, lets one request try again, closes when that is answered.
import type { BreakerRules } from '../../plan/upstreams/target-rules.ts';

export interface Breaker {
  /** Other rules from here on; undefined closes it for good. */
  readonly configure: (rules: BreakerRules | undefined) => void;
  readonly isClosed: () => boolean;
  /** Whether a request may start: always while closed, else one at a time once its time has come. */
  readonly admits: (now: number) => boolean;
  /** Milliseconds until it may; 0 also while the one request that tries is under way. */
  readonly waitMs: (now: number) => number;
  /** Starts a request, whether or not one is admitted; the result is handed back with what became of it. */
  readonly begin: (now: number) => BreakerPeriod;
  readonly answered: (stretch: BreakerPeriod) => void;
  readonly failed: (stretch: BreakerPeriod, now: number) => void;
  readonly cancelled: (stretch: BreakerPeriod, now: number) => void;
}

/** Which stretch between two changes of state a request belongs to: what it says of an earlier one no longer counts. */
export type BreakerPeriod = number;

type State =
  | { readonly kind: 'closed'; readonly failures: number }
  | { readonly kind: 'open'; readonly until: number }
  | { readonly kind: 'trying' };

const CLOSED: State = { kind: 'closed', failures: 0 };

/** `onChange`: told when it opens and when it closes, not of a try that fails. */
export function createBreaker(onChange: (closed: boolean) => void): Breaker {
  let rules: BreakerRules | undefined;
  let state: State = CLOSED;
  let stretch: BreakerPeriod = 0;

  function become(next: State): void {
    state = next;
    stretch += 1;
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
      return stretch;
    },
    answered(of) {
      if (of !== stretch) return;
      if (state.kind !== 'closed') close();
      else if (state.failures > 0) state = CLOSED;
    },
    failed(of, now) {
      if (of !== stretch || rules === undefined) return;
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
          // Used while it is out, for want of another: its time runs on.
          return;
        default:
          state satisfies never;
      }
    },
    cancelled(of, now) {
      // Nothing was learnt: the next request may try.
      if (of === stretch && state.kind === 'trying') become({ kind: 'open', until: now });
    },
  };
}
