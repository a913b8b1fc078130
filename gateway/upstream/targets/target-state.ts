// The state of one target: running requests, health, circuit breaker and slow start.
import type { FaultCode } from '../../exchange/directive.ts';
import type { RecentHealth, TargetChange } from '../../exchange/version-states.ts';
import type { Target, UpstreamPlan } from '../../plan/plan.ts';
import { type BalancedTarget, hashOf } from './balance.ts';
import { createBreaker } from './breaker.ts';
import { createHealthChecks, type HealthPorts } from './health-checks.ts';
import { createRecentCalls } from './recent-calls.ts';

/** An answer, a fault of the target, or an end without a result for the target. */
export type CallOutcome = 'answered' | 'cancelled' | FaultCode;

export interface Choice {
  readonly target: Target;
  /** Call it when the response headers have arrived, so that the breaker does not wait for a long body. */
  readonly answered: () => void;
  /** Call it exactly once, at the end of the call. */
  readonly settle: (outcome: CallOutcome) => void;
}

export interface TargetState extends BalancedTarget {
  readonly target: Target;
  readonly configure: (upstream: UpstreamPlan) => void;
  readonly isInService: (now: number) => boolean;
  /** Whether only the circuit breaker keeps it out of service. */
  readonly isOnlyEjected: () => boolean;
  readonly isUp: () => boolean;
  readonly waitMs: (now: number) => number;
  /** From 0 to 1. A target in slow start gets less than 1. */
  readonly share: (now: number) => number;
  readonly begin: () => Choice;
  readonly recent: () => RecentHealth;
  readonly stop: () => void;
}

export type StateChange = Pick<TargetChange, 'up' | 'by' | 'why'>;

export function createTargetState(
  target: Target,
  ports: HealthPorts,
  onChange: (change: StateChange) => void,
): TargetState {
  const { clock } = ports;
  const seed = hashOf(target.origin);
  let slowStart = 0;
  let backSince: number | undefined;
  let inFlight = 0;
  const recent = createRecentCalls();

  const health = createHealthChecks(target, ports, (up, why) => changed({ up, by: 'health', why }));
  const breaker = createBreaker((up) => changed({ up, by: 'breaker', why: undefined }));

  const isUp = (): boolean => health.isUp && breaker.isClosed();

  function changed(change: StateChange): void {
    if (isUp()) {
      backSince = clock.now();
      state.credit = 0;
    }
    onChange(change);
  }

  const state: TargetState = {
    target,
    seed,
    credit: 0,
    get inFlight() {
      return inFlight;
    },
    configure(upstream) {
      slowStart = upstream.slowStart;
      breaker.configure(upstream.breaker);
      health.configure(upstream);
    },
    isInService: (now) => health.isUp && breaker.admits(now),
    isOnlyEjected: () => health.isUp && !breaker.isClosed(),
    isUp,
    waitMs: (now) => Math.max(health.waitMs(now), breaker.waitMs(now)),
    share: (now) => shareOf(backSince, slowStart, now),
    begin() {
      const period = breaker.begin(clock.now());
      let over = false;
      inFlight += 1;
      return {
        target,
        answered: () => breaker.answered(period),
        settle(outcome) {
          if (over) return;
          over = true;
          inFlight -= 1;
          const now = clock.now();
          if (outcome === 'answered') {
            breaker.answered(period);
            recent.answered(now);
          } else if (outcome === 'cancelled') breaker.cancelled(period, now);
          else {
            breaker.failed(period, now);
            recent.failed(now, outcome);
          }
        },
      };
    },
    recent: () => recent.read(clock.now()),
    stop: health.stop,
  };
  return state;
}

/** Above 0, so that a single target can be chosen at the start of its slow start. */
const LEAST_SHARE = 0.001;

/** Milliseconds. @param since when the target came back; undefined: it was never out */
function shareOf(since: number | undefined, slowStart: number, now: number): number {
  if (since === undefined || slowStart === 0) return 1;
  return Math.min(1, Math.max(LEAST_SHARE, (now - since) / slowStart));
}
