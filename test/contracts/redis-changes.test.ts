// Tests of reading changes from Redis, also after Redis has lost data or trimmed its stream.
import { describe, expect, it, vi } from 'vitest';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { openSharedState } from '../../gateway/stores/redis/shared-state.ts';
import { pauseFrom } from './override-store.ts';
import { newKey, pinOf } from './pin-store.ts';
import { CHANGES, patient, redisForEachTest } from './redis-of-own.ts';

const { defer, gatewayOn, handOn, hurriedGatewayOn, redisOfOwn } = redisForEachTest();

describe('a refresh', () => {
  it('forgets exactly the pins that were moved', async () => {
    const redis = await redisOfOwn();
    const [one, other] = [await gatewayOn(redis), await gatewayOn(redis)];
    const keys = Array.from({ length: 10 }, newKey);
    for (const key of keys) await one.pins.claim(key, pinOf('v1'));
    for (const key of keys) await other.pins.find(key);
    await other.refresh();
    const [moved, removed, ...rest] = keys;
    if (moved === undefined || removed === undefined) throw new Error('no keys');
    await one.pins.replace(moved, pinOf('v1'), pinOf('v2'));
    await one.pins.replace(removed, pinOf('v1'), undefined);
    await other.refresh();
    for (const key of rest) expect(other.pins.find(key)).toEqual(pinOf('v1'));
    expect(other.pins.find(moved)).toBeInstanceOf(Promise);
    expect(await other.pins.find(moved)).toEqual(pinOf('v2'));
    expect(await other.pins.find(removed)).toBeUndefined();
  });

  it('applies the changes that other gateways made since the last refresh', async () => {
    const redis = await redisOfOwn();
    const [one, other] = [await gatewayOn(redis), await gatewayOn(redis)];
    const moved = newKey();
    await other.pins.find(moved);
    for (let i = 0; i < 300; i++) await one.pins.replace(newKey(), undefined, pinOf(`v${i}`));
    await one.pins.replace(moved, undefined, pinOf('v1'));
    await one.overrides.put(pauseFrom(1000));
    await other.refresh();
    expect(await other.pins.find(moved)).toEqual(pinOf('v1'));
    expect(other.overrides.current()).toEqual(one.overrides.current());
  });

  it('reads everything again if the stream was trimmed beyond its last entry', async () => {
    const redis = await redisOfOwn();
    const [one, other] = [await gatewayOn(redis), await gatewayOn(redis)];
    const [moved, still] = [newKey(), newKey()];
    for (const key of [moved, still]) await other.pins.claim(key, pinOf('v1'));
    await one.pins.replace(moved, pinOf('v1'), pinOf('v2'));
    await one.overrides.put(pauseFrom(1000));
    await handOn(redis).xtrim(CHANGES, 'MAXLEN', 1);
    await other.refresh();
    expect(other.pins.find(still)).toBeInstanceOf(Promise);
    expect(await other.pins.find(moved)).toEqual(pinOf('v2'));
    expect(other.overrides.current()).toEqual(one.overrides.current());
  });

  it('the stream is trimmed to about 10,000 entries', async () => {
    const redis = await redisOfOwn();
    const hand = handOn(redis);
    const filling = hand.pipeline();
    for (let i = 0; i < 12_000; i++) filling.xadd(CHANGES, '*', 'pin', 'x');
    await filling.exec();
    const one = await gatewayOn(redis);
    await one.pins.replace(newKey(), undefined, pinOf('v1'));
    expect(await hand.xlen(CHANGES)).toBeLessThan(10_200);
  });

  it('an emptied Redis gets its pauses back from gateways that know them, but no pins', async () => {
    const first = await redisOfOwn();
    const reported: string[] = [];
    const { pins, overrides, refresh } = await hurriedGatewayOn(first, reported);
    const key = newKey();
    const kept = pauseFrom(1000);
    await vi.waitFor(async () => {
      await pins.claim(key, pinOf('v1'));
      await overrides.put(kept);
    }, patient);
    await first.stop();
    const second = await redisOfOwn({ port: first.port });
    const other = await gatewayOn(second);
    const added = pauseFrom(2000);
    await other.overrides.put(added);
    await vi.waitFor(async () => {
      await refresh();
      expect(overrides.current()).toEqual([kept, added]);
    }, patient);
    await other.refresh();
    expect(other.overrides.current()).toEqual([kept, added]);
    expect(await pins.find(key)).toBeUndefined();
    expect(reported).toEqual(['Error: Redis has lost data; overrides written back: 1']);
  });

  it('a Redis restored to an earlier state gets later pauses back', async () => {
    const redis = await redisOfOwn();
    const [state, hand] = [await hurriedGatewayOn(redis), handOn(redis)];
    const [early, late] = [pauseFrom(1000), pauseFrom(2000)];
    await state.overrides.put(early);
    const [last] = await hand.xrevrange(CHANGES, '+', '-', 'COUNT', 1);
    await state.overrides.put(late);
    await state.refresh();
    await hand.hdel('sundial:{state}:overrides', late.id);
    await hand.del(CHANGES);
    await hand.xadd(CHANGES, last?.[0] ?? '', 'override', early.id);
    await state.refresh();
    expect(state.overrides.current()).toEqual([early, late]);
    expect((await gatewayOn(redis)).overrides.current()).toEqual([early, late]);
  });

  it('a pause that another gateway ended is not written back, even if the stream was trimmed', async () => {
    const redis = await redisOfOwn();
    const [one, other] = [await gatewayOn(redis), await gatewayOn(redis)];
    const pause = pauseFrom(1000);
    await one.overrides.put(pause);
    await other.refresh();
    await one.overrides.remove(pause.id);
    await handOn(redis).xtrim(CHANGES, 'MAXLEN', 1);
    await one.pins.replace(newKey(), undefined, pinOf('v1'));
    await other.refresh();
    expect(other.overrides.current()).toEqual([]);
  });

  it('a pin is dropped from the cache if Redis has lost its claim', async () => {
    const redis = await redisOfOwn();
    const [one, hand] = [await hurriedGatewayOn(redis), handOn(redis)];
    const key = newKey();
    await one.pins.claim(key, pinOf('v1'));
    await one.refresh();
    expect(await one.pins.find(key)).toEqual(pinOf('v1'));
    // A failover can lose the last writes, but no earlier ones.
    const [last] = await hand.xrevrange(CHANGES, '+', '-', 'COUNT', 1);
    await hand.xdel(CHANGES, last?.[0] ?? '');
    await hand.del(...(await hand.keys('sundial:{state}:pin:*')));
    await one.refresh();
    expect(await one.pins.find(key)).toBeUndefined();
  });

  it('a Redis that lost its last writes gets the pause back, even after later writes', async () => {
    const redis = await redisOfOwn();
    const [state, hand] = [await hurriedGatewayOn(redis), handOn(redis)];
    const [early, late] = [pauseFrom(1000), pauseFrom(2000)];
    await state.overrides.put(early);
    await state.overrides.put(late);
    await state.refresh();
    const [last] = await hand.xrevrange(CHANGES, '+', '-', 'COUNT', 1);
    await hand.xdel(CHANGES, last?.[0] ?? '');
    await hand.hdel('sundial:{state}:overrides', late.id);
    await (await gatewayOn(redis)).pins.claim(newKey(), pinOf('v1'));
    await state.refresh();
    expect(state.overrides.current()).toEqual([early, late]);
    expect((await gatewayOn(redis)).overrides.current()).toEqual([early, late]);
  });

  it('concurrent refreshes share one read', async () => {
    const redis = await redisOfOwn();
    const state = await gatewayOn(redis);
    const hand = handOn(redis);
    const calls = async () =>
      Number(/cmdstat_evalsha:calls=(\d+)/.exec(await hand.info('commandstats'))?.[1] ?? 0);
    const before = await calls();
    await Promise.all(Array.from({ length: 20 }, state.refresh));
    expect((await calls()) - before).toBe(1);
  });

  it.each([
    ['of an unknown kind', { kind: 'boost' }],
    ['without an end', { until: undefined }],
    ['with an end out of range', { until: 1e300 }],
    ['with a start between milliseconds', { from: 0.5 }],
  ])('an override %s is skipped and reported, and the others are kept', async (_name, changed) => {
    const redis = await redisOfOwn();
    const connection = await connectRedis(redis.url, { onState: () => undefined, answerWithinMs: 5000 });
    const reported: unknown[] = [];
    const state = await openSharedState(connection, { onFault: (error) => reported.push(error) });
    defer(state.close);
    const pause = pauseFrom(1000);
    const odd = JSON.stringify({ ...pauseFrom(1000, { id: 'x' }), ...changed });
    await handOn(redis).hset('sundial:{state}:overrides', 'x', odd);
    await state.overrides.put(pause);
    await state.refresh();
    expect(state.overrides.current()).toEqual([pause]);
    expect(reported).toHaveLength(1);
  });
});
