// Checks the health of one target periodically, and compares the results with the thresholds.
import type { Target, UpstreamPlan } from '../../plan/plan.ts';
import type { HealthRules } from '../../plan/upstreams/target-rules.ts';
import type { Clock } from '../deadlines.ts';

/** One check. Returns a short reason for a failure, undefined for success. Never rejects. */
export type Probe = (check: {
  readonly upstream: UpstreamPlan;
  readonly target: Target;
  readonly rules: HealthRules;
  readonly signal: AbortSignal;
}) => Promise<string | undefined>;

export interface HealthChecks {
  /** Follows another plan: starts, continues, or stops the checks. Without checks the target counts as healthy. */
  readonly configure: (upstream: UpstreamPlan) => void;
  /** A property instead of a function, because every request reads it. */
  readonly isUp: boolean;
  /** Milliseconds until the target can be back at the earliest. 0 while it is up. */
  readonly waitMs: (now: number) => number;
  /** Also aborts a running check. The last result stays. */
  readonly stop: () => void;
}

export interface HealthPorts {
  readonly probe: Probe;
  readonly clock: Clock;
  readonly random: () => number;
}

/** `onChange`: called when the target goes out or comes back, with the result of the deciding check. */
export function createHealthChecks(
  target: Target,
  { probe, clock, random }: HealthPorts,
  onChange: (up: boolean, why: string | undefined) => void,
): HealthChecks {
  let plan: UpstreamPlan | undefined;
  let running: AbortController | undefined;
  let cancelNext: () => void = () => undefined;
  let dueAt = 0;
  /** Consecutive checks that contradict `checks.isUp`. */
  let contradictions = 0;

  function next(ms: number): void {
    dueAt = clock.now() + ms;
    cancelNext = clock.after(ms, () => void check());
  }

  async function check(): Promise<void> {
    const rules = plan?.health;
    if (plan === undefined || rules === undefined || running === undefined) return;
    const of = running;
    const startedAt = clock.now();
    const why = await probe({ upstream: plan, target, rules, signal: of.signal });
    if (of.signal.aborted) return;
    judge(why, rules);
    next(Math.max(0, rules.every - (clock.now() - startedAt)));
  }

  function judge(why: string | undefined, rules: HealthRules): void {
    const good = why === undefined;
    contradictions = good === checks.isUp ? 0 : contradictions + 1;
    if (contradictions < (checks.isUp ? rules.unhealthy : rules.healthy)) return;
    setUp(good, why);
  }

  function setUp(up: boolean, why: string | undefined): void {
    checks.isUp = up;
    contradictions = 0;
    onChange(up, why);
  }

  function stop(): void {
    running?.abort();
    running = undefined;
    cancelNext();
  }

  const checks = {
    isUp: true,
    configure(upstream: UpstreamPlan): void {
      const before = plan?.health;
      plan = upstream;
      const rules = upstream.health;
      if (rules === undefined) {
        stop();
        if (!checks.isUp) setUp(true, undefined);
        return;
      }
      if (running !== undefined && before?.every === rules.every) return;
      stop();
      running = new AbortController();
      // At a random moment, so that many targets and gateways do not check at the same time.
      next(random() * rules.every);
    },
    waitMs(now: number): number {
      if (checks.isUp) return 0;
      const more = Math.max(0, (plan?.health?.healthy ?? 1) - contradictions - 1);
      return Math.max(0, dueAt - now) + more * (plan?.health?.every ?? 0);
    },
    stop,
  };
  return checks;
}
