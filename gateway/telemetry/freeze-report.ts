// What operators learn of a freeze that cannot be judged: a counter by version, and one line where it will stay so.
// Told of each request that was let in for it, by the stores through service.ts.
import type { GatewayPlan } from '../plan/plan.ts';
import { dateInWords } from '../policy/notation.ts';
import type { Sample } from './series.ts';
import type { Telemetry } from './telemetry.ts';

/** The store did not answer, or calls of the version are counted only since the freeze. */
export const UNJUDGED = ['store_away', 'counted_since'] as const;
export type UnjudgedReason = (typeof UNJUDGED)[number];

interface FrozenVersion {
  readonly api: string;
  readonly version: string;
}

export interface FreezeCounts {
  readonly freezeUnjudged: (version: FrozenVersion, reason: UnjudgedReason) => void;
  /** api, version, reason; from 0 for every frozen version of the plan. */
  readonly samples: (plan: GatewayPlan) => Iterable<Sample>;
}

export function createFreezeCounts(): FreezeCounts {
  const counts = new Map<string, Sample>();
  const add = ({ api, version }: FrozenVersion, reason: UnjudgedReason, by: number): void => {
    const key = JSON.stringify([api, version, reason]);
    counts.set(key, [[api, version, reason], (counts.get(key)?.[1] ?? 0) + by]);
  };
  return {
    freezeUnjudged: (version, reason) => add(version, reason, 1),
    samples: ({ apis }) => {
      for (const { name: api, versions } of apis)
        for (const { label: version, freeze } of versions.values())
          if (freeze !== undefined) for (const reason of UNJUDGED) add({ api, version }, reason, 0);
      return counts.values();
    },
  };
}

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
      ...(freeze !== undefined && { freeze: dateInWords(freeze) }),
    });
  };
}
