// A Redis per test that can stall, die or lose data, and gateways on it; they end with the test.
import { Redis } from 'ioredis';
import { afterEach } from 'vitest';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { openSharedState } from '../../gateway/stores/redis/shared-state.ts';
import { type RunningRedis, startRedis } from '../support/redis-server.ts';
import { openShared } from './lasting-stores.ts';

export const CHANGES = 'sundial:{state}:changes';
export const away = { code: 'store_unavailable' };
export const patient = { timeout: 10_000, interval: 20 };
export interface RedisForEachTest {
  /** Runs `cleanup` after the test, the latest first. */
  readonly defer: (cleanup: () => unknown) => void;
  readonly redisOfOwn: (options?: Parameters<typeof startRedis>[0]) => Promise<RunningRedis>;
  readonly gatewayOn: (redis: RunningRedis) => ReturnType<typeof openShared>;
  readonly handOn: (redis: RunningRedis) => Redis;
  /** A gateway with the deadlines of production. */
  readonly hurriedGatewayOn: (redis: RunningRedis, reported?: string[]) => Promise<HurriedGateway>;
}

type HurriedGateway = Awaited<ReturnType<typeof openSharedState>> & {
  readonly connection: Awaited<ReturnType<typeof connectRedis>>;
};

/** Must be called once, at the top of a test file. */
export function redisForEachTest(): RedisForEachTest {
  const cleanups: (() => unknown)[] = [];
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
  const defer = (cleanup: () => unknown): void => void cleanups.push(cleanup);
  return {
    defer,
    redisOfOwn: async (options) => {
      const redis = await startRedis(options);
      defer(redis.stop);
      return redis;
    },
    gatewayOn: async ({ url }) => {
      const state = await openShared(url);
      defer(state.close);
      return state;
    },
    handOn: ({ url }) => {
      const hand = new Redis(url);
      defer(() => hand.disconnect());
      return hand;
    },
    hurriedGatewayOn: async ({ url }, reported = []) => {
      const connection = await connectRedis(url, { onState: () => undefined });
      const state = await openSharedState(connection, { onFault: (error) => reported.push(String(error)) });
      defer(state.close);
      return { ...state, connection };
    },
  };
}
