// The contract of reading a LedgerStore: ordered pages, filters, and sums computed in the store.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type LedgerStore,
  type UsageCount,
  type UsageFilter,
  type UsageRecord,
  writePlace,
} from '../../gateway/policy/usage/ledger.ts';
import { countOf } from '../../gateway/policy/usage/rows.ts';
import { usageWindow } from '../../gateway/policy/usage/window.ts';
import { NOW } from '../support/exchange-samples.ts';
import type { LastingUnderTest } from './lasting-stores.ts';
import { DAY, everyRecord, NEXT_DAY, newApi, newWriter, usageOf } from './ledger-store.ts';

export function ledgerPagesContract(name: string, open: () => Promise<LastingUnderTest>): void {
  describe(`ledger store: ${name}`, () => {
    let store: LastingUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    const ledger = (gateway: 0 | 1 = 0): LedgerStore => store.gateways()[gateway].ledger;

    it('pages are in order for any size, and the records of a consumer are together', async () => {
      const [api, batch] = [newApi(), newWriter()];
      const names = ['Z', 'a', 'a b', 'a!', 'aa', 'b', 'ä', '10.0.0.1', '2001:db8::/64', '支払い', '😀'];
      const records = names.flatMap((consumer) => [
        usageOf({ api, consumer }),
        usageOf({ api, consumer, operation: 'GET /' }),
        usageOf({ api, consumer, version: 'v10' }),
        usageOf({ api, consumer, version: 'v2', via: 'key' }),
      ]);
      await ledger().add(batch(records));
      const sorted = records.toSorted((one, other) => Buffer.compare(orderOf(one), orderOf(other)));
      for (const limit of [1, 3, 7, 1000])
        expect(await everyRecord(ledger(), { api }, limit)).toEqual(sorted);
    });

    it.each<[string, UsageFilter, number]>([
      ['the consumer', { consumer: 'c1' }, 6],
      ['the consumer and its kind of identity', { consumer: 'c1', via: 'key' }, 3],
      ['the version', { version: 'v1' }, 6],
      ['the version and the consumer', { version: 'v2', consumer: 'c0' }, 2],
      ['the day', { since: NEXT_DAY }, 3],
      ['the day and the consumer', { since: NEXT_DAY, consumer: 'c2' }, 1],
      ['an unknown consumer', { consumer: 'c' }, 0],
    ])('a filter by %s returns its records in pages of any size', async (_what, filter, count) => {
      const [api, batch] = [newApi(), newWriter()];
      const records = ['v1', 'v2', 'v3'].flatMap((version) =>
        ['c0', 'c1', 'c2'].flatMap((consumer) =>
          (['token', 'key'] as const).map((via) =>
            usageOf({
              ...{ api, version, consumer, via },
              callsByDay: { [DAY]: 5, ...(via === 'key' && version === 'v3' && { [NEXT_DAY]: 2 }) },
            }),
          ),
        ),
      );
      await ledger().add(batch(records));
      const fits = ({ version, consumer, via, callsByDay }: UsageRecord) =>
        (filter.version ?? version) === version &&
        (filter.consumer ?? consumer) === consumer &&
        (filter.via ?? via) === via &&
        (filter.since === undefined || callsByDay[NEXT_DAY] !== undefined);
      const expected = records
        .filter(fits)
        .toSorted((one, other) => Buffer.compare(orderOf(one), orderOf(other)))
        .map((each) => (filter.since === undefined ? each : { ...each, callsByDay: { [NEXT_DAY]: 2 } }));
      for (const limit of [1, 2, 100])
        expect(await everyRecord(ledger(), { api, ...filter }, limit)).toEqual(expected);
      const everywhere = await everyRecord(ledger(), filter, 7);
      expect(everywhere.filter((each) => each.api === api)).toEqual(expected);
      expect(expected).toHaveLength(count);
    });

    it('sums computed in the store equal sums computed from all records', async () => {
      const [api, batch] = [newApi(), newWriter()];
      const window = usageWindow(NOW + 43_200_000, '2026-10-30');
      const days = fc.dictionary(
        fc.constantFrom(
          '2026-10-29',
          '2026-10-30',
          '2026-11-06',
          '2026-11-12',
          '2026-11-13',
          DAY,
          '2024-01-01',
        ),
        fc.integer({ min: 1, max: 2 ** 40 }),
        { minKeys: 1, noNullPrototype: true },
      );
      const record = fc.record({
        consumer: fc.constantFrom('a', 'b', '10.0.0.1', 'ä', '😀', 'c d'),
        version: fc.constantFrom('v1', 'v10', 'v2'),
        via: fc.constantFrom('token', 'key', 'address'),
        operation: fc.constantFrom(undefined, 'GET /', 'GET /search'),
        callsByDay: days,
      });
      const [drawn = []] = fc.sample(fc.array(record, { minLength: 60, maxLength: 90 }), 1);
      await ledger(0).add(batch(drawn.map((each) => usageOf({ api, ...each }))));
      const filters = [
        { api },
        { api, version: 'v1' },
        { api, consumer: 'a' },
        { api, consumer: 'b', via: 'key' },
      ] as const;
      for (const filter of filters) {
        const read = await everyRecord(ledger(1), { ...filter, since: window.readFrom });
        const counted: UsageCount[] = [];
        let after: string | undefined;
        do {
          const page = await ledger(1).count(filter, window, { after, limit: 7 });
          counted.push(...page.records);
          after = page.next;
        } while (after !== undefined);
        expect(counted).toEqual(read.map((each) => countOf(each, window)));
      }
      const [place, none] = [writePlace([api, 'v9', '', '', '']), { after: 'x', limit: 1 }];
      expect(await ledger(0).count({ api }, window, { after: place, limit: 9 })).toEqual({
        records: [],
        next: undefined,
      });
      await expect(ledger(0).count({ api }, window, none)).rejects.toThrow(RangeError);
      await expect(
        ledger(0).count({ api }, { ...window, today: 'x' }, { ...none, after: place }),
      ).rejects.toThrow(RangeError);
    });

    it('a page can start at any place; an invalid place or day is refused', async () => {
      const [api, batch] = [newApi(), newWriter()];
      const [a, b] = [usageOf({ api, consumer: 'a' }), usageOf({ api, consumer: 'b' })];
      await ledger().add(batch([a, b]));
      const from = async (consumer: string, filter: UsageFilter = { api }) =>
        (await ledger().read(filter, { after: writePlace([api, 'v1', consumer, '', '']), limit: 9 })).records;
      expect(await from('')).toEqual([a, b]);
      expect(await from('aa')).toEqual([b]);
      expect(await from('c')).toEqual([]);
      expect(await from('', { api, consumer: 'b' })).toEqual([b]);
      expect(await from('z', { api: `${api}-other` })).toEqual([]);
      for (const after of ['', 'x', '[]', '["a"]', '[1,2,3,4,5]', '{}'])
        await expect(ledger().read({}, { after, limit: 1 })).rejects.toThrow(RangeError);
      for (const since of ['', '2026-02-30', 'yesterday', '2026-01-01T00:00:00Z'])
        await expect(ledger().read({ since }, { after: undefined, limit: 1 })).rejects.toThrow(RangeError);
    });
  });
}

/** In the order of its parts, each a prefix of the next. */
function orderOf({ api, version, consumer, via, operation }: UsageRecord): Buffer {
  return Buffer.from([api, version, consumer, via, operation ?? ''].join('\0'));
}
