// How the targets of one upstream are chosen and judged, with the defaults filled in.
// Part of compiling an upstream; upstream/targets/ goes by what comes out.
import type { UpstreamFile } from '../grammar/policy-grammar.ts';
import type { BreakerRules, HealthRules, TargetRules } from '../target-rules.ts';

/** Times in milliseconds. */
const DEFAULT_HEALTH: Omit<HealthRules, 'path'> = {
  every: 5_000,
  timeout: 1_000,
  healthy: 2,
  unhealthy: 3,
};
export const DEFAULT_BREAKER: BreakerRules = { failures: 5, open: 10_000, strict: false };

export function compileTargetRules(file: UpstreamFile): TargetRules {
  return {
    balance: file.balance ?? 'round-robin',
    slowStart: file.slow_start ?? 0,
    health: compileHealth(file.health),
    breaker: compileBreaker(file),
  };
}

function compileHealth(health: UpstreamFile['health']): HealthRules | undefined {
  if (health === undefined) return undefined;
  const written = typeof health === 'string' ? { path: health } : health;
  return {
    path: written.path,
    every: written.every ?? DEFAULT_HEALTH.every,
    timeout: written.timeout ?? DEFAULT_HEALTH.timeout,
    healthy: written.healthy ?? DEFAULT_HEALTH.healthy,
    unhealthy: written.unhealthy ?? DEFAULT_HEALTH.unhealthy,
  };
}

/** Unasked, a single target is never taken out: an answer of the gateway's own helps no client there. */
function compileBreaker({ breaker, targets }: UpstreamFile): BreakerRules | undefined {
  if (breaker === 'off') return undefined;
  if (breaker === undefined) return targets.length > 1 ? DEFAULT_BREAKER : undefined;
  return {
    failures: breaker.failures ?? DEFAULT_BREAKER.failures,
    open: breaker.open ?? DEFAULT_BREAKER.open,
    strict: true,
  };
}
