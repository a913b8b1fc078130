// A Redis that replies with errors: when it counts as unavailable, what is reported, which reads work.
import type { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { openStores } from '../../gateway/stores/open-stores.ts';
import { connectRedis } from '../../gateway/stores/redis/connect.ts';
import { refusesAll } from '../../gateway/stores/redis/failures.ts';
import { openSharedState } from '../../gateway/stores/redis/shared-state.ts';
import { onFault } from './lasting-stores.ts';
import { pauseFrom } from './override-store.ts';
import { newKey, pinOf } from './pin-store.ts';
import { away, patient, redisForEachTest } from './redis-of-own.ts';

const { defer, gatewayOn, handOn, redisOfOwn } = redisForEachTest();

describe('a Redis that replies with errors', () => {
  it('is reported with its error code, once per minute', async () => {
    const redis = await redisOfOwn();
    const reported: string[] = [];
    const states: boolean[] = [];
    let now = 0;
    const stores = await openStores({
      store: { kind: 'redis', url: redis.url },
      replicas: 1,
      monotonic: () => now,
      onState: (up) => states.push(up),
      onFault: (error) => reported.push(String(error)),
    });
    defer(stores.close);
    await vi.waitFor(() => stores.pins.claim(newKey(), pinOf('v1')), patient);
    expect(reported).toEqual([]);
    const hand = handOn(redis);
    await hand.config('SET', 'maxmemory', '1');
    const refused = () => expect(stores.overrides.put(pauseFrom(1000))).rejects.toMatchObject(away);
    for (let i = 0; i < 3; i++) await refused();
    expect(reported).toEqual(['Error: Redis refuses an operation (OOM)']);
    now = 60_000;
    await refused();
    expect(reported).toHaveLength(2);
    // Redis accepts no writes, so the store is down. Reads still work.
    expect(states).toEqual([true, false]);
    expect(await stores.pins.find(newKey())).toBeUndefined();
    await hand.config('SET', 'maxmemory', '0');
    await vi.waitFor(() => expect(states).toEqual([true, false, true]), patient);
  });

  it.each([
    ['for its keys', ['+@all', '~other:*'], ['+@all', '~sundial:*']],
    ['for the commands in scripts', ['+@scripting', '+info', '~sundial:*'], ['+@read', '+@write', '+time']],
  ])('is down while the user has no permission %s', async (_what, before, after) => {
    const redis = await redisOfOwn();
    const hand = handOn(redis);
    await hand.call('ACL', 'SETUSER', 'sundial', 'on', '>pass', ...before);
    const [states, reported]: [boolean[], string[]] = [[], []];
    const url = redis.url.replace('//', '//sundial:pass@');
    const options = {
      onState: (up: boolean) => states.push(up),
      onRefused: (code: string) => reported.push(code),
    };
    const connection = await connectRedis(url, options);
    const state = await openSharedState(connection, { onFault });
    defer(state.close);
    await vi.waitFor(() => expect(states).toEqual([true, false]), patient);
    expect(new Set(reported)).toEqual(new Set(['NOPERM']));
    await hand.call('ACL', 'SETUSER', 'sundial', ...after);
    await vi.waitFor(() => expect(states).toEqual([true, false, true]), patient);
    await state.overrides.put(pauseFrom(1000));
  });

  it('gets only health probes while it is LOADING, because it answers slowly then', async () => {
    const redis = await redisOfOwn({ more: ['--enable-debug-command', 'yes'] });
    const hand = handOn(redis);
    await hand.call('DEBUG', 'POPULATE', '3000');
    await hand.config('SET', 'key-load-delay', '1000', 'loading-process-events-interval-bytes', '1024');
    const connection = await connectRedis(redis.url, { onState: () => undefined });
    const { overrides, close } = await openSharedState(connection, { onFault });
    defer(close);
    await overrides.put(pauseFrom(1000));
    const reloaded = hand.call('DEBUG', 'RELOAD');
    const refusal = async () => String(await overrides.put(pauseFrom(2000)).catch(String));
    await expect.poll(refusal, patient).toContain('(LOADING)');
    expect(await refusal()).toContain('is unavailable (LOADING)');
    await reloaded;
    await vi.waitFor(() => overrides.put(pauseFrom(3000)), patient);
  });

  it('is used again after a stall, also by a user without permission for PING', async () => {
    const redis = await redisOfOwn();
    await handOn(redis).call('ACL', 'SETUSER', 'sundial', 'on', '>pass', '+@all', '-ping', '~sundial:*');
    const connection = await connectRedis(redis.url.replace('//', '//sundial:pass@'), {
      onState: () => undefined,
    });
    defer(connection.close);
    const read = connection.script('sundialTestGet', "return redis.call('GET', KEYS[1])", 1);
    redis.pause();
    defer(redis.resume);
    for (let call = 0; call < 3; call += 1) await expect(read('sundial:x')).rejects.toMatchObject(away);
    expect(connection.ready).toBe(false);
    redis.resume();
    await vi.waitFor(async () => expect(await read('sundial:x')).toBeNull(), patient);
  });

  it('stays up after an error that concerns a single command', async () => {
    const redis = await redisOfOwn();
    const states: boolean[] = [];
    const connection = await connectRedis(redis.url, { onState: (up) => states.push(up) });
    defer(connection.close);
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
  ])('counts as down only after errors that concern every command: %s', (message, is) => {
    expect(refusesAll(message)).toBe(is);
  });

  it.each([
    ['without free memory', (hand: Redis) => hand.config('SET', 'maxmemory', '1')],
    ['as a replica', (hand: Redis) => hand.replicaof('127.0.0.1', 1)],
  ])('is read %s, at start and at a refresh', async (_how, makeRefuse) => {
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

  it('that lacks the configured database is unavailable, and no other database is used', async () => {
    const redis = await redisOfOwn();
    const [states, reported]: [boolean[], string[]] = [[], []];
    const stores = await openStores({
      store: { kind: 'redis', url: `${redis.url.replace(/\/$/, '')}/99` },
      replicas: 1,
      monotonic: () => 0,
      onState: (up) => states.push(up),
      onFault: (error) => reported.push(String(error)),
    });
    defer(stores.close);
    await expect(stores.overrides.put(pauseFrom(1000))).rejects.toMatchObject(away);
    expect(states).not.toContain(true);
    expect(reported).toEqual(['Error: Redis refuses an operation (no such database)']);
    expect(await handOn(redis).dbsize()).toBe(0);
  });

  it('that refuses the password is reported, without the password', async () => {
    const redis = await redisOfOwn();
    const url = new URL(redis.url);
    url.password = 'tr0ub4dor';
    await handOn(redis).config('SET', 'requirepass', 'another');
    const reported: string[] = [];
    const stores = await openStores({
      store: { kind: 'redis', url: url.href },
      replicas: 1,
      monotonic: () => 0,
      onState: () => undefined,
      onFault: (error) => reported.push(String(error)),
    });
    defer(stores.close);
    expect(reported).toEqual(['Error: Redis refuses an operation (WRONGPASS)']);
  });
});
