// What every PublishedRecord promises. Run by lasting-stores.test.ts on each of them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PublishedEntry, PublishedRecord } from '../../gateway/plan/published-record.ts';
import type { LastingUnderTest } from './lasting-stores.ts';

export function publishedRecordContract(name: string, open: () => Promise<LastingUnderTest>): void {
  describe(`published record: ${name}`, () => {
    let store: LastingUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    const record = (gateway: 0 | 1 = 0): PublishedRecord => store.gateways()[gateway].published;

    it('is empty before the first plan', async () => {
      expect(await record().read()).toEqual([]);
    });

    it('is what was written last, by any gateway, in its order, and still after a restart', async () => {
      const orders = { kind: 'policy', name: 'policies/orders.yaml', text: 'api: orders\n' } as const;
      const payments = { kind: 'policy', name: 'policies/payments.yaml', text: 'api: payments\n' } as const;
      await record(0).write([payments, orders]);
      expect(await record(1).read()).toEqual([payments, orders]);
      await record(1).write([orders]);
      expect(await record(0).read()).toEqual([orders]);
      await store.restart();
      expect(await record().read()).toEqual([orders]);
    });

    it('keeps what files do not state any more, every date of it', async () => {
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
      await record(0).write(entries);
      expect(await record(1).read()).toEqual(entries);
      await store.restart();
      expect(await record().read()).toEqual(entries);
    });

    it('keeps a text as it was written, a whole megabyte of it', async () => {
      const text = `# ünï "quoted" {braces} 🕰\r\n${'x'.repeat(1_000_000)}`;
      await record().write([{ kind: 'description', name: '', text }]);
      expect(await record().read()).toEqual([{ kind: 'description', name: '', text }]);
    });
  });
}
