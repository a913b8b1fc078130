// Sliding logs in this process: for each subject the instants of what was admitted in the last window.
// Kept beside the buckets of rate-limit.ts, which asks for limits of that kind.
import type { Limit, Take, Taken } from '../../policy/rate-limit/limit.ts';
import { slidingLog } from '../../policy/rate-limit/sliding-log.ts';

/** Eight bytes each. */
const DEFAULT_MAX_UNITS = 2_000_000;
const DEFAULT_MAX_LOGS = 100_000;

export interface EmbeddedLogs {
  /** `now` in milliseconds. */
  readonly take: (take: Take, now: number) => Taken;
  /** What the log says of `cost` units, none of which are taken. */
  readonly look: (key: string, limit: Limit, cost: number, now: number) => Taken;
}

/** At most `maxUnits` instants in `maxLogs` logs; when they are used up, the logs that were used longest ago go first. */
export function createEmbeddedLogs(
  options: { readonly maxUnits?: number; readonly maxLogs?: number } = {},
): EmbeddedLogs {
  const { maxUnits = DEFAULT_MAX_UNITS, maxLogs = DEFAULT_MAX_LOGS } = options;
  /** The one used longest ago first. */
  const logs = new Map<string, number[]>();
  let units = 0;

  const keep = (key: string, log: number[]): void => {
    logs.delete(key);
    if (log.length > 0) logs.set(key, log);
    for (const [oldest, { length }] of logs) {
      if ((units <= maxUnits && logs.size <= maxLogs) || oldest === key) return;
      logs.delete(oldest);
      units -= length;
    }
  };

  const judge = (key: string, limit: Limit, cost: number, now: number) => {
    const log = logs.get(key) ?? [];
    const before = log.length;
    const judged = slidingLog(log, limit, cost, now);
    units -= before - log.length;
    return { ...judged, log };
  };

  return {
    take: ({ key, limit, cost }, now) => {
      const { taken, at, log } = judge(key, limit, cost, now);
      if (taken.allowed) {
        for (let unit = 0; unit < cost; unit += 1) log.push(at);
        units += cost;
      }
      keep(key, log);
      return taken;
    },
    look: (key, limit, cost, now) => judge(key, limit, cost, now).taken,
  };
}
