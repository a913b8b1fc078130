// The contract of every OverrideStore.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Override, OverrideStore } from '../../gateway/policy/lifecycle/override.ts';
import type { LastingUnderTest } from './lasting-stores.ts';

export const pauseFrom = (from: number, more: Partial<Override> = {}): Override => ({
  kind: 'pause',
  id: randomUUID(),
  api: 'orders',
  label: 'v1',
  author: 'api-team',
  reason: 'acme cannot deploy on Fridays',
  from,
  until: from + 3_600_000,
  ...more,
});

export function overrideStoreContract(name: string, open: () => Promise<LastingUnderTest>): void {
  describe(`override store: ${name}`, () => {
    let store: LastingUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    const overrides = (gateway: 0 | 1 = 0): OverrideStore => store.gateways()[gateway].overrides;
    beforeEach(async () => {
      for (const { id } of overrides().current()) await overrides().remove(id);
      await store.refresh();
    });

    it('is empty at first', () => {
      expect(overrides(0).current()).toEqual([]);
      expect(overrides(1).current()).toEqual([]);
    });

    it('an override applies here at once, elsewhere after a refresh, and after a restart', async () => {
      const hold: Override = { ...pauseFrom(2000), kind: 'hold', label: 'v1' };
      const both = [pauseFrom(1000), hold];
      for (const each of both) await overrides(0).put(each);
      expect(overrides(0).current()).toEqual(both);
      await store.refresh();
      expect(overrides(1).current()).toEqual(both);
      await store.restart();
      for (const gateway of [0, 1] as const) expect(overrides(gateway).current()).toEqual(both);
    });

    it('a removed override is deleted everywhere, and removing it again returns false', async () => {
      const [kept, removed] = [pauseFrom(1000), pauseFrom(2000)];
      await overrides().put(kept);
      await overrides().put(removed);
      expect(await overrides(1).remove(removed.id)).toBe(true);
      expect(await overrides(0).remove(removed.id)).toBe(false);
      await store.refresh();
      for (const gateway of [0, 1] as const) expect(overrides(gateway).current()).toEqual([kept]);
      await store.restart();
      expect(overrides().current()).toEqual([kept]);
    });

    it('an override replaces an earlier one with the same id', async () => {
      const pause = pauseFrom(1000);
      await overrides().put(pause);
      await overrides().put({ ...pause, until: 9000, reason: 'longer' });
      expect(overrides().current()).toEqual([{ ...pause, until: 9000, reason: 'longer' }]);
    });

    it('lists the earliest first; expired ones stay until they are removed', async () => {
      const [early, late] = [pauseFrom(0), pauseFrom(4e12)];
      await overrides().put(late);
      await overrides().put(early);
      expect(overrides().current()).toEqual([early, late]);
      await store.restart();
      expect(overrides().current()).toEqual([early, late]);
    });

    it('returns the same array until it changes', async () => {
      await overrides().put(pauseFrom(1000));
      await store.refresh();
      const before = overrides().current();
      await store.refresh();
      await overrides().remove('nobody');
      expect(overrides().current()).toBe(before);
      await overrides().put(pauseFrom(2000));
      expect(overrides().current()).not.toBe(before);
      expect(before).toHaveLength(1);
    });

    it('fifty concurrent writes of two gateways are all stored', async () => {
      const pauses = Array.from({ length: 50 }, (_, index) => pauseFrom(index));
      await Promise.all(pauses.map((pause, index) => overrides(index % 2 === 0 ? 0 : 1).put(pause)));
      await store.refresh();
      for (const gateway of [0, 1] as const) expect(overrides(gateway).current()).toEqual(pauses);
    });

    it('reason and author can be any text, and the label can be absent', async () => {
      const reason = `"quotes", 'others', {braces}, ünïcode 🕰, a\nline, ${'x'.repeat(2000)}`;
      const pause = pauseFrom(1000, { reason, author: 'müller@例え.jp', label: undefined });
      await overrides().put(pause);
      await store.restart();
      expect(overrides().current()).toEqual([pause]);
    });
  });
}
