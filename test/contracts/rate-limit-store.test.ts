// Runs the contract of rate-limit stores on each store: in memory, Redis, and leases over both.
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import type { RateLimitStore } from '../../gateway/policy/rate-limit/limit.ts';
import { createEmbeddedRateLimitStore } from '../../gateway/stores/embedded/rate-limit.ts';
import { createLeasingStore } from '../../gateway/stores/leases.ts';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { createRedisRateLimitStore } from '../../gateway/stores/redis/rate-limit.ts';
import { startStoreDeadline } from '../../gateway/stores/store-deadline.ts';
import { exactStoreContract } from './exact-store.ts';
import { rateLimitStoreContract, type StoreUnderTest } from './rate-limit-store.ts';

type Wrap = (store: RateLimitStore, now: () => number) => RateLimitStore;

const bare: Wrap = (store) => store;
const leased: Wrap = (store, now) => createLeasingStore(store, { now });

async function embedded(wrap: Wrap): Promise<StoreUnderTest> {
  let time = 1_000_000;
  const now = (): number => time;
  const store = createEmbeddedRateLimitStore({ now });
  return {
    clients: [wrap(store, now), wrap(store, now), wrap(store, now), wrap(store, now)],
    advance: async (_key, ms) => {
      time += ms;
    },
    close: () => undefined,
  };
}

/** Simulates time by setting back the state in Redis, which has its own clock. Leases read simulated time. */
async function redis(wrap: Wrap): Promise<StoreUnderTest> {
  const url = inject('redisUrl');
  const hand = new Redis(url);
  let passed = 0;
  const now = (): number => passed;
  const connect = async () => connectRedis(url, { onState: () => undefined, answerWithinMs: 5000 });
  const connections = await Promise.all([connect(), connect(), connect(), connect()] as const);
  const [first, ...rest] = connections.map((connection) =>
    wrap(createRedisRateLimitStore(connection, { startDeadline: () => startStoreDeadline(5000) }), now),
  );
  if (first === undefined) throw new Error('no client');
  return {
    clients: [first, ...rest],
    advance: async (key, ms) => {
      passed += ms;
      const bucket = `sundial:limit:${key}`;
      if (await hand.exists(bucket)) await hand.decrby(bucket, ms * 1000);
      const log = await hand.lrange(`${bucket}:log`, 0, -1);
      for (const [index, at] of log.entries())
        await hand.lset(`${bucket}:log`, index, String(Number(at) - ms * 1000));
    },
    close: () => {
      hand.disconnect();
      for (const connection of connections) connection.close();
    },
  };
}

rateLimitStoreContract('embedded', () => embedded(bare));
rateLimitStoreContract('leases over embedded', () => embedded(leased));
rateLimitStoreContract('redis', () => redis(bare));
rateLimitStoreContract('leases over redis', () => redis(leased));
exactStoreContract('embedded', () => embedded(bare));
exactStoreContract('redis', () => redis(bare));
