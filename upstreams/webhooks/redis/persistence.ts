// Whether a Redis keeps what it has taken: without its append-only file a restart loses events that were acknowledged.
// Asked by store.ts whenever a connection stands; the operator is told, and the service goes on.
import type { Redis } from 'ioredis';

const WANTED = [
  { setting: 'appendonly', is: 'yes', otherwise: 'forgets acknowledged events when it ends' },
  { setting: 'maxmemory-policy', is: 'noeviction', otherwise: 'may throw events away when memory is short' },
] as const;

/** What is wrong with it, in sentences; nothing where it does not tell. */
export async function weaknessesOf(redis: Redis): Promise<readonly string[]> {
  const found = await Promise.all(
    WANTED.map(async ({ setting, is, otherwise }) => {
      const answer: unknown = await redis.config('GET', setting).catch(() => undefined); // not every Redis lets us ask
      const value = Array.isArray(answer) ? String(answer[1]) : is;
      return value === is ? [] : [`this Redis ${otherwise}: set ${setting} ${is}, not ${value}`];
    }),
  );
  return found.flat();
}
