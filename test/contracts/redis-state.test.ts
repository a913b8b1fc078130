// Shared state on a Redis that stalls or dies, and the propagation of changes between gateways.
import { performance } from 'node:perf_hooks';
import { describe, expect, it, vi } from 'vitest';
import type { PinKey, PinStore } from '../../gateway/policy/versioning/pin.ts';
import { openStores } from '../../gateway/stores/open-stores.ts';
import { onFault } from './lasting-stores.ts';
import { pauseFrom } from './override-store.ts';
import { newKey, pinOf } from './pin-store.ts';
import { away, patient, redisForEachTest } from './redis-of-own.ts';

const { defer, gatewayOn, handOn, hurriedGatewayOn, redisOfOwn } = redisForEachTest();

/** RL-13 allows 50 ms. The rest is for a machine that runs other tests at the same time. */
const ANSWER_MS = 50 + 250;

/** The time until `find` rejects as unavailable. */
async function timeToRefuse(pins: PinStore, key: PinKey): Promise<number> {
  const before = performance.now();
  await expect((async () => pins.find(key))()).rejects.toMatchObject(away);
  return performance.now() - before;
}

describe('while Redis is unavailable', () => {
  it.each(['stalled', 'killed'])(
    'RL-13: %s: a find of an unknown pin is rejected in time, and a known pin is found',
    async (how) => {
      const redis = await redisOfOwn();
      const { pins, overrides, refresh, published } = await hurriedGatewayOn(redis);
      const [known, unpinned] = [newKey(), newKey()];
      const pause = pauseFrom(1000);
      await vi.waitFor(async () => {
        await pins.claim(known, pinOf('v1'));
        await pins.find(unpinned);
        await overrides.put(pause);
      }, patient);
      const before = overrides.current();

      if (how === 'stalled') redis.pause();
      else await redis.stop();
      for (let i = 0; i < 5; i++) expect(await timeToRefuse(pins, newKey())).toBeLessThan(ANSWER_MS);
      expect(pins.find(known)).toEqual(pinOf('v1'));
      expect(pins.find(unpinned)).toBeUndefined();

      await refresh();
      expect(overrides.current()).toBe(before);
      await expect(overrides.put(pauseFrom(2000))).rejects.toMatchObject(away);
      await expect(overrides.remove(pause.id)).rejects.toMatchObject(away);
      await expect(published.read()).rejects.toMatchObject(away);
      await expect(published.write([], '')).rejects.toMatchObject(away);
      expect(overrides.current()).toBe(before);
      redis.resume();
    },
  );

  it('a gateway that starts without Redis has no pauses, and gets all of them later', async () => {
    const gone = await redisOfOwn();
    await gone.stop();
    const late = await hurriedGatewayOn(gone);
    expect(late.overrides.current()).toEqual([]);
    const redis = await redisOfOwn({ port: gone.port });
    const other = await gatewayOn(redis);
    const pause = pauseFrom(1000);
    await other.overrides.put(pause);
    await vi.waitFor(async () => {
      await late.refresh();
      expect(late.overrides.current()).toEqual([pause]);
    }, patient);
  });
});

describe('an unreadable pin', () => {
  it.each(['garbage', ''])(
    '%j counts as no pin, on every gateway, until the next first call',
    async (rubbish) => {
      const redis = await redisOfOwn();
      const reported: string[] = [];
      const one = await hurriedGatewayOn(redis, reported);
      const key = newKey();
      await handOn(redis).set(`sundial:{state}:pin:${JSON.stringify([key.api, key.account])}`, rubbish);
      await vi.waitFor(async () => expect(await one.pins.find(key)).toBeUndefined(), patient);
      expect(reported).toEqual([expect.stringContaining('a stored pin is unreadable')]);
      expect(await one.pins.claim(key, pinOf('v1'))).toEqual(pinOf('v1'));
      const other = await gatewayOn(redis);
      expect(await other.pins.find(key)).toEqual(pinOf('v1'));
    },
  );
});

describe('two gateways on one Redis', () => {
  it('receive pauses and moved pins of each other without an explicit refresh', async () => {
    const redis = await redisOfOwn();
    const open = async () => {
      const stores = await openStores({
        store: { kind: 'redis', url: redis.url },
        replicas: 2,
        monotonic: () => performance.now(),
        onState: () => undefined,
        onFault,
      });
      defer(stores.close);
      return stores;
    };
    const [one, other] = [await open(), await open()];
    const key = newKey();
    await vi.waitFor(() => one.pins.claim(key, pinOf('v1')), patient);
    await vi.waitFor(async () => expect(await other.pins.find(key)).toEqual(pinOf('v1')), patient);
    await one.pins.replace(key, pinOf('v1'), pinOf('v2'));
    await one.overrides.put(pauseFrom(1000));
    await vi.waitFor(async () => {
      expect(await other.pins.find(key)).toEqual(pinOf('v2'));
      expect(other.overrides.current()).toEqual(one.overrides.current());
    }, patient);
  });
});
