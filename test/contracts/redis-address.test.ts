// Tests of Redis URLs: valid and invalid forms, and the printed form.
import { describe, expect, it } from 'vitest';
import { redisAddress, serverName, withoutLogin } from '../../gateway/stores/redis-address.ts';

const noLogin = { username: undefined, password: undefined };
const at = (host: string, port: number) => ({ host, port });

describe('the URL of a Redis', () => {
  it.each([
    [
      'redis://cache',
      { kind: 'single', secure: false, servers: [at('cache', 6379)], login: noLogin, database: 0 },
    ],
    ['rediss://cache:6380/3', { kind: 'single', secure: true, servers: [at('cache', 6380)], database: 3 }],
    ['redis://cache/', { kind: 'single', database: 0 }],
    ['redis://:p%40ss@cache', { kind: 'single', login: { username: undefined, password: 'p@ss' } }],
    ['redis://maria:a:b@c/d@cache', { login: { username: 'maria', password: 'a:b@c/d' } }],
    ['redis://[::1]:7000', { servers: [at('::1', 7000)] }],
    ['redis+cluster://a:1,b', { kind: 'cluster', secure: false, servers: [at('a', 1), at('b', 6379)] }],
    [
      'rediss+cluster://u:p@[fe80::1]/',
      { kind: 'cluster', secure: true, login: { username: 'u', password: 'p' } },
    ],
    [
      'redis+sentinel://a,b:2/my-master',
      {
        kind: 'sentinel',
        servers: [at('a', 26_379), at('b', 2)],
        primary: 'my-master',
        database: 0,
        login: noLogin,
        sentinelLogin: noLogin,
      },
    ],
    ['redis+sentinel://:data@a/main/2', { database: 2, login: { password: 'data' }, sentinelLogin: noLogin }],
    [
      'rediss+sentinel://u:data@:watch@a/main',
      { secure: true, login: { username: 'u', password: 'data' }, sentinelLogin: { password: 'watch' } },
    ],
  ])('%s is valid', (url, expected) => {
    expect(redisAddress(url)).toMatchObject(expected);
  });

  it.each([
    ['another scheme', 'http://cache:6379'],
    ['an unknown kind of deployment', 'redis+proxy://cache'],
    ['no host', 'redis://'],
    ['no host after the login', 'redis://user:secret@'],
    ['an empty name in a list', 'redis+cluster://a,,b'],
    ['an invalid port', 'redis://cache:65536'],
    ['port 0', 'redis://cache:0'],
    ['two servers without a kind', 'redis://a,b'],
    ['a database by name', 'redis://cache/orders'],
    ['a database below zero', 'redis://cache/-1'],
    ['a database number for a cluster', 'redis+cluster://a:1/1'],
    ['sentinels without the name of a primary', 'redis+sentinel://a:1,b:2'],
    ['parameters', 'redis://cache/1?enableOfflineQueue=true'],
    ['a password that cannot be decoded', 'redis://:100%@cache'],
    ['three logins', 'redis+sentinel://:a@:b@:c@host/main'],
    ['a space', 'redis://ca che'],
  ])('is refused with %s: %s', (_what, url) => {
    expect(redisAddress(url)).toBeUndefined();
  });

  it('is printed without its logins', () => {
    expect(withoutLogin('redis+sentinel://u:canary@:canary@a:1,b:2/main/1')).toBe(
      'redis+sentinel://a:1,b:2/main/1',
    );
    expect(withoutLogin('redis://:can@ary/x@h?password=canary')).toBe('redis://h');
    expect(serverName(at('::1', 1))).toBe('[::1]:1');
  });
});
