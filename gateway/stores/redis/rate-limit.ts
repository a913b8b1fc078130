// Rate-limit buckets on Redis: one atomic script call per subject, timed by the server's clock (RL-10).
import { StoreUnavailable } from '../../policy/contract.ts';
import { emissionInterval } from '../../policy/rate-limit/gcra.ts';
import type { RateLimitStore, Take, Taken } from '../../policy/rate-limit/limit.ts';
import { type StoreDeadline, startStoreDeadline } from '../store-deadline.ts';
import type { RedisConnection, RedisScript } from './connect.ts';
import { luaText } from './lua.ts';

const TAKE = luaText('rate-limit');
const RETURN_UNITS = luaText('return-units');
/** RL-13 allows 50 ms. The rest is for the call in progress when the deadline expires. */
const DEFAULT_DEADLINE_MS = 20;

interface TakeResult {
  readonly taken: readonly Taken[];
  /** For each bucket: names the take for return-units.lua. */
  readonly stamps: readonly number[];
}

/**
 * Buckets in Redis. Takes reject with `StoreUnavailable` if no reply comes within the connection's timeout. A
 * rate that is not a whole number of microseconds per unit is rounded to the slower one, so it never admits
 * more. `takeAll` makes one call per subject, in the order of the takes. It starts no call after the deadline
 * that `startDeadline` creates (default 20 ms). If a later subject refuses or its call fails, the units of the
 * earlier ones are returned.
 */
export function createRedisRateLimitStore(
  connection: RedisConnection,
  {
    startDeadline = () => startStoreDeadline(DEFAULT_DEADLINE_MS),
  }: { readonly startDeadline?: () => StoreDeadline } = {},
): RateLimitStore {
  const scripts = new Map<string, RedisScript>();
  /** A script has a fixed number of keys, so each number needs a script of its own. */
  const scriptFor = (name: string, lua: string, keys: number): RedisScript => {
    const known = scripts.get(`${name}${keys}`) ?? connection.script(`${name}${keys}`, lua, keys);
    scripts.set(`${name}${keys}`, known);
    return known;
  };

  const takeOfSubject = async (takes: readonly Take[], mayReturnUnits: boolean): Promise<TakeResult> => {
    const keys = takes.flatMap((take) => (mayReturnUnits ? keysOf(take) : [keyOf(take)]));
    const script = scriptFor('sundialTakeFromBuckets', TAKE, keys.length);
    const reply = await script(...keys, mayReturnUnits ? 2 : 1, ...takes.flatMap(scriptArgumentsOf));
    return readReply(reply, takes.length);
  };

  /** Not awaited. Units whose return is lost count as used, so a limit is never exceeded. */
  const returnUnits = (takes: readonly Take[], { stamps }: TakeResult): void => {
    const keys = takes.flatMap(keysOf);
    const given = takes.flatMap((take, index) => [
      ...(isLog(take) ? ['log', 0] : ['gcra', emissionInterval(take.limit)]),
      take.cost,
      stamps[index] ?? 0,
    ]);
    const script = scriptFor('sundialReturnUnits', RETURN_UNITS, keys.length);
    script(...keys, ...given).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
    });
  };

  const takeBySubject = async (
    groups: readonly (readonly Take[])[],
  ): Promise<readonly (readonly Taken[])[]> => {
    using deadline = startDeadline();
    const done: TakeResult[] = [];
    const undo = (): void => {
      for (const [index, taking] of done.entries()) returnUnits(groups[index] ?? [], taking);
    };
    for (const [index, takes] of groups.entries()) {
      try {
        if (deadline.expired) throw new StoreUnavailable('Redis answers too slowly');
        const taking = await takeOfSubject(takes, index < groups.length - 1);
        if (taking.taken.some(({ allowed }) => !allowed)) {
          undo();
          const before = done.map(({ taken }, group) =>
            taken.map((each, at) => withReturnedUnits(each, groups[group]?.[at])),
          );
          return [...before, taking.taken];
        }
        done.push(taking);
      } catch (error) {
        undo();
        throw error;
      }
    }
    return done.map(({ taken }) => taken);
  };

  return {
    take: async (take) => {
      const [taken] = (await takeOfSubject([take], false)).taken;
      if (taken === undefined) throw new TypeError('the rate-limit script returned no bucket');
      return taken;
    },
    takeAll: async (takes) => {
      const groups = [...Map.groupBy(takes, subjectOf).values()];
      const answered = new Map<Take, Taken>();
      for (const [group, taken] of (await takeBySubject(groups)).entries()) {
        for (const [index, take] of (groups[group] ?? []).entries()) {
          const answer = taken[index];
          if (answer !== undefined) answered.set(take, answer);
        }
      }
      return takes.map((take) => answered.get(take));
    },
  };
}

/** The hash tag: in a cluster, all keys of one subject are on one node. */
function subjectOf({ key }: Take): string {
  return key.slice(0, key.indexOf('}') + 1) || key;
}

function isLog({ limit }: Take): boolean {
  return limit.algorithm === 'sliding-log';
}

/** The two algorithms store different formats, so a limit whose algorithm changes starts empty. */
function keyOf(take: Take): string {
  return `sundial:limit:${take.key}${isLog(take) ? ':log' : ''}`;
}

function keysOf(take: Take): readonly [string, string] {
  const key = keyOf(take);
  return [key, `${key}:back`];
}

function scriptArgumentsOf(take: Take): readonly (string | number)[] {
  const { limit, cost } = take;
  return isLog(take)
    ? ['log', limit.windowMs * 1000, limit.units, cost]
    : ['gcra', emissionInterval(limit), limit.burst, cost];
}

/** The result of a take as it is after its units have been returned. */
function withReturnedUnits(taken: Taken, take: Take | undefined): Taken {
  return { ...taken, remaining: taken.remaining + (take?.cost ?? 0) };
}

/** @throws StoreUnavailable for an unexpected reply. `on_store_failure` then decides about the request. */
function readReply(reply: unknown, buckets: number): TakeResult {
  if (!Array.isArray(reply) || reply.length !== buckets || !reply.every(isBucketReply))
    throw new StoreUnavailable('the rate-limit script did not return five integers for each bucket');
  return {
    taken: reply.map(([allowed, remaining, retryMicros, resetMicros]) => ({
      allowed: allowed === 1,
      remaining,
      retryAfterMs: retryMicros / 1000,
      resetMs: resetMicros / 1000,
    })),
    stamps: reply.map(([, , , , stamp]) => stamp),
  };
}

function isBucketReply(reply: unknown): reply is readonly [number, number, number, number, number] {
  return Array.isArray(reply) && reply.length === 5 && reply.every(Number.isSafeInteger);
}
