// The contract of every PublishedRecord.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PublishedEntry, PublishedRecord } from '../../gateway/plan/published/record.ts';
import type { LastingUnderTest } from './lasting-stores.ts';

export function publishedRecordContract(name: string, open: () => Promise<LastingUnderTest>): void {
  describe(`published record: ${name}`, () => {
    let store: LastingUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    const record = (gateway: 0 | 1 = 0): PublishedRecord => store.gateways()[gateway].published;
    const entriesOf = async (gateway: 0 | 1 = 0) => (await record(gateway).read()).entries;
    const write = async (gateway: 0 | 1, entries: readonly PublishedEntry[]) =>
      record(gateway).write(entries, (await record(gateway).read()).mark);

    it('is empty before the first plan', async () => {
      expect(await entriesOf()).toEqual([]);
    });

    it('returns what any gateway wrote last, in order, also after a restart', async () => {
      const orders = { kind: 'policy', name: 'policies/orders.yaml', text: 'api: orders\n' } as const;
      const payments = { kind: 'policy', name: 'policies/payments.yaml', text: 'api: payments\n' } as const;
      await write(0, [payments, orders]);
      expect(await entriesOf(1)).toEqual([payments, orders]);
      await write(1, [orders]);
      expect(await entriesOf(0)).toEqual([orders]);
      await store.restart();
      expect(await entriesOf()).toEqual([orders]);
    });

    it('keeps versions that were removed from files, with every date', async () => {
      const file = { kind: 'policy', name: 'policies/orders.yaml', text: 'api: orders\n' } as const;
      const former = { kind: 'former', api: 'orders', left: Date.UTC(2026, 10, 20) } as const;
      const entries: readonly PublishedEntry[] = [
        file,
        {
          ...former,
          label: 'v1',
          places: ['api.example.com /api/orders'],
          released: Date.UTC(2024, 5, 1),
          deprecated: Date.UTC(2026, 0, 15),
          sunset: Date.UTC(2027, 0, 15),
          extended: Date.UTC(2027, 3, 15),
          forgotten: Date.UTC(2029, 0, 1),
          operations: { 'GET /items/{id}': Date.UTC(2027, 0, 1) },
        },
        { ...former, label: 'none', places: [] },
      ];
      await write(0, entries);
      expect(await entriesOf(1)).toEqual(entries);
      await store.restart();
      expect(await entriesOf()).toEqual(entries);
    });

    it('keeps changes that an operator accepted, and the guides of a policy', async () => {
      const entries: readonly PublishedEntry[] = [
        { kind: 'guide', name: 'policies/guides/v1.md', text: '# Move\n' },
        { kind: 'superseded', digest: 'abc' },
        {
          ...{ kind: 'accepted', api: 'orders', label: 'v1', to: 'sunset 2026-12-31T00:00:00Z' },
          ...{ by: 'ada', why: 'the contract ended', at: Date.UTC(2026, 10, 20) },
        },
      ];
      await write(1, entries);
      expect(await entriesOf(0)).toEqual(entries);
      await store.restart();
      expect(await entriesOf()).toEqual(entries);
    });

    it('is not overwritten by a gateway that has read an older state', async () => {
      const orders = (text: string) => [{ kind: 'policy', name: 'orders.yaml', text }] as const;
      const { mark } = await record(0).read();
      expect(await record(1).write(orders('newer'), (await record(1).read()).mark)).toBe(true);
      expect(await record(0).write(orders('older'), mark)).toBe(false);
      expect(await entriesOf(0)).toEqual(orders('newer'));
      expect((await record(0).read()).mark).toBe((await record(1).read()).mark);
    });

    it('keeps a text of a megabyte unchanged', async () => {
      const text = `# ünï "quoted" {braces} 🕰\r\n${'x'.repeat(1_000_000)}`;
      await write(0, [{ kind: 'description', name: '', text }]);
      expect(await entriesOf()).toEqual([{ kind: 'description', name: '', text }]);
    });
  });
}
