// Collects usage rows page by page: keeps the busiest consumers of each version and counts the rest.
import type { UsageRowBody } from '../../api/usage-answers.ts';

export interface BusiestRows {
  readonly add: (rows: readonly UsageRowBody[]) => void;
  readonly of: (
    api: string,
    version: string,
  ) => {
    readonly busiest: readonly UsageRowBody[];
    readonly others: { readonly consumers: number; readonly calls: number };
  };
}

interface VersionRows {
  rows: UsageRowBody[];
  consumers: number;
  calls: number;
}

/** `most`: rows kept for each version. */
export function createBusiestRows(most: number): BusiestRows {
  const versions = new Map<string, VersionRows>();
  const keep = (kept: VersionRows): void => {
    const sorted = kept.rows.toSorted(byCalls);
    for (const { calls } of sorted.splice(most)) {
      kept.consumers += 1;
      kept.calls += calls;
    }
    kept.rows = sorted;
  };
  return {
    add: (rows) => {
      for (const row of rows) {
        const key = JSON.stringify([row.api, row.version]);
        const kept = versions.getOrInsertComputed(key, () => ({ rows: [], consumers: 0, calls: 0 }));
        kept.rows.push(row);
        if (kept.rows.length >= 2 * most) keep(kept);
      }
    },
    of: (api, version) => {
      const kept = versions.get(JSON.stringify([api, version]));
      if (kept === undefined) return { busiest: [], others: { consumers: 0, calls: 0 } };
      keep(kept);
      return { busiest: kept.rows, others: { consumers: kept.consumers, calls: kept.calls } };
    },
  };
}

function byCalls(one: UsageRowBody, other: UsageRowBody): number {
  return other.calls - one.calls || (one.consumer < other.consumer ? -1 : 1);
}
