// Asks one target again and again whether it is well, and counts good and failed checks against their thresholds.
import type { Target, UpstreamPlan } from '../../plan/plan.ts';
import type { HealthRules } from '../../plan/upstreams/target-rules.ts';
import type { Clock } from '../deadlines.ts';

/** One check: why it failed, in a word for operators, or undefined where it is good. Never rejects. */
export type Probe = (check: {
  readonly upstream: UpstreamPlan;
  readonly target: Target;
  readonly rules: HealthRules;
  readonly signal: AbortSignal;
}) => Promise<string | undefined>;

export interface HealthChecks {
  /** Goes by another plan from here on: starts, goes on, or stops with the target taken for well. */
  readonly configure: (upstream: UpstreamPlan) => void;
  /** Data and no function, since each request reads it. */
  readonly isUp: boolean;
  /** Milliseconds until the target can be back at the earliest; 0 while it is up. */
  readonly waitMs: (now: number) => number;
  /** Ends the checks, one under way included; what was found stays. */
  readonly stop: () => void;
}

export interface HealthPorts {
  readonly probe: Probe;
  readonly clock: Clock;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

/** `onChange`: told when the target goes out and comes back, and of the check that decided it. */
export function createHealthChecks(
  target: Target,
  { probe, clock, random }: HealthPorts,
  onChange: (up: boolean, why: string | undefined) => void,
): HealthChecks {
  let plan: UpstreamPlan | undefined;
  let running: AbortController | undefined;
  let unplan: () => void = () => undefined;
  let dueAt = 0;
  /** Checks in a row that say otherwise than `checks.isUp`. */
  let against = 0;

  function next(ms: number): void {
    dueAt = clock.now() + ms;
    unplan = clock.after(ms, () => void check());
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
    against = good === checks.isUp ? 0 : against + 1;
    if (against < (checks.isUp ? rules.unhealthy : rules.healthy)) return;
    become(good, why);
  }

  function become(up: boolean, why: string | undefined): void {
    checks.isUp = up;
    against = 0;
    onChange(up, why);
  }

  function stop(): void {
    running?.abort();
    running = undefined;
    unplan();
  }

  const checks = {
    isUp: true,
    configure(upstream: UpstreamPlan): void {
      const before = plan?.health;
      plan = upstream;
      const rules = upstream.health;
      if (rules === undefined) {
        stop();
        if (!checks.isUp) become(true, undefined);
        return;
      }
      if (running !== undefined && before?.every === rules.every) return;
      stop();
      running = new AbortController();
      // At a moment of its own, so that many targets and many gateways do not ask all at once.
      next(random() * rules.every);
    },
    waitMs(now: number): number {
      if (checks.isUp) return 0;
      const more = Math.max(0, (plan?.health?.healthy ?? 1) - against - 1);
      return Math.max(0, dueAt - now) + more * (plan?.health?.every ?? 0);
    },
    stop,
  };
  return checks;
}
