// What operators learn of a freeze that cannot be judged: one line where it will stay so.
// Told of each request that was let in for it, by the stores through service.ts.
import type { GatewayPlan } from '../plan/plan.ts';
import type { FreezeCounts } from './freeze-counts.ts';
import type { Telemetry } from './telemetry.ts';

/** Says once of a version that its freeze refuses nobody; that a store is away is said by itself. */
export function createFreezeReport(
  { logger, metrics }: Pick<Telemetry, 'logger' | 'metrics'>,
  plan: () => GatewayPlan,
): FreezeCounts['freezeUnjudged'] {
  const told = new Set<string>();
  return (version, reason) => {
    metrics.freezeUnjudged(version, reason);
    const key = JSON.stringify(version);
    if (reason === 'store_away' || told.has(key)) return;
    told.add(key);
    const freeze = plan().apiNamed(version.api)?.versions.get(version.version)?.freeze;
    logger.warn('a freeze refuses nobody: calls of the version are not counted from before that day', {
      ...version,
      ...(freeze !== undefined && { freeze: Temporal.Instant.fromEpochMilliseconds(freeze).toString() }),
    });
  };
}
