// Checks settings of Redis without which a restart or full memory loses acknowledged events.
import type { Redis } from 'ioredis';

const WANTED = [
  { setting: 'appendonly', is: 'yes', otherwise: 'loses acknowledged events when it stops' },
  { setting: 'maxmemory-policy', is: 'noeviction', otherwise: 'may evict events when memory is full' },
] as const;

/** One sentence for each wrong setting; empty if Redis does not tell. */
export async function weaknessesOf(redis: Redis): Promise<readonly string[]> {
  const found = await Promise.all(
    WANTED.map(async ({ setting, is, otherwise }) => {
      const answer: unknown = await redis.config('GET', setting).catch(() => undefined); // ACLs may forbid CONFIG
      const value = Array.isArray(answer) ? String(answer[1]) : is;
      return value === is ? [] : [`this Redis ${otherwise}: set ${setting} ${is}, not ${value}`];
    }),
  );
  return found.flat();
}
