// The stores on a real Redis Cluster: one slot per script, migrating slots, an unavailable primary.
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import type { Taken } from '../../gateway/policy/rate-limit/limit.ts';
import { slotOf } from '../../gateway/stores/redis/cluster-map.ts';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { createRedisRateLimitStore } from '../../gateway/stores/redis/rate-limit.ts';
import { type ClusterNode, type RunningCluster, startRedisCluster } from '../support/redis-cluster.ts';
import { openShared } from './lasting-stores.ts';
import { everyRecord, newWriter, usageOf } from './ledger-store.ts';
import { pauseFrom } from './override-store.ts';
import { newKey, pinOf } from './pin-store.ts';
import { limitOf } from './rate-limit-store.ts';

const patient = { timeout: 20_000, interval: 20 };
const limit = limitOf(10, 3_600_000);

let cluster: RunningCluster;
beforeAll(async () => {
  cluster = await startRedisCluster({ primaries: 2 });
});
afterAll(() => cluster[Symbol.asyncDispose]());

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function gateway(answerWithinMs = 5_000) {
  const states: boolean[] = [];
  const refused: string[] = [];
  const connection = await connectRedis(cluster.url, {
    onState: (up) => states.push(up),
    onRefused: (code) => refused.push(code),
    answerWithinMs,
  });
  cleanups.push(connection.close);
  const store = createRedisRateLimitStore(connection);
  const take = async (key: string): Promise<Taken> => store.take({ key, limit, cost: 1 });
  return { connection, states, refused, take };
}

let made = 0;
const slotOfBucket = (key: string): number => slotOf(`sundial:limit:${key}`);
/** A key whose bucket is on the first or the second primary. */
function keyAt(primary: 0 | 1): string {
  for (;;) {
    made += 1;
    const key = `{consumer:${made}}:orders:v1:default`;
    if (Math.floor(slotOfBucket(key) / 8_192) === primary) return key;
  }
}
const [first, second] = [() => nodeAt(0), () => nodeAt(1)];
function nodeAt(index: number): ClusterNode {
  const node = cluster.primaries[index];
  if (node === undefined) throw new Error('no such primary');
  return node;
}

/** Counts the requests for the slot map during `done`. */
async function looksSince(done: () => Promise<void>): Promise<number> {
  const requests = async (): Promise<number> => {
    const stats = await Promise.all([first(), second()].map(({ byHand }) => byHand('INFO', 'commandstats')));
    return stats
      .map((text) => Number(/cmdstat_cluster\|slots:calls=(\d+)/.exec(String(text))?.[1] ?? 0))
      .reduce((sum, calls) => sum + calls);
  };
  const before = await requests();
  await done();
  return (await requests()) - before;
}

describe('a Redis Cluster', () => {
  it('computes the slots of keys as Redis does', async () => {
    const part = fc.oneof(fc.string(), fc.constantFrom('{', '}', '{}', 'ü'));
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 5 }), async (parts) => {
        const key = parts.join('');
        expect(await first().byHand('CLUSTER', 'KEYSLOT', key)).toBe(slotOf(key));
      }),
      { numRuns: 200 },
    );
  });

  it('counts limits on every primary, from the first URL that answers', async () => {
    const { take, states, refused, connection } = await gateway();
    for (const key of [keyAt(0), keyAt(1)]) {
      expect([(await take(key)).remaining, (await take(key)).remaining]).toEqual([9, 8]);
    }
    expect([states, refused, connection.ready]).toEqual([[true], [], true]);
  });

  it('keeps pins, pauses and published schedules: no script crosses slots', async () => {
    const [one, other] = [await openShared(cluster.url), await openShared(cluster.url)];
    cleanups.push(one.close, other.close);
    const key = newKey();
    expect(await one.pins.claim(key, pinOf('2026-03-01'))).toMatchObject({ label: '2026-03-01' });
    const current = await other.pins.find(key);
    expect(current).toMatchObject({ label: '2026-03-01' });
    expect(await other.pins.replace(key, current, pinOf('2026-06-01'))).toBe(true);
    const pause = pauseFrom(1000);
    await one.overrides.put(pause);
    await one.published.write([], '');
    await other.refresh();
    await one.refresh();
    expect(other.overrides.current()).toEqual([pause]);
    expect(await one.pins.find(key)).toMatchObject({ label: '2026-06-01' });
    expect((await other.published.read()).entries).toEqual([]);
    expect(await other.overrides.remove(pause.id)).toBe(true);
  });

  it('MOVED: a take on a migrated slot is counted, and the new node is used from then on', async () => {
    const { take, states, refused } = await gateway();
    const key = keyAt(0);
    const slot = slotOfBucket(key);
    const give = async (to: ClusterNode) => {
      for (const { byHand } of [to, first(), second()])
        await byHand('CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
    };
    await give(second());
    expect((await take(key)).remaining).toBe(9);
    const errors = async () => String(await first().byHand('INFO', 'errorstats'));
    await vi.waitFor(async () => {
      const before = await errors();
      await take(keyAt(0));
      expect(await take(key).then(errors)).toBe(before);
    }, patient);
    await second().byHand('DEL', `sundial:limit:${key}`);
    await give(first());
    expect((await take(key)).remaining).toBe(9);
    expect([states, refused]).toEqual([[true], []]);
  });

  it('ASK: a new bucket of a migrating slot is made on the target node', async () => {
    const { take } = await gateway();
    const key = keyAt(0);
    const slot = slotOfBucket(key);
    await second().byHand('CLUSTER', 'SETSLOT', slot, 'IMPORTING', first().id);
    await first().byHand('CLUSTER', 'SETSLOT', slot, 'MIGRATING', second().id);
    const looks = await looksSince(async () => {
      for (const remaining of [9, 8, 7, 6, 5, 4]) expect((await take(key)).remaining).toBe(remaining);
    });
    // ASK does not change the slot map. The timer may read it once from each server.
    expect(looks).toBeLessThanOrEqual(2);
    expect(await second().byHand('CLUSTER', 'COUNTKEYSINSLOT', slot)).toBe(1);
    for (const { byHand } of [second(), first()])
      await byHand('CLUSTER', 'SETSLOT', slot, 'NODE', second().id);
    expect((await take(key)).remaining).toBe(3);
  });

  it('ASK: the ledger is unavailable while its slot migrates, and no call is counted twice', async () => {
    const { ledger, close } = await openShared(cluster.url);
    cleanups.push(close);
    const batch = newWriter();
    await ledger.add(batch([usageOf()]));
    const slot = slotOf('sundial:ledger:{usage}');
    const [from, to] = slot < 8_192 ? [first(), second()] : [second(), first()];
    await to.byHand('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
    await from.byHand('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
    const waiting = batch([usageOf(), usageOf({ consumer: 'newcomer' })]);
    const isAway = async () => {
      await expect(ledger.add(waiting)).rejects.toMatchObject({ code: 'store_unavailable' });
      await expect(everyRecord(ledger)).rejects.toMatchObject({ code: 'store_unavailable' });
    };
    await isAway();
    const keys = (await from.byHand('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as readonly string[];
    for (const key of keys) {
      expect(await from.byHand('MIGRATE', '127.0.0.1', to.server.port, key, 0, 5_000)).toBe('OK');
      await isAway();
    }
    for (const { byHand } of [to, from]) await byHand('CLUSTER', 'SETSLOT', slot, 'NODE', to.id);
    await ledger.add(waiting);
    expect(await everyRecord(ledger)).toMatchObject([
      { consumer: 'acme', callsByDay: { '2026-11-20': 2 } },
      { consumer: 'newcomer', callsByDay: { '2026-11-20': 1 } },
    ]);
  });

  it('RL-13: a primary without answers affects only its keys, and delays only the first takes', async () => {
    const { take, states, connection } = await gateway(30);
    const [frozen, well] = [keyAt(1), keyAt(0)];
    await vi.waitFor(() => Promise.all([take(frozen), take(well)]), patient);
    second().server.pause();
    cleanups.push(second().server.resume);
    for (let call = 0; call < 3; call += 1) await expect(take(frozen)).rejects.toThrow(/TIMEOUT|away/);
    expect(connection.ready).toBe(false);
    expect(states.at(-1)).toBe(false);
    const began = performance.now();
    await Promise.allSettled(Array.from({ length: 100 }, () => take(frozen)));
    expect(performance.now() - began).toBeLessThan(300);
    await vi.waitFor(async () => expect((await take(well)).allowed).toBe(true), patient);
    second().server.resume();
    await vi.waitFor(async () => expect((await take(frozen)).allowed).toBe(true), patient);
    await vi.waitFor(() => expect(states.at(-1)).toBe(true), patient);
  });

  it('CLUSTERDOWN: a cluster without one of its slots is unavailable until it has all slots', async () => {
    const { take, states, refused } = await gateway();
    const slot = slotOfBucket('nobody asks for it');
    const holder = Math.floor(slot / 8_192) === 0 ? first() : second();
    for (const { byHand } of [first(), second()]) await byHand('CLUSTER', 'DELSLOTS', slot);
    const key = keyAt(0);
    await vi.waitFor(() => expect(take(key)).rejects.toThrow('CLUSTERDOWN'), patient);
    expect(states).toEqual([true, false]);
    expect(refused).toContain('CLUSTERDOWN');
    await holder.byHand('CLUSTER', 'ADDSLOTS', slot);
    await vi.waitFor(() => expect(states.at(-1)).toBe(true), patient);
    expect(await take(key)).toMatchObject({ allowed: true });
  });

  it('a cluster URL of a single Redis is unavailable, and the log gives the reason', async () => {
    const refused: string[] = [];
    const connection = await connectRedis(inject('redisUrl').replace('redis://', 'redis+cluster://'), {
      onState: () => undefined,
      onRefused: (code) => refused.push(code),
    });
    cleanups.push(connection.close);
    expect(connection.ready).toBe(false);
    await vi.waitFor(() => expect(refused).toContain('no cluster'), patient);
  });
});
