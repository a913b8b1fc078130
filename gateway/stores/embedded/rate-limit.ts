// Rate-limit buckets and sliding logs in the memory of this process.
import { emissionInterval, gcra, slidingLog } from '../../policy/rate-limit/gcra.ts';
import type { Limit, Take, Taken } from '../../policy/rate-limit/limit.ts';

interface Bucket {
  /** Theoretical arrival time in microseconds: when the bucket will be full again. */
  tat: number;
  fill: number;
}

const DEFAULT_MAX_BUCKETS = 100_000;
/** Share of the buckets evicted at once when the map is full, so that the scan for them is rare. */
const EVICTED_SHARE = 0.1;

export interface EmbeddedRateLimitStore {
  readonly take: (take: Take) => Taken;
  readonly takeAll: (takes: readonly Take[]) => readonly Taken[];
  /**
   * Raises a bucket's debt to that of the same bucket in another store, which is full in `fullMs`. Never
   * lowers it.
   */
  readonly raiseDebt: (bucket: Pick<Take, 'key' | 'limit'>, fullMs: number) => void;
}

/**
 * Buckets in memory, at most `maxBuckets` (default 100,000). Full buckets are dropped first, then the least
 * used ones, so that a subject at its limit is evicted last. `now`: milliseconds, monotonic. `keepsDebts`: as
 * `keepsDebt` of `gcra`.
 */
export function createEmbeddedRateLimitStore(options: {
  readonly now: () => number;
  readonly maxBuckets?: number;
  readonly keepsDebts?: boolean;
}): EmbeddedRateLimitStore {
  const { maxBuckets = DEFAULT_MAX_BUCKETS, keepsDebts = false } = options;
  const buckets = new Map<string, Bucket>();
  let sweep = buckets.entries();

  /** Looks at two buckets per new bucket, so that full ones are dropped as fast as new ones come. */
  const dropSomeFull = (nowMicros: number): void => {
    for (let checked = 0; checked < 2; checked++) {
      const next = sweep.next();
      if (next.done) {
        sweep = buckets.entries();
        return;
      }
      const [key, bucket] = next.value;
      if (bucket.tat <= nowMicros) buckets.delete(key);
    }
  };

  const add = (key: string, bucket: Bucket, nowMicros: number): void => {
    dropSomeFull(nowMicros);
    if (buckets.size >= maxBuckets) dropLeastUsed(buckets, Math.ceil(maxBuckets * EVICTED_SHARE), nowMicros);
    buckets.set(key, bucket);
  };

  const logs = createEmbeddedLogs();

  const put = ({ key, limit }: Pick<Take, 'key' | 'limit'>, tat: number, nowMicros: number): void => {
    const bucket = buckets.get(key);
    if (bucket === undefined) {
      add(key, { tat, fill: fillMicros(limit) }, nowMicros);
    } else {
      bucket.tat = tat;
      bucket.fill = fillMicros(limit);
    }
  };

  /**
   * The bucket's answer for `cost` units, without taking them. A refusal is stored at once, so that lowering
   * a limit also lowers the debt.
   */
  const evaluate = (bucket: Pick<Take, 'key' | 'limit'>, cost: number, now: number) => {
    const { key, limit } = bucket;
    const answer = gcra(buckets.get(key)?.tat, limit, cost, now, keepsDebts);
    if (!answer.taken.allowed && answer.tat !== undefined) put(bucket, answer.tat, now * 1000);
    return answer;
  };

  const take = (request: Take): Taken => {
    const now = options.now();
    if (request.limit.algorithm === 'sliding-log') return logs.take(request, now);
    const { taken, tat } = evaluate(request, request.cost, now);
    if (taken.allowed && tat !== undefined) put(request, tat, now * 1000);
    return taken;
  };

  const peek = ({ key, limit }: Take, cost: number): Taken => {
    const now = options.now();
    return limit.algorithm === 'sliding-log'
      ? logs.peek(key, limit, cost, now)
      : evaluate({ key, limit }, cost, now).taken;
  };

  return {
    take,
    raiseDebt: (bucket, fullMs) => {
      const at = options.now() * 1000;
      const tat = Math.round(at + fullMs * 1000);
      if (tat > (buckets.get(bucket.key)?.tat ?? at)) put(bucket, tat, at);
    },
    takeAll: (takes) => {
      const seen = takes.map((each) => peek(each, each.cost));
      if (seen.every(({ allowed }) => allowed)) return takes.map(take);
      return takes.map((each, index) => {
        const taken = seen[index];
        return taken?.allowed === false ? taken : { ...peek(each, 0), allowed: true };
      });
    },
  };
}

const fillMicros = (limit: Limit): number => limit.burst * emissionInterval(limit);

function dropLeastUsed(buckets: Map<string, Bucket>, count: number, nowMicros: number): void {
  const used = (bucket: Bucket): number => Math.max(0, bucket.tat - nowMicros) / bucket.fill;
  const mostUsed = Float64Array.from(buckets.values(), used).sort()[count - 1] ?? 0;
  let tiesLeft = count;
  for (const [key, bucket] of buckets) {
    if (used(bucket) >= mostUsed) continue;
    buckets.delete(key);
    tiesLeft--;
  }
  // Of the buckets exactly at the bound, drops only the oldest, as many as are still needed.
  for (const [key, bucket] of buckets) {
    if (tiesLeft === 0) return;
    if (used(bucket) !== mostUsed) continue;
    buckets.delete(key);
    tiesLeft--;
  }
}

/** Eight bytes per unit. */
const DEFAULT_MAX_UNITS = 2_000_000;
const DEFAULT_MAX_LOGS = 100_000;

export interface EmbeddedLogs {
  readonly take: (take: Take, now: number) => Taken;
  /** The log's answer for `cost` units, without taking them. */
  readonly peek: (key: string, limit: Limit, cost: number, now: number) => Taken;
}

/** At most `maxUnits` instants in `maxLogs` logs. Beyond that the least recently used logs are evicted. */
export function createEmbeddedLogs(
  options: { readonly maxUnits?: number; readonly maxLogs?: number } = {},
): EmbeddedLogs {
  const { maxUnits = DEFAULT_MAX_UNITS, maxLogs = DEFAULT_MAX_LOGS } = options;
  /** Least recently used first. */
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
    peek: (key, limit, cost, now) => judge(key, limit, cost, now).taken,
  };
}
