// What only the Redis store promises: its clock, its expiry, its script, and that its URL stays a secret.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import { connectRedis, type RedisConnection } from '../../gateway/stores/redis/connect.ts';
import { createRedisRateLimitStore } from '../../gateway/stores/redis/rate-limit.ts';
import { type FaultyLine, startFaultyLine } from '../support/faulty-line.ts';
import { type RunningRedis, startRedis } from '../support/redis-server.ts';
import { limitOf } from './rate-limit-store.ts';

const quiet = { onState: () => undefined, answerWithinMs: 5000 };
const bucketOf = (key: string): string => `sundial:limit:${key}`;

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

  it('RL-10: time is that of Redis in whole microseconds, whatever this process believes', async () => {
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

  it('RL-10: an expired bucket is gone from Redis', async () => {
    const key = randomUUID();
    await createRedisRateLimitStore(connection).take({ key, limit: limitOf(1, 20), cost: 1 });
    await vi.waitFor(async () => expect(await hand.exists(bucketOf(key))).toBe(0), {
      timeout: 20_000,
      interval: 5,
    });
  });

  it('RL-10: a Redis that has lost the script is given it again within the same take', async () => {
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

  it('RL-13: an error reply is a store that is not available, and later takes still reach Redis', async () => {
    const key = randomUUID();
    await hand.lpush(bucketOf(key), 'not a number');
    const store = createRedisRateLimitStore(connection);
    const limit = limitOf(10, 60_000);
    await expect(store.take({ key, limit, cost: 1 })).rejects.toBeInstanceOf(StoreUnavailable);
    await hand.del(bucketOf(key));
    expect(await store.take({ key, limit, cost: 1 })).toMatchObject({ allowed: true });
  });
});

describe('gateways whose answers from Redis come late or not at all', () => {
  const limit = limitOf(50, 3_600_000);
  let stack: AsyncDisposableStack;
  let redis: RunningRedis;
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    redis = stack.adopt(await startRedis(), ({ stop }) => stop());
  });
  afterEach(() => stack.disposeAsync());

  async function overLine(): Promise<{ connection: RedisConnection; line: FaultyLine }> {
    const line = stack.use(await startFaultyLine(redis.port));
    const connection = await connectRedis(`redis://127.0.0.1:${line.port}`, quiet);
    stack.defer(connection.close);
    return { connection, line };
  }

  it('promise 28: of 200 takes at once, each gateway late by its own time, exactly the limit is admitted', async () => {
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

  it('promise 28: a take whose answer was lost on the way is not sent again: it is counted once', async () => {
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
  it('is not ready, without an exception, when nobody listens; the reason names no URL', async () => {
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
    expect(String(refused)).toBe('Error: Redis is away (ECONNREFUSED)');
    expect(states).toEqual([]);
    connection.close();
  });

  it('a refused password is a reason without the password in it', async () => {
    const url = new URL(inject('redisUrl'));
    url.username = 'nobody';
    url.password = 'tr0ub4dor';
    const connection = await connectRedis(url.href, { onState: () => undefined });
    expect(connection).toMatchObject({ ready: false, problem: 'WRONGPASS' });
    connection.close();
  });

  it('another scheme is refused in words that repeat nothing of the URL', async () => {
    await expect(connectRedis('http://operator:tr0ub4dor@host', quiet)).rejects.toThrow(
      /^a Redis URL begins with redis:\/\/ or rediss:\/\/$/,
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
