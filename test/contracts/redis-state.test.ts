// What gateways share on Redis while Redis stalls, dies, forgets, or has more to tell than it kept.
import { performance } from 'node:perf_hooks';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { PinKey, PinStore } from '../../gateway/policy/versioning/pin.ts';
import { openStores } from '../../gateway/stores/open-stores.ts';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { refusesAll } from '../../gateway/stores/redis/failures.ts';
import { openSharedState } from '../../gateway/stores/redis/shared-state.ts';
import { type RunningRedis, startRedis } from '../support/redis-server.ts';
import { onFault, openShared } from './lasting-stores.ts';
import { pauseFrom } from './override-store.ts';
import { newKey, pinOf } from './pin-store.ts';

/** The promise is 50 ms; the rest is for a machine that runs other tests at the same time. */
const ANSWER_MS = 50 + 250;
const CHANGES = 'sundial:{state}:changes';
const away = { code: 'store_unavailable' };
const patient = { timeout: 10_000, interval: 20 };

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function redisOfOwn(options?: { readonly port: number }): Promise<RunningRedis> {
  const redis = await startRedis(options);
  cleanups.push(redis.stop);
  return redis;
}

async function gatewayOn({ url }: RunningRedis) {
  const state = await openShared(url);
  cleanups.push(state.close);
  return state;
}

function handOn({ url }: RunningRedis): Redis {
  const hand = new Redis(url);
  cleanups.push(() => hand.disconnect());
  return hand;
}

/** A gateway as it is in production, its deadlines included. */
async function hurriedGatewayOn({ url }: RunningRedis, told: string[] = []) {
  const connection = await connectRedis(url, { onState: () => undefined });
  const state = await openSharedState(connection, { onFault: (error) => told.push(String(error)) });
  cleanups.push(state.close);
  return { ...state, connection };
}

/** How long `find` took to say that the store is away. */
async function timeToRefuse(pins: PinStore, key: PinKey): Promise<number> {
  const before = performance.now();
  await expect((async () => pins.find(key))()).rejects.toMatchObject(away);
  return performance.now() - before;
}

describe('while Redis is away', () => {
  it.each(['stalled', 'killed'])(
    'RL-13: %s: an unknown pin is refused in time, a known one is there',
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
      await expect(published.write([])).rejects.toMatchObject(away);
      expect(overrides.current()).toBe(before);
      redis.resume();
    },
  );

  it('a gateway that starts without it knows no pause until it comes, and then knows them all', async () => {
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

describe('a look at the changes', () => {
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

  it('takes over what happened while this gateway was cut off, as long as the stream has it', async () => {
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

  it('where the stream was trimmed beyond what this gateway has seen, everything is read anew', async () => {
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

  it('the stream stays short', async () => {
    const redis = await redisOfOwn();
    const hand = handOn(redis);
    const filling = hand.pipeline();
    for (let i = 0; i < 12_000; i++) filling.xadd(CHANGES, '*', 'pin', 'x');
    await filling.exec();
    const one = await gatewayOn(redis);
    await one.pins.replace(newKey(), undefined, pinOf('v1'));
    expect(await hand.xlen(CHANGES)).toBeLessThan(10_200);
  });

  it('a Redis that came back empty has no pins, and gets the pauses back from whoever knew them', async () => {
    const first = await redisOfOwn();
    const told: string[] = [];
    const { pins, overrides, refresh } = await hurriedGatewayOn(first, told);
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
    expect(told).toEqual(['Error: the store has lost what it knew; overrides written back: 1']);
  });

  it('a Redis that came back as it was earlier gets the pauses back that it had forgotten', async () => {
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

  it('a pause that was ended while this gateway was cut off does not come back', async () => {
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

  it('a Redis that came back without a claim is asked anew, so that gateways agree', async () => {
    const redis = await redisOfOwn();
    const [one, hand] = [await hurriedGatewayOn(redis), handOn(redis)];
    const key = newKey();
    await one.pins.claim(key, pinOf('v1'));
    await one.refresh();
    expect(await one.pins.find(key)).toEqual(pinOf('v1'));
    // What a failover may lose: the last writes, and nothing before them.
    const [last] = await hand.xrevrange(CHANGES, '+', '-', 'COUNT', 1);
    await hand.xdel(CHANGES, last?.[0] ?? '');
    await hand.del(...(await hand.keys('sundial:{state}:pin:*')));
    await one.refresh();
    expect(await one.pins.find(key)).toBeUndefined();
  });

  it('a Redis that lost its last writes gets the pause back, also where others have written since', async () => {
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

  it('looks at once are one look', async () => {
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
    ['of another kind', { kind: 'boost' }],
    ['with no end', { until: undefined }],
    ['that ends after all time', { until: 1e300 }],
    ['that begins within a millisecond', { from: 0.5 }],
  ])('an override %s is left out and told of, the others stay', async (_name, changed) => {
    const redis = await redisOfOwn();
    const connection = await connectRedis(redis.url, { onState: () => undefined, answerWithinMs: 5000 });
    const told: unknown[] = [];
    const state = await openSharedState(connection, { onFault: (error) => told.push(error) });
    cleanups.push(state.close);
    const pause = pauseFrom(1000);
    const odd = JSON.stringify({ ...pauseFrom(1000, { id: 'x' }), ...changed });
    await handOn(redis).hset('sundial:{state}:overrides', 'x', odd);
    await state.overrides.put(pause);
    await state.refresh();
    expect(state.overrides.current()).toEqual([pause]);
    expect(told).toHaveLength(1);
  });
});

describe('what is no pin', () => {
  it.each(['garbage', ''])(
    '%j counts as none, on every gateway, until the next first call',
    async (rubbish) => {
      const redis = await redisOfOwn();
      const told: string[] = [];
      const one = await hurriedGatewayOn(redis, told);
      const key = newKey();
      await handOn(redis).set(`sundial:{state}:pin:${JSON.stringify([key.api, key.account])}`, rubbish);
      await vi.waitFor(async () => expect(await one.pins.find(key)).toBeUndefined(), patient);
      expect(told).toEqual([expect.stringContaining('what is stored as a pin is none')]);
      expect(await one.pins.claim(key, pinOf('v1'))).toEqual(pinOf('v1'));
      const other = await gatewayOn(redis);
      expect(await other.pins.find(key)).toEqual(pinOf('v1'));
    },
  );
});

describe('a Redis that answers and refuses', () => {
  it('is told of by its own word, once for a minute of refusals', async () => {
    const redis = await redisOfOwn();
    const told: string[] = [];
    const states: boolean[] = [];
    let now = 0;
    const stores = await openStores({
      store: { kind: 'redis', url: redis.url },
      replicas: 1,
      monotonic: () => now,
      onState: (up) => states.push(up),
      onFault: (error) => told.push(String(error)),
    });
    cleanups.push(stores.close);
    await vi.waitFor(() => stores.pins.claim(newKey(), pinOf('v1')), patient);
    expect(told).toEqual([]);
    const hand = handOn(redis);
    await hand.config('SET', 'maxmemory', '1');
    const refused = () => expect(stores.overrides.put(pauseFrom(1000))).rejects.toMatchObject(away);
    for (let i = 0; i < 3; i++) await refused();
    expect(told).toEqual(['Error: Redis refuses what is asked of it (OOM)']);
    now = 60_000;
    await refused();
    expect(told).toHaveLength(2);
    // It answers, and is no store for as long as it keeps nothing: what is read comes all the same.
    expect(states).toEqual([true, false]);
    expect(await stores.pins.find(newKey())).toBeUndefined();
    await hand.config('SET', 'maxmemory', '0');
    await vi.waitFor(() => expect(states).toEqual([true, false, true]), patient);
  });

  it.each([
    ['for its keys', ['+@all', '~other:*'], ['+@all', '~sundial:*']],
    ['for what scripts do', ['+@scripting', '+info', '~sundial:*'], ['+@read', '+@write', '+time']],
  ])('is no store while the user has no leave %s', async (_what, before, after) => {
    const redis = await redisOfOwn();
    const hand = handOn(redis);
    await hand.call('ACL', 'SETUSER', 'sundial', 'on', '>pass', ...before);
    const [states, told]: [boolean[], string[]] = [[], []];
    const url = redis.url.replace('//', '//sundial:pass@');
    const options = {
      onState: (up: boolean) => states.push(up),
      onRefused: (code: string) => told.push(code),
    };
    const connection = await connectRedis(url, options);
    const state = await openSharedState(connection, { onFault });
    cleanups.push(state.close);
    await vi.waitFor(() => expect(states).toEqual([true, false]), patient);
    expect(new Set(told)).toEqual(new Set(['NOPERM']));
    await hand.call('ACL', 'SETUSER', 'sundial', ...after);
    await vi.waitFor(() => expect(states).toEqual([true, false, true]), patient);
    await state.overrides.put(pauseFrom(1000));
  });

  it('comes back after it was slow, also to a user without leave for PING', async () => {
    const redis = await redisOfOwn();
    await handOn(redis).call('ACL', 'SETUSER', 'sundial', 'on', '>pass', '+@all', '-ping', '~sundial:*');
    const connection = await connectRedis(redis.url.replace('//', '//sundial:pass@'), {
      onState: () => undefined,
    });
    cleanups.push(connection.close);
    const read = connection.script('sundialTestGet', "return redis.call('GET', KEYS[1])", 1);
    redis.pause();
    cleanups.push(redis.resume);
    for (let call = 0; call < 3; call += 1) await expect(read('sundial:x')).rejects.toMatchObject(away);
    expect(connection.ready).toBe(false);
    redis.resume();
    await vi.waitFor(async () => expect(await read('sundial:x')).toBeNull(), patient);
  });

  it('is up where it refuses one thing that is wrong for itself', async () => {
    const redis = await redisOfOwn();
    const states: boolean[] = [];
    const connection = await connectRedis(redis.url, { onState: (up) => states.push(up) });
    cleanups.push(connection.close);
    await handOn(redis).set('text', 'text');
    const read = connection.script('sundialTestList', "return redis.call('LRANGE', KEYS[1], 0, -1)", 1);
    await expect(read('text')).rejects.toMatchObject(away);
    expect(states).toEqual([true]);
  });

  it.each([
    ["OOM command not allowed when used memory > 'maxmemory'. script: f00, on @user_script:13.", true],
    [
      'ERR Error running script (call to f_f00): @user_script:13: @user_script: 13: -OOM command not allowed',
      true,
    ],
    [
      'MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
      true,
    ],
    ["READONLY You can't write against a read only replica.", true],
    ['NOREPLICAS Not enough good replicas to write.', true],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', false],
    ["NOPERM User default has no permissions to run the 'set' command", false],
    ["NOPERM this user has no permissions to run the 'evalsha' command", true],
    ['NOPERM this user has no permissions to access one of the keys used as arguments', true],
    ['NOPERM No permissions to access a key', true],
    [
      "ERR The user executing the script can't run this command or subcommand script: 8e1, on @user_script:1.",
      true,
    ],
    ["ERR ACL failure in script: User s has no permissions to run the 'time' command script: 8e1", true],
    ['NOAUTH Authentication required.', true],
    ['LOADING Redis is loading the dataset in memory', true],
    ['BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.', true],
    ['CLUSTERDOWN The cluster is down', true],
    ['MOVED 3999 127.0.0.1:6381', false],
    ['ERR value is not an integer: -OOMPH', false],
  ])('takes what no command would get round for a store that is down: %s', (message, is) => {
    expect(refusesAll(message)).toBe(is);
  });

  it.each([
    ['is full', (hand: Redis) => hand.config('SET', 'maxmemory', '1')],
    ['has become a replica', (hand: Redis) => hand.replicaof('127.0.0.1', 1)],
  ])('%s: what it holds is known to who starts now, and to who looks', async (_how, makeRefuse) => {
    const redis = await redisOfOwn();
    const [hand, one] = [handOn(redis), await gatewayOn(redis)];
    const [first, second] = [pauseFrom(1000), pauseFrom(2000)];
    await one.overrides.put(first);
    const other = await gatewayOn(redis);
    await one.overrides.put(second);
    await hand.config('SET', 'replica-serve-stale-data', 'yes');
    await makeRefuse(hand);
    await other.refresh();
    expect(other.overrides.current()).toEqual([first, second]);
    expect((await gatewayOn(redis)).overrides.current()).toEqual([first, second]);
    await expect(one.overrides.put(pauseFrom(3000))).rejects.toMatchObject(away);
  });

  it('a database it does not have is no store, and no other stands in for it', async () => {
    const redis = await redisOfOwn();
    const [states, told]: [boolean[], string[]] = [[], []];
    const stores = await openStores({
      store: { kind: 'redis', url: `${redis.url.replace(/\/$/, '')}/99` },
      replicas: 1,
      monotonic: () => 0,
      onState: (up) => states.push(up),
      onFault: (error) => told.push(String(error)),
    });
    cleanups.push(stores.close);
    await expect(stores.overrides.put(pauseFrom(1000))).rejects.toMatchObject(away);
    expect(states).not.toContain(true);
    expect(told).toEqual(['Error: Redis refuses what is asked of it (no such database)']);
    expect(await handOn(redis).dbsize()).toBe(0);
  });

  it('a password it does not take is told of, and not shown', async () => {
    const redis = await redisOfOwn();
    const url = new URL(redis.url);
    url.password = 'tr0ub4dor';
    await handOn(redis).config('SET', 'requirepass', 'another');
    const told: string[] = [];
    const stores = await openStores({
      store: { kind: 'redis', url: url.href },
      replicas: 1,
      monotonic: () => 0,
      onState: () => undefined,
      onFault: (error) => told.push(String(error)),
    });
    cleanups.push(stores.close);
    expect(told).toEqual(['Error: Redis refuses what is asked of it (WRONGPASS)']);
  });
});

describe('two gateways on one Redis', () => {
  it('learn of each other’s pauses and moved pins by themselves', async () => {
    const redis = await redisOfOwn();
    const open = async () => {
      const stores = await openStores({
        store: { kind: 'redis', url: redis.url },
        replicas: 2,
        monotonic: () => performance.now(),
        onState: () => undefined,
        onFault,
      });
      cleanups.push(stores.close);
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
