// The cache of pins: its size, its invalidation, and that a stale answer never replaces a newer one.
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../../gateway/policy/contract.ts';
import type { Pin } from '../../gateway/policy/versioning/pin.ts';
import { createPinCache } from '../../gateway/stores/pin-cache.ts';
import { type PinRecords, pinKeyText } from '../../gateway/stores/pin-records.ts';
import { pinOf } from './pin-store.ts';

const keyOf = (account: string) => ({ api: 'payments', account });
const textOf = (account: string) => pinKeyText(keyOf(account));

/** In-memory records that count calls; while `held` is a list, answers wait in it. */
function records() {
  const kept = new Map<string, Pin>();
  const state = { calls: 0, away: false, held: undefined as (() => void)[] | undefined };
  const answer = async <T>(of: () => T): Promise<T> => {
    state.calls += 1;
    if (state.away) throw new StoreUnavailable('away');
    const result = of();
    if (state.held !== undefined) await new Promise<void>((resolve) => state.held?.push(resolve));
    return result;
  };
  const store: PinRecords = {
    find: (key) => answer(() => kept.get(key)),
    claim: (key, pin) =>
      answer(() => {
        const standing = kept.get(key) ?? pin;
        kept.set(key, standing);
        return standing;
      }),
    replace: (key, _current, next) =>
      answer(() => {
        if (next === undefined) kept.delete(key);
        else kept.set(key, next);
        return true;
      }),
  };
  const release = () => {
    for (const resolve of state.held?.splice(0) ?? []) resolve();
    state.held = undefined;
  };
  return { kept, state, store, release };
}

describe('the cache of pins', () => {
  it('makes one call for concurrent finds of a key, and none afterwards', async () => {
    const { state, store } = records();
    const cache = createPinCache(store);
    const found = await Promise.all(Array.from({ length: 50 }, () => cache.find(keyOf('a'))));
    expect(found).toEqual(Array(50).fill(undefined));
    expect(cache.find(keyOf('a'))).toBeUndefined();
    expect(state.calls).toBe(1);
  });

  it('is bounded; the least recently used pin is evicted first', async () => {
    const { kept, state, store } = records();
    const cache = createPinCache(store, { mostPins: 3 });
    for (const account of ['a', 'b', 'c']) {
      kept.set(textOf(account), pinOf(account));
      await cache.find(keyOf(account));
    }
    expect(cache.find(keyOf('a'))).toEqual(pinOf('a'));
    await cache.find(keyOf('d'));
    expect(state.calls).toBe(4);
    expect(cache.find(keyOf('a'))).toEqual(pinOf('a'));
    expect(cache.find(keyOf('c'))).toEqual(pinOf('c'));
    expect(cache.find(keyOf('b'))).toBeInstanceOf(Promise);
  });

  it('caches no failed read, and drops a pin whose change failed', async () => {
    const { state, store } = records();
    const cache = createPinCache(store);
    state.away = true;
    await expect(cache.find(keyOf('a'))).rejects.toMatchObject({ code: 'store_unavailable' });
    state.away = false;
    expect(await cache.find(keyOf('a'))).toBeUndefined();
    state.away = true;
    await expect(cache.claim(keyOf('a'), pinOf('a'))).rejects.toMatchObject({ code: 'store_unavailable' });
    state.away = false;
    expect(cache.find(keyOf('a'))).toBeInstanceOf(Promise);
  });

  it.each(['forget', 'forgetAll'] as const)(
    'does not cache a read or claim that began before the pin changed elsewhere: %s',
    async (how) => {
      const { kept, state, store, release } = records();
      const cache = createPinCache(store);
      state.held = [];
      const under = cache.find(keyOf('a'));
      const claim = cache.claim(keyOf('b'), pinOf('old'));
      kept.set(textOf('a'), pinOf('new'));
      kept.set(textOf('b'), pinOf('new'));
      if (how === 'forgetAll') cache.forgetAll();
      else for (const account of ['a', 'b']) cache.forget(textOf(account));
      release();
      expect(await under).toBeUndefined();
      expect(await claim).toEqual(pinOf('old'));
      for (const account of ['a', 'b']) expect(await cache.find(keyOf(account))).toEqual(pinOf('new'));
    },
  );

  it('a find that began before a local change does not undo it', async () => {
    const { state, store, release } = records();
    const cache = createPinCache(store);
    state.held = [];
    const early = cache.find(keyOf('a'));
    const heldBack = state.held;
    state.held = undefined;
    expect(await cache.replace(keyOf('a'), undefined, pinOf('a'))).toBe(true);
    state.held = heldBack;
    release();
    expect(await early).toBeUndefined();
    expect(cache.find(keyOf('a'))).toEqual(pinOf('a'));
  });
});
