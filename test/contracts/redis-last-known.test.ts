// Pauses on a Redis that loses its data, also while the gateway restarts.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openStores } from '../../gateway/stores/open-stores.ts';
import { connectRedis, type RedisConnection } from '../../gateway/stores/redis/connect.ts';
import { openSharedState } from '../../gateway/stores/redis/shared-state.ts';
import type { Stores } from '../../gateway/stores/stores.ts';
import { type RunningRedis, startRedis } from '../support/redis-server.ts';
import { pauseFrom } from './override-store.ts';

const patient = { timeout: 10_000, interval: 20 };
const FILE = 'redis-pauses.json';

let base: string;
const cleanups: (() => unknown)[] = [];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'sundial-known-'));
  cleanups.push(() => rmSync(base, { recursive: true, force: true }));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function redisOfOwn(port = 0): Promise<RunningRedis> {
  const redis = await startRedis({ port });
  cleanups.push(redis.stop);
  return redis;
}

/** The stores of a gateway, opened as in production, with a data folder that survives a restart. */
async function gatewayOn(url: string, { folder = base, reported = [] as string[] } = {}): Promise<Stores> {
  const stores = await openStores({
    store: { kind: 'redis', url },
    dataFolder: folder,
    replicas: 1,
    monotonic: () => performance.now(),
    onState: () => undefined,
    onFault: (error) => reported.push(String(error)),
  });
  cleanups.push(stores.close);
  return stores;
}

const idsOf = ({ overrides }: Pick<Stores, 'overrides'>) => overrides.current().map(({ id }) => id);
const pauseOn = (stores: Stores, id: string) =>
  vi.waitFor(() => stores.overrides.put(pauseFrom(1000, { id })), patient);

describe('a Redis that is emptied between a read and a write', () => {
  it.each(['put', 'remove'] as const)('%s: known pauses stay and are written back', async (write) => {
    const redis = await redisOfOwn();
    const hand = new Redis(redis.url);
    cleanups.push(() => hand.disconnect());
    const connection = await connectRedis(redis.url, { onState: () => undefined, answerWithinMs: 5000 });
    let empties = false;
    const treacherous: RedisConnection = {
      ...connection,
      script: (name, ...rest) => {
        const call = connection.script(name, ...rest);
        return async (...args) => {
          if (empties && name === 'sundialChangeOverride') await hand.flushall();
          return call(...args);
        };
      },
    };
    const state = await openSharedState(treacherous, { onFault: () => undefined });
    cleanups.push(state.close);
    const pauses = [pauseFrom(1000, { id: 'a' }), pauseFrom(2000, { id: 'b' })];
    for (const pause of pauses) await state.overrides.put(pause);
    await state.refresh();
    empties = true;
    if (write === 'put') await state.overrides.put(pauseFrom(3000, { id: 'c' }));
    else await state.overrides.remove('nobody');
    const left = write === 'put' ? ['a', 'b', 'c'] : ['a', 'b'];
    expect(idsOf(state)).toEqual(left);
    // A refresh can time out on a busy machine. The next one writes the pauses back.
    await vi.waitFor(async () => {
      await state.refresh();
      expect((await hand.hkeys('sundial:{state}:overrides')).toSorted()).toEqual(left);
    }, patient);
    expect(idsOf(state)).toEqual(left);
  });
});

it('an emptied Redis is recognised even if its stream has the last seen entry id', async () => {
  const redis = await redisOfOwn();
  const hand = new Redis(redis.url);
  cleanups.push(() => hand.disconnect());
  const connection = await connectRedis(redis.url, { onState: () => undefined, answerWithinMs: 5000 });
  const state = await openSharedState(connection, { onFault: () => undefined });
  cleanups.push(state.close);
  await state.overrides.put(pauseFrom(1000, { id: 'a' }));
  await state.refresh();
  const [[seen = ''] = []] = await hand.xrevrange('sundial:{state}:changes', '+', '-', 'COUNT', 1);
  await hand.flushall();
  await hand.xadd('sundial:{state}:changes', seen, 'override', 'c');
  await state.refresh();
  expect(await hand.hkeys('sundial:{state}:overrides')).toEqual(['a']);
  expect(idsOf(state)).toEqual(['a']);
});

describe('a gateway that restarts', () => {
  it('while Redis is unavailable keeps its pauses, and writes them to an empty Redis', async () => {
    const redis = await redisOfOwn();
    const before = await gatewayOn(redis.url);
    await pauseOn(before, 'a');
    await redis.stop();
    await before.close();

    const reported: string[] = [];
    const again = await gatewayOn(redis.url, { reported });
    expect(idsOf(again)).toEqual(['a']);
    const empty = await redisOfOwn(redis.port);
    const other = await gatewayOn(empty.url, { folder: join(base, 'other') });
    await vi.waitFor(() => expect(idsOf(other)).toEqual(['a']), patient);
    expect(reported).toContain('Error: Redis has lost data; overrides written back: 1');
  });

  it('writes its pauses to a Redis that was emptied meanwhile', async () => {
    const redis = await redisOfOwn();
    const before = await gatewayOn(redis.url);
    await pauseOn(before, 'a');
    await before.close();
    await redis.stop();
    const empty = await redisOfOwn(redis.port);
    const again = await gatewayOn(empty.url);
    await vi.waitFor(() => expect(idsOf(again)).toEqual(['a']), patient);
  });

  it('does not write back a pause that was ended meanwhile', async () => {
    const redis = await redisOfOwn();
    const [before, other] = [
      await gatewayOn(redis.url),
      await gatewayOn(redis.url, { folder: join(base, 'other') }),
    ];
    await pauseOn(before, 'a');
    await vi.waitFor(() => expect(idsOf(other)).toEqual(['a']), patient);
    await before.close();
    await other.overrides.remove('a');
    const again = await gatewayOn(redis.url);
    await vi.waitFor(() => expect(idsOf(again)).toEqual([]), patient);
    expect(idsOf(other)).toEqual([]);
  });

  it('does not use the state of another Redis', async () => {
    const [redis, another] = [await redisOfOwn(), await redisOfOwn()];
    const before = await gatewayOn(redis.url);
    await pauseOn(before, 'a');
    await before.close();
    expect(idsOf(await gatewayOn(another.url))).toEqual([]);
    expect(idsOf(await gatewayOn(`${another.url}/1`))).toEqual([]);
  });

  it('stores the last known state for its owner only, without the password of the store', async () => {
    const redis = await redisOfOwn();
    const url = redis.url.replace('redis://', 'redis://default:tr0ub4dor@');
    const stores = await gatewayOn(url);
    await pauseOn(stores, 'a');
    await stores.close();
    expect(readdirSync(base)).toEqual([FILE]);
    expect(statSync(join(base, FILE)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(base, FILE), 'utf8')).not.toContain('tr0ub4dor');
  });

  it.each(['', '{', '[]', '{"origin":1}', '\u0000'])(
    'reports a file that contains %j, and replaces it',
    async (text) => {
      const redis = await redisOfOwn();
      writeFileSync(join(base, FILE), text);
      const reported: string[] = [];
      const stores = await gatewayOn(redis.url, { reported });
      await pauseOn(stores, 'a');
      await stores.close();
      expect(reported).toEqual([`Error: ${join(base, FILE)} is unreadable and will be replaced`]);
      await redis.stop();
      expect(idsOf(await gatewayOn(redis.url))).toEqual(['a']);
    },
  );

  it('reports a folder that cannot be written, once, and keeps working', async () => {
    const redis = await redisOfOwn();
    const file = join(base, 'file');
    writeFileSync(file, '');
    const reported: string[] = [];
    const stores = await gatewayOn(redis.url, { folder: file, reported });
    for (const id of ['a', 'b', 'c']) await pauseOn(stores, id);
    await stores.close();
    expect(reported).toEqual([expect.stringContaining('ENOTDIR')]);
  });
});
