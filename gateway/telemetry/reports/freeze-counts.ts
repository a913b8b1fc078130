// Requests admitted during a freeze because the first call of their consumer is unknown.
import type { GatewayPlan } from '../../plan/plan.ts';
import type { Logger } from '../logs/logger.ts';
import { counter, type MetricRow, type Sample } from '../series.ts';

/** The store is unavailable, or calls of the version are counted only since the freeze. */
const UNJUDGED = ['store_away', 'counted_since'] as const;
export type UnjudgedReason = (typeof UNJUDGED)[number];

interface UnjudgedVersion {
  readonly api: string;
  readonly version: string;
}

export interface FreezeCounts {
  readonly freezeUnjudged: (version: UnjudgedVersion, reason: UnjudgedReason) => void;
  /** api, version, reason. Starts at 0 for each frozen version of the plan. */
  readonly samples: (plan: GatewayPlan) => Iterable<Sample>;
}

export function createFreezeCounts(): FreezeCounts {
  const counts = new Map<string, Sample>();
  const add = ({ api, version }: UnjudgedVersion, reason: UnjudgedReason, by: number): void => {
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

export function freezeRows({ samples }: Pick<FreezeCounts, 'samples'>, plan: () => GatewayPlan): MetricRow[] {
  return [
    counter(
      'sundial_freeze_unjudged_total',
      'Requests that a frozen version accepted because the first call of their consumer is unknown.',
      ['api', 'version', 'reason'],
      () => samples(plan()),
    ),
  ];
}

/** Reports once per version that its freeze refuses no request. Outages of the store have their own report. */
export function createFreezeReport(
  { logger, metrics }: { readonly logger: Logger; readonly metrics: Pick<FreezeCounts, 'freezeUnjudged'> },
  plan: () => GatewayPlan,
): FreezeCounts['freezeUnjudged'] {
  const reported = new Set<string>();
  return (version, reason) => {
    metrics.freezeUnjudged(version, reason);
    const key = JSON.stringify(version);
    if (reason === 'store_away' || reported.has(key)) return;
    reported.add(key);
    const freeze = plan().apiNamed(version.api)?.versions.get(version.version)?.freeze;
    logger.warn('a freeze refuses no consumer: the ledger has no calls of the version before that day', {
      ...version,
      ...(freeze !== undefined && { freeze: Temporal.Instant.fromEpochMilliseconds(freeze).toString() }),
    });
  };
}
