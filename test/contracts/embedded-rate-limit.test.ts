// Tests of the in-memory rate-limit store: synchronous answers, bounded memory, order of eviction.
import { describe, expect, it } from 'vitest';
import type { Taken } from '../../gateway/policy/rate-limit/limit.ts';
import {
  createEmbeddedLogs,
  createEmbeddedRateLimitStore,
} from '../../gateway/stores/embedded/rate-limit.ts';
import { limitOf } from './rate-limit-store.ts';

const limit = limitOf(10, 10_000);

function storeFor(maxBuckets: number) {
  const clock = { time: 0 };
  const store = createEmbeddedRateLimitStore({ now: () => clock.time, maxBuckets });
  const take = (key: string, cost = 1): Taken => {
    const taken = store.take({ key, limit, cost });
    if (taken instanceof Promise) throw new TypeError('an answer from memory is no promise');
    return taken;
  };
  return { clock, take };
}

describe('the in-memory rate-limit store', () => {
  it('a subject at its limit stays limited while thousands of new subjects arrive', () => {
    const { take } = storeFor(100);
    expect(take('limited', 10)).toMatchObject({ allowed: true, remaining: 0 });
    for (let i = 0; i < 5000; i++) take(`new ${i}`);
    expect(take('limited')).toMatchObject({ allowed: false });
  });

  it('evicts the least used buckets first', () => {
    const { take } = storeFor(10);
    for (let used = 1; used <= 10; used++) take(`used ${used}`, used);
    take('one more');
    expect(take('used 10')).toMatchObject({ allowed: false });
    expect(take('used 9')).toMatchObject({ remaining: 0 });
    expect(take('used 1')).toMatchObject({ remaining: 9 });
  });

  it('stays within its size if all subjects are at their limit', () => {
    const { take } = storeFor(10);
    for (let i = 0; i < 100; i++) expect(take(`subject ${i}`, 10)).toMatchObject({ allowed: true });
    expect(take('subject 99')).toMatchObject({ allowed: false });
    expect(take('subject 0')).toMatchObject({ allowed: true });
  });

  it('drops full buckets before it evicts others', () => {
    const { take, clock } = storeFor(100);
    for (let i = 0; i < 99; i++) take(`early ${i}`);
    clock.time = 5000;
    take('limited', 10);
    for (let i = 0; i < 60; i++) take(`late ${i}`, 10);
    expect(take('limited')).toMatchObject({ allowed: false });
    for (let i = 0; i < 60; i++) expect(take(`late ${i}`)).toMatchObject({ allowed: false });
  });
});

describe('in-memory sliding logs', () => {
  const limit = { ...limitOf(5, 10_000), algorithm: 'sliding-log' as const };

  it('are bounded by their total units; the least recently used is evicted first', () => {
    const logs = createEmbeddedLogs({ maxUnits: 12, maxLogs: 100 });
    for (const key of ['a', 'b', 'a', 'c']) logs.take({ key, limit, cost: key === 'c' ? 5 : 2 }, 0);
    expect(logs.take({ key: 'd', limit, cost: 2 }, 0)).toMatchObject({ allowed: true });
    expect(logs.peek('b', limit, 1, 0).remaining).toBe(4);
    expect(logs.peek('a', limit, 1, 0).remaining).toBe(0);
    expect(logs.peek('c', limit, 1, 0).remaining).toBe(0);
  });

  it('are bounded in number, and empty logs are deleted', () => {
    const logs = createEmbeddedLogs({ maxUnits: 100, maxLogs: 2 });
    for (const key of ['a', 'b', 'c']) logs.take({ key, limit, cost: 5 }, 0);
    expect(logs.peek('a', limit, 1, 0).remaining).toBe(4);
    expect(logs.take({ key: 'b', limit, cost: 1 }, 0)).toMatchObject({ allowed: false });
    for (const key of ['b', 'c']) expect(logs.take({ key, limit, cost: 5 }, 20_000).allowed).toBe(true);
  });
});
