// Rate-limit buckets shared by all gateways: one atomic script call per take, timed by the server's clock (RL-10).
// Stands behind the RateLimitStore port, usually below the leases.
import { readFileSync } from 'node:fs';
import { emissionInterval } from '../../policy/rate-limit/gcra.ts';
import type { RateLimitStore, Taken } from '../../policy/rate-limit/limit.ts';
import type { RedisConnection } from './connect.ts';

const SCRIPT = readFileSync(new URL('./rate-limit.lua', import.meta.url), 'utf8');

/**
 * Buckets in Redis. `take` rejects with `StoreUnavailable` when no answer comes within the connection's deadline.
 * A rate that is no whole number of microseconds per unit is rounded to the slower one, so it admits never more.
 */
export function createRedisRateLimitStore(connection: RedisConnection): RateLimitStore {
  const takeFromBucket = connection.script('sundialTakeFromBucket', SCRIPT, 1);
  return {
    take: async ({ key, limit, cost }) =>
      toTaken(await takeFromBucket(bucketKey(key), emissionInterval(limit), limit.burst, cost)),
  };
}

// The braces are the hash tag: in a cluster everything kept of one bucket lives on one node.
const bucketKey = (key: string): string => `sundial:limit:{${key}}`;

function toTaken(reply: unknown): Taken {
  if (!Array.isArray(reply) || reply.length !== 4 || !reply.every(Number.isSafeInteger)) {
    throw new TypeError('the rate-limit script answered something else than four integers');
  }
  const [taken, remaining, retryMicros, resetMicros] = reply as [number, number, number, number];
  return { allowed: taken === 1, remaining, retryAfterMs: retryMicros / 1000, resetMs: resetMicros / 1000 };
}
