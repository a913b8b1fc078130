// Tests of the Redis rate-limit store: clock, expiry, scripts, and errors without its password.
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { openStores } from '../../gateway/stores/open-stores.ts';
import { connectRedis, type RedisConnection } from '../../gateway/stores/redis/connect.ts';
import { createRedisRateLimitStore } from '../../gateway/stores/redis/rate-limit.ts';
import { startStoreDeadline } from '../../gateway/stores/store-deadline.ts';
import { type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';
import { type RunningRedis, startRedis } from '../support/redis-server.ts';
import { limitOf, takeOne } from './rate-limit-store.ts';

const quiet = { onState: () => undefined, answerWithinMs: 5000 };
const bucketOf = (key: string): string => `sundial:limit:${key}`;

const scriptNamed = (name: string): string =>
  readFileSync(new URL(`../../gateway/stores/redis/scripts/${name}.lua`, import.meta.url), 'utf8');

describe('the Redis rate-limit store', () => {
  let hand: Redis;
  let connection: RedisConnection;
  beforeAll(async () => {
    hand = new Redis(inject('redisUrl'));
    connection = await connectRedis(inject('redisUrl'), quiet);
  });
  afterEach(() => vi.useRealTimers());
  afterAll(() => {
    connection.close();
    hand.disconnect();
  });

  const microsOfRedis = async (): Promise<number> => {
    const [seconds, micros] = await hand.time();
    return Number(seconds) * 1_000_000 + Number(micros);
  };

  it('RL-10: uses the clock of Redis in whole microseconds, not that of this process', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 0 });
    const key = randomUUID();
    const before = await microsOfRedis();
    await createRedisRateLimitStore(connection).take({ key, limit: limitOf(7, 60_000), cost: 1 });
    const after = await microsOfRedis();
    const stored = await hand.get(bucketOf(key));
    expect(stored).toMatch(/^\d{16}$/);
    const takenAt = Number(stored) - 8_571_429;
    expect(takenAt).toBeGreaterThanOrEqual(before);
    expect(takenAt).toBeLessThanOrEqual(after);
  });

  it('RL-10: a bucket expires when it is full again, and a refusal does not prolong it', async () => {
    const key = randomUUID();
    const store = createRedisRateLimitStore(connection);
    const take = async () => store.take({ key, limit: limitOf(2, 60_000), cost: 1 });
    await take();
    expect(await hand.pttl(bucketOf(key))).toBeGreaterThan(25_000);
    expect(await hand.pttl(bucketOf(key))).toBeLessThanOrEqual(30_000);
    await take();
    const stored = await hand.get(bucketOf(key));
    expect(await take()).toMatchObject({ allowed: false });
    expect(await hand.get(bucketOf(key))).toBe(stored);
    expect(await hand.pttl(bucketOf(key))).toBeLessThanOrEqual(60_000);
  });

  it('RL-10: a sliding log expires with its window', async () => {
    const key = randomUUID();
    const limit = { ...limitOf(3, 60_000), algorithm: 'sliding-log' as const };
    await createRedisRateLimitStore(connection).take({ key, limit, cost: 1 });
    const left = await hand.pttl(`${bucketOf(key)}:log`);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
  });

  it('RL-10: an expired bucket is deleted from Redis', async () => {
    const key = randomUUID();
    await createRedisRateLimitStore(connection).take({ key, limit: limitOf(1, 20), cost: 1 });
    await vi.waitFor(async () => expect(await hand.exists(bucketOf(key))).toBe(0), {
      timeout: 20_000,
      interval: 5,
    });
  });

  it('RL-10: a lost script is loaded again within the same take', async () => {
    const key = randomUUID();
    const store = createRedisRateLimitStore(connection);
    const limit = limitOf(10, 3_600_000);
    await store.take({ key, limit, cost: 1 });
    await hand.script('FLUSH');
    expect(await store.take({ key, limit, cost: 1 })).toMatchObject({ allowed: true, remaining: 8 });
  });

  it('RL-10: rates of many units per second keep whole numbers', async () => {
    const key = randomUUID();
    const store = createRedisRateLimitStore(connection);
    const taken = await store.take({ key, limit: limitOf(1_000_000, 1000), cost: 1_000_000 });
    expect(taken).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('RL-8: takes and returns in any order admit at most burst + elapsed/T', async () => {
    const takeUnits = connection.script('testTake', scriptNamed('rate-limit'), 2);
    const returnUnits = connection.script('testReturnUnits', scriptNamed('return-units'), 2);
    // Far longer than the test, so that units refill only by `wait`.
    const interval = 1_000_000_000;
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ kind: fc.constant('take' as const), by: fc.integer({ min: 1, max: 3 }) }),
      },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('back' as const), by: fc.nat(20) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), by: fc.nat(6) }) },
    );
    const walks = fc.array(step, { minLength: 4, maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(walks, fc.integer({ min: 3, max: 6 }), async (walk, burst) => {
        const key = `{${randomUUID()}}`;
        const keys = [key, `${key}:back`];
        let at = 0;
        const takings: { at: number; cost: number; stamp: number; kept: boolean }[] = [];
        const take = async (cost: number): Promise<boolean> => {
          const [[allowed, , , , stamp] = []] = (await takeUnits(
            ...keys,
            2,
            'gcra',
            interval,
            burst,
            cost,
          )) as number[][];
          if (allowed === 1) takings.push({ at, cost, stamp: stamp ?? 0, kept: true });
          return allowed === 1;
        };
        for (const { kind, by } of walk) {
          if (kind === 'take') await take(by);
          if (kind === 'wait') {
            at += by / 2;
            const passed = (by / 2) * interval;
            for (const each of takings) each.stamp -= passed;
            if (await hand.exists(key)) await hand.decrby(key, passed);
            for (const [index, entry] of (await hand.lrange(`${key}:back`, 0, -2)).entries()) {
              const [stamp, micros] = entry.split(' ');
              await hand.lset(`${key}:back`, index, `${Number(stamp) - passed} ${micros}`);
            }
          }
          const taking = kind === 'back' ? takings[by % (takings.length || 1)] : undefined;
          if (taking?.kept) {
            taking.kept = false;
            await returnUnits(...keys, 'gcra', interval, taking.cost, taking.stamp);
          }
        }
        while (await take(1));
        let level = burst;
        let last = 0;
        for (const each of takings.filter(({ kept }) => kept)) {
          level = Math.min(burst, level + each.at - last) - each.cost;
          last = each.at;
          expect(level).toBeGreaterThan(-0.01);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('units returned in any order are available again', async () => {
    const takeUnits = connection.script('testTakeAll', scriptNamed('rate-limit'), 2);
    const returnUnits = connection.script('testReturnAllUnits', scriptNamed('return-units'), 2);
    const interval = 1_000_000_000;
    const costs = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 8 });
    const drawn = costs.chain((all) => {
      const places = all.map((_, place) => place);
      return fc.record({
        all: fc.constant(all),
        order: fc.shuffledSubarray(places, { minLength: all.length }),
        kept: fc.nat(all.length - 1),
      });
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ all, order, kept }) => {
        const key = `{${randomUUID()}}`;
        const keys = [key, `${key}:back`];
        const burst = 30;
        const take = async (cost: number) =>
          (await takeUnits(...keys, 2, 'gcra', interval, burst, cost)) as readonly (readonly number[])[];
        const stamps: number[] = [];
        for (const cost of all) stamps.push((await take(cost))[0]?.[4] ?? 0);
        for (const place of order.filter((each) => each !== kept))
          await returnUnits(...keys, 'gcra', interval, all[place] ?? 0, stamps[place] ?? 0);
        // A little of the kept units has refilled.
        expect((await take(burst - (all[kept] ?? 0)))[0]?.slice(0, 2)).toEqual([1, 0]);
      }),
      { numRuns: 25 },
    );
  });

  it('units returned by a refused request are available again, in a bucket and in a log', async () => {
    const key = `{${randomUUID()}}`;
    const used = { key: `{${randomUUID()}}:all`, limit: limitOf(1, 3_600_000), cost: 1 };
    const store = createRedisRateLimitStore(connection, { startDeadline: () => startStoreDeadline(5000) });
    await store.take(used);
    const mine = [
      { key: `${key}:default`, limit: limitOf(10, 3_600_000), cost: 3 },
      { key: `${key}:log`, limit: { ...limitOf(10, 3_600_000), algorithm: 'sliding-log' as const }, cost: 3 },
    ];
    const answers = await store.takeAll([...mine, used]);
    expect(answers.map((each) => each?.allowed)).toEqual([true, true, false]);
    expect(answers.map((each) => each?.remaining)).toEqual([10, 10, 0]);
    const again = await store.takeAll(mine.map((take) => ({ ...take, cost: 10 })));
    expect(again.map((each) => each?.allowed)).toEqual([true, true]);
  });

  it('RL-13: a stall of this process between two calls does not count as a late answer', async () => {
    const take = () => ({ key: `{${randomUUID()}}:all`, limit: limitOf(10, 3_600_000), cost: 1 });
    const answers = createRedisRateLimitStore(connection).takeAll([take(), take()]);
    for (const until = performance.now() + 80; performance.now() < until; );
    expect((await answers).map((each) => each?.remaining)).toEqual([9, 9]);
  });

  it.each([null, 'OK', [], [null], [['1', '9', '0', '0', '0']], [[1, 9, 0, 0]]])(
    'RL-13: %j instead of buckets makes the store unavailable',
    async (reply) => {
      const garbled = { ...connection, script: () => async () => reply };
      const take = { key: randomUUID(), limit: limitOf(10, 60_000), cost: 1 };
      const taking = createRedisRateLimitStore(garbled).take(take);
      await expect(taking).rejects.toBeInstanceOf(StoreUnavailable);
    },
  );

  it('RL-13: an error reply makes the store unavailable for that take; later takes reach Redis', async () => {
    const key = randomUUID();
    await hand.lpush(bucketOf(key), 'not a number');
    const store = createRedisRateLimitStore(connection);
    const limit = limitOf(10, 60_000);
    await expect(store.take({ key, limit, cost: 1 })).rejects.toBeInstanceOf(StoreUnavailable);
    await hand.del(bucketOf(key));
    expect(await store.take({ key, limit, cost: 1 })).toMatchObject({ allowed: true });
  });
});

describe('gateways whose answers from Redis are late or lost', () => {
  const limit = limitOf(50, 3_600_000);
  let stack: AsyncDisposableStack;
  let redis: RunningRedis;
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    redis = stack.adopt(await startRedis(), ({ stop }) => stop());
  });
  afterEach(() => stack.disposeAsync());

  async function overLine(): Promise<{ connection: RedisConnection; line: FaultProxy }> {
    const line = stack.use(await startFaultProxy(redis.port));
    const connection = await connectRedis(`redis://127.0.0.1:${line.port}`, quiet);
    stack.defer(connection.close);
    return { connection, line };
  }

  it('200 concurrent takes by gateways of different latency use the limit exactly', async () => {
    const gateways = [await overLine(), await overLine()];
    const stores = gateways.map(({ connection, line }, index) => {
      line.delay(3 + 17 * index);
      return createRedisRateLimitStore(connection);
    });
    const key = randomUUID();
    const takes = Array.from({ length: 100 }, () =>
      stores.map((store) => store.take({ key, limit, cost: 1 })),
    );
    const taken = await Promise.all(takes.flat());
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(50);
    expect(new Set(taken.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).size).toBe(50);
  });

  it('RL-13: an answer slower than 50 ms is used within store_timeout', async () => {
    const line = stack.use(await startFaultProxy(redis.port));
    const stores = await openStores({
      store: { kind: 'redis', url: `redis://127.0.0.1:${line.port}` },
      ...{ storeTimeoutMs: 20_000, replicas: 1, monotonic: () => performance.now() },
      onState: () => undefined,
      onFault: (error) => expect.fail(String(error)),
    });
    stack.defer(stores.close);
    line.delay(100);
    const quota = await takeOne(stores.limiter, { key: randomUUID(), limit, cost: 1 }, { exact: true });
    expect(quota).toMatchObject({ kind: 'counted', allowed: true });
  });

  it('a take whose answer was lost is not resent, so it is counted once', async () => {
    const { connection, line } = await overLine();
    const store = createRedisRateLimitStore(connection);
    const key = randomUUID();
    const take = () => store.take({ key, limit, cost: 1 });
    expect(await take()).toMatchObject({ remaining: 49 });
    line.cutAfter(2);
    await expect(take()).rejects.toBeInstanceOf(StoreUnavailable);
    line.cutAfter(undefined);
    const again = await vi.waitFor(take, { timeout: 10_000, interval: 20 });
    expect(again).toMatchObject({ allowed: true, remaining: 47 });
  });
});

describe('the connection to Redis', () => {
  it('is not ready if no server listens, and the reason contains no URL', async () => {
    const states: boolean[] = [];
    const port = await closedPort();
    const connection = await connectRedis(`redis://operator:tr0ub4dor@127.0.0.1:${port}`, {
      onState: (up) => states.push(up),
    });
    const store = createRedisRateLimitStore(connection);
    const refused: unknown = await Promise.resolve(
      store.take({ key: 'k', limit: limitOf(1, 1000), cost: 1 }),
    ).catch((error: unknown) => error);
    expect(connection).toMatchObject({ ready: false, problem: 'ECONNREFUSED' });
    expect(refused).toBeInstanceOf(StoreUnavailable);
    expect(String(refused)).toBe('Error: Redis is unavailable (ECONNREFUSED)');
    expect(states).toEqual([]);
    connection.close();
  });

  it('the reason for a refused password does not contain the password', async () => {
    const url = new URL(inject('redisUrl'));
    url.username = 'nobody';
    url.password = 'tr0ub4dor';
    const connection = await connectRedis(url.href, { onState: () => undefined });
    expect(connection).toMatchObject({ ready: false, problem: 'WRONGPASS' });
    connection.close();
  });

  it('the error for another scheme contains no part of the URL', async () => {
    await expect(connectRedis('http://operator:tr0ub4dor@host', quiet)).rejects.toThrow(
      /^this is not the URL of a Redis$/,
    );
  });
});

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 1;
}
