// Runs the contract of webhooks stores on SQLite and a real Redis, and tests of Redis alone.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { newDelivery } from '../../upstreams/webhooks/delivery.ts';
import { openRedisStore } from '../../upstreams/webhooks/redis/store.ts';
import { openSqliteStore } from '../../upstreams/webhooks/sqlite/store.ts';
import { StoreUnavailable } from '../../upstreams/webhooks/store.ts';
import { startRedis } from '../support/redis-server.ts';
import { eventOf, finishOn, keepsTheContract, LEASE_MS, type StorePlace } from './webhook-store.ts';

const HOLDER = join(import.meta.dirname, '../support/webhook-holder.ts');

async function holdWith(count: number, ...args: readonly string[]) {
  const child = spawn(process.execPath, [HOLDER, String(LEASE_MS), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  await expect.poll(() => printed.split('\n').length - 1, { interval: 20 }).toBe(count);
  const kill = async () => {
    const gone = once(child, 'close');
    child.kill('SIGKILL');
    await gone;
  };
  return { kill };
}

keepsTheContract('SQLite', async (): Promise<StorePlace> => {
  const folder = await mkdtemp(join(tmpdir(), 'sundial-webhooks-'));
  const file = join(folder, 'webhooks.db');
  return {
    open: async () => openSqliteStore({ file, now: Date.now }),
    holdInAnotherProcess: (count) => holdWith(count, 'sqlite', file),
    dispose: () => rm(folder, { recursive: true, force: true }),
  };
});

function redisPlace(url: string): StorePlace & { readonly prefix: string } {
  const prefix = `{webhooks-${randomUUID()}}:`;
  return {
    prefix,
    open: () => openRedisStore({ url, prefix, now: Date.now, onFault: () => undefined }),
    holdInAnotherProcess: (count) => holdWith(count, 'redis', url, prefix),
    dispose: async () => {
      const redis = new Redis(url);
      const keys = await redis.keys(`${prefix}*`);
      if (keys.length > 0) await redis.del(...keys);
      redis.disconnect();
    },
  };
}

keepsTheContract('Redis', async () => redisPlace(inject('redisUrl')));

describe('the store on Redis', () => {
  it('adds jobs again that Redis has lost', async () => {
    const url = inject('redisUrl');
    const place = redisPlace(url);
    const store = await place.open();
    const delivery = newDelivery(eventOf('evt_1', Date.now()), 'wh_1', Date.now());
    await store.keep(eventOf('evt_1'), [delivery]);
    const redis = new Redis(url);
    const jobs = await redis.keys(`${place.prefix}queue*`);
    expect(jobs).not.toEqual([]);
    await redis.del(...jobs);
    redis.disconnect();
    const handed: string[] = [];
    const work = store.work(
      (id) => {
        handed.push(id);
        return finishOn(store)(id);
      },
      { concurrency: 1, leaseMs: LEASE_MS, onFault: () => undefined },
    );
    await expect.poll(() => handed).toEqual([delivery.id]);
    await work.stop();
    await store.close();
    await place.dispose();
  });

  it('reports the settings of a Redis that would lose acknowledged events', async () => {
    const { url, stop } = await startRedis({ more: ['--maxmemory-policy', 'allkeys-lru'] });
    const faults: unknown[] = [];
    const store = await openRedisStore({ url, now: Date.now, onFault: (fault) => faults.push(fault) });
    await expect
      .poll(() => faults)
      .toEqual([
        'this Redis loses acknowledged events when it stops: set appendonly yes, not no',
        'this Redis may evict events when memory is full: set maxmemory-policy noeviction, not allkeys-lru',
      ]);
    await store.close();
    await stop();
  });

  it('is unavailable while Redis is down, at start and later, and works again afterwards', async () => {
    const more = ['--appendonly', 'yes'];
    const { port, url, stop } = await startRedis();
    await stop();
    const place = redisPlace(url);
    const store = await place.open();
    const handed: string[] = [];
    const work = store.work(
      (id) => {
        handed.push(id);
        return finishOn(store)(id);
      },
      { concurrency: 1, leaseMs: LEASE_MS, onFault: () => undefined },
    );
    const ids: string[] = [];
    for (const time of [1, 2]) {
      await expect(store.keep(eventOf(`evt_lost_${time}`), [])).rejects.toThrow(StoreUnavailable);
      const redis = await startRedis({ port, more });
      await expect
        .poll(() => store.keep(eventOf(`evt_back_${time}`), []).catch(() => 'away'))
        .not.toBe('away');
      const delivery = newDelivery(eventOf(`evt_${time}`), 'wh_1', Date.now());
      await store.keep(eventOf(`evt_${time}`), [delivery]);
      ids.push(delivery.id);
      await expect.poll(() => handed).toEqual(ids);
      await redis.stop();
    }
    await work.stop();
    await store.close();
  });
});
