// The order in which the tests look for a Redis.
import { describe, expect, it } from 'vitest';
import { findRedis, findRedisProgram, type RedisEnvironment } from './support/find-redis.ts';

const unpacked = { command: '/cache/redis-server', libraryPath: '/cache/lib' };

const machine = (
  has: Partial<RedisEnvironment> & { readonly commands?: readonly string[] },
): RedisEnvironment => ({
  redisUrl: undefined,
  onPath: (command) => (has.commands?.includes(command) ? `/bin/${command}` : undefined),
  unpack: undefined,
  installLine: 'brew install redis',
  ...has,
});

const unpack = async () => unpacked;
const noUnpack = async () => expect.fail('nothing is unpacked when a server is at hand');

describe('finding a Redis for the tests', () => {
  it('REDIS_URL comes before anything on the machine', async () => {
    const environment = machine({
      redisUrl: 'redis://ci:6379',
      commands: ['redis-server'],
      unpack: noUnpack,
    });
    expect(await findRedis(environment)).toEqual({ kind: 'url', url: 'redis://ci:6379' });
  });

  it('an empty REDIS_URL is ignored', async () => {
    expect(await findRedis(machine({ redisUrl: '', commands: ['redis-server'] }))).toMatchObject({
      kind: 'program',
    });
  });

  it('redis-server on the PATH comes before valkey-server', async () => {
    const environment = machine({ commands: ['valkey-server', 'redis-server'], unpack: noUnpack });
    expect(await findRedis(environment)).toEqual({
      kind: 'program',
      program: { command: '/bin/redis-server', libraryPath: undefined },
    });
  });

  it('valkey-server on the PATH comes before unpacked packages', async () => {
    const environment = machine({ commands: ['valkey-server'], unpack: noUnpack });
    expect(await findRedis(environment)).toMatchObject({ program: { command: '/bin/valkey-server' } });
  });

  it('packages are unpacked when the PATH has no server', async () => {
    expect(await findRedis(machine({ unpack }))).toEqual({ kind: 'program', program: unpacked });
  });

  it('a test that kills its server never uses REDIS_URL', async () => {
    expect(await findRedisProgram(machine({ redisUrl: 'redis://ci:6379', unpack }))).toEqual(unpacked);
  });

  it('without any server, the error has the command that installs one', async () => {
    await expect(findRedis(machine({}))).rejects.toThrow('brew install redis');
  });

  it('if packages cannot be unpacked, the error has that command and the reason', async () => {
    const failing = machine({
      installLine: 'sudo apt-get install redis-server',
      unpack: async () => {
        throw new Error('no network');
      },
    });
    await expect(findRedis(failing)).rejects.toThrow(/sudo apt-get install redis-server[\s\S]*no network/);
  });
});
