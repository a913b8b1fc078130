// The contract of writing and erasing in a LedgerStore.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerStore, UsageBatch, UsageFilter, UsageRecord } from '../../gateway/policy/usage/ledger.ts';
import { NOW } from '../support/exchange-samples.ts';
import type { LastingUnderTest } from './lasting-stores.ts';

export const DAY = '2026-11-20';
export const NEXT_DAY = '2026-11-21';

export const usageOf = (more: Partial<UsageRecord> = {}): UsageRecord => ({
  consumer: 'acme',
  via: 'token',
  api: 'orders',
  version: 'v1',
  operation: undefined,
  firstAt: NOW,
  lastAt: NOW,
  callsByDay: { [DAY]: 1 },
  agents: ['curl/8'],
  sample: { method: 'GET', template: '/api/v1/orders/*', requestId: 'r1' },
  ...more,
});

/** Consecutive batches of one writer. */
export function newWriter(): (records: readonly UsageRecord[], more?: Partial<UsageBatch>) => UsageBatch {
  const writer = randomUUID();
  let number = 0;
  return (records, more) => {
    number += 1;
    return { writer, number, at: NOW, watched: [], records, ...more };
  };
}

/** A unique API per test, because tests share the store. */
export const newApi = (): string => `api-${randomUUID()}`;

export async function everyRecord(
  ledger: LedgerStore,
  filter: UsageFilter = {},
  limit = 1000,
): Promise<UsageRecord[]> {
  const records: UsageRecord[] = [];
  let after: string | undefined;
  do {
    const page = await ledger.read(filter, { after, limit });
    expect(page.records.length).toBeLessThanOrEqual(limit);
    records.push(...page.records);
    after = page.next;
  } while (after !== undefined);
  return records;
}

export function ledgerStoreContract(name: string, open: () => Promise<LastingUnderTest>): void {
  describe(`ledger store: ${name}`, () => {
    let store: LastingUnderTest;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store.close());
    const ledger = (gateway: 0 | 1 = 0): LedgerStore => store.gateways()[gateway].ledger;

    it('is empty before the first batch', async () => {
      expect(await ledger().read({}, { after: undefined, limit: 10 })).toEqual({
        records: [],
        next: undefined,
      });
      expect(await ledger().beganAt()).toBeUndefined();
      expect(await ledger().beganAt({ api: 'orders', version: 'v1' })).toBeUndefined();
      expect(await ledger().firstSeen(usageOf())).toEqual({ at: undefined, countedSince: undefined });
      expect(await ledger().erase('acme')).toBe(0);
      expect(await ledger().sweep(DAY)).toBe(0);
    });

    it('a record is returned as it was added, on every gateway and after a restart', async () => {
      const [api, batch] = [newApi(), newWriter()];
      const records = [
        usageOf({ api }),
        usageOf({ api, operation: 'GET /search', agents: [], sample: undefined }),
        usageOf({ api, consumer: 'zeta', via: 'certificate', callsByDay: { [DAY]: 3, [NEXT_DAY]: 4 } }),
      ];
      await ledger(0).add(batch(records));
      expect(await everyRecord(ledger(1), { api })).toEqual(records);
      await store.restart();
      expect(await everyRecord(ledger(), { api })).toEqual(records);
    });

    it('counts of several gateways are merged: sum, first and last call, agents, latest sample', async () => {
      const api = newApi();
      const [one, other] = [newWriter(), newWriter()];
      const sample = { method: 'PUT', template: '/api/v1/orders/*', requestId: 'r2' };
      await ledger(0).add(
        one([usageOf({ api, lastAt: NOW + 5, callsByDay: { [DAY]: 2 }, agents: ['a', 'b'] })]),
      );
      await ledger(1).add(
        other([
          usageOf({
            ...{ api, firstAt: NOW - 7, lastAt: NOW - 1 },
            ...{ callsByDay: { [DAY]: 40, [NEXT_DAY]: 1 }, agents: ['b', 'a', 'c'], sample },
          }),
        ]),
      );
      await ledger(0).add(one([usageOf({ api, agents: [], sample: undefined })]));
      expect(await everyRecord(ledger(0), { api })).toEqual([
        usageOf({
          ...{ api, firstAt: NOW - 7, lastAt: NOW + 5 },
          ...{ callsByDay: { [DAY]: 43, [NEXT_DAY]: 1 }, agents: ['b', 'a', 'c'], sample },
        }),
      ]);
    });

    it('keeps the five latest agents', async () => {
      const [api, batch] = [newApi(), newWriter()];
      for (const agents of [['1', '2', '3'], ['4', '5', '1'], ['6']])
        await ledger().add(batch([usageOf({ api, agents })]));
      expect((await everyRecord(ledger(), { api }))[0]?.agents).toEqual(['3', '4', '5', '1', '6']);
    });

    it('a resent batch counts once, also later and through another gateway', async () => {
      const [api, batch] = [newApi(), newWriter()];
      const [first, second] = [batch([usageOf({ api })]), batch([usageOf({ api })])];
      await ledger(0).add(first);
      await Promise.all([ledger(0).add(first), ledger(1).add(first)]);
      await ledger(0).add(second);
      await ledger(1).add(first);
      await store.restart();
      await ledger().add(second);
      expect((await everyRecord(ledger(), { api }))[0]?.callsByDay).toEqual({ [DAY]: 2 });
    });

    it('a consumer is first seen on a version by its first call of any operation', async () => {
      const [api, batch] = [newApi(), newWriter()];
      await ledger(0).add(
        batch([
          usageOf({ api, firstAt: NOW + 3 }),
          usageOf({ api, firstAt: NOW + 1, operation: 'GET /' }),
          usageOf({ api, firstAt: NOW - 9, via: 'address' }),
          usageOf({ api, firstAt: NOW - 9, consumer: 'acme2' }),
          usageOf({ api, firstAt: NOW - 9, version: 'v10' }),
        ]),
      );
      const subject = { api, version: 'v1', consumer: 'acme' };
      const firstAt = async (of = subject) => (await ledger(1).firstSeen(of)).at;
      expect(await firstAt()).toBe(NOW + 1);
      expect(await firstAt({ ...subject, consumer: 'acm' })).toBeUndefined();
      for (const [via, at] of [
        ['key', NOW - 1],
        ['certificate', NOW - 2],
      ] as const) {
        await ledger(0).add(batch([usageOf({ api, firstAt: at, via })]));
        expect(await firstAt(), via).toBe(at);
      }
    });

    it('returns the time at which counting of a version began, also without calls', async () => {
      const [api, batch] = [newApi(), newWriter()];
      const watched = [{ api, version: 'v1' }];
      await ledger(0).add(batch([], { watched, at: 1000 }));
      await ledger(1).add(newWriter()([], { watched: [...watched, { api, version: 'v2' }], at: 3000 }));
      await ledger(0).add(batch([], { watched, at: 2000 }));
      expect(await ledger(1).beganAt({ api, version: 'v1' })).toBe(1000);
      expect(await ledger(1).beganAt({ api, version: 'v2' })).toBe(3000);
      expect(await ledger(1).beganAt({ api, version: 'v3' })).toBeUndefined();
      expect(await ledger(0).beganAt()).toBe(1000);
      const unseen = { api, version: 'v1', consumer: 'nobody' };
      expect(await ledger(1).firstSeen(unseen)).toEqual({ at: undefined, countedSince: 1000 });
      // After counting has stopped, a ledger without calls does not mean that there were none.
      await ledger(0).unwatch();
      expect(await ledger(1).beganAt({ api, version: 'v1' })).toBeUndefined();
      expect((await ledger(1).firstSeen(unseen)).countedSince).toBeUndefined();
      await ledger(1).add(newWriter()([], { at: 9000, watched: [{ api, version: 'v1' }] }));
      expect([await ledger(0).beganAt({ api, version: 'v1' }), await ledger(0).beganAt()]).toEqual([
        9000, 9000,
      ]);
    });

    it('erases all records of a consumer, and of no other', async () => {
      const batch = newWriter();
      const [one, other] = [newApi(), newApi()];
      const [gone, stays] = [`gone-${randomUUID()}`, `gone-${randomUUID()}x`];
      const recordsOf = (consumer: string) =>
        [one, other].flatMap((api) => [
          usageOf({ api, consumer }),
          usageOf({ api, consumer, via: 'address', operation: 'GET /' }),
        ]);
      await ledger(0).add(batch([...recordsOf(gone), ...recordsOf(stays)]));
      expect(await ledger(1).erase(gone)).toBe(4);
      expect(await everyRecord(ledger(0), { consumer: gone })).toEqual([]);
      expect(await everyRecord(ledger(0), { api: one })).toHaveLength(2);
      expect(await everyRecord(ledger(0), { consumer: stays })).toHaveLength(4);
      const firstSeen = await ledger(0).firstSeen({ api: one, version: 'v1', consumer: gone });
      expect(firstSeen.at).toBeUndefined();
      await ledger(0).add(batch([usageOf({ api: one, consumer: gone, firstAt: NOW + 9 })]));
      expect((await everyRecord(ledger(0), { consumer: gone }))[0]).toMatchObject({
        firstAt: NOW + 9,
        callsByDay: { [DAY]: 1 },
      });
    });

    it('deletes expired days, and any number of records without days', async () => {
      const [api, batch] = [newApi(), newWriter()];
      const old = Array.from({ length: 150 }, (_, index) =>
        usageOf({ api, consumer: `c${index}`, callsByDay: { '2020-01-01': 1 } }),
      );
      const stays = usageOf({ api, consumer: 'stays', callsByDay: { '2020-01-01': 4, '2020-01-02': 1 } });
      await ledger(0).add(batch([...old, stays]));
      expect(await ledger(0).sweep('2020-01-02')).toBe(150);
      expect(await ledger(1).sweep('2020-01-02')).toBe(0);
      expect(await everyRecord(ledger(1), { api })).toEqual([{ ...stays, callsByDay: { '2020-01-02': 1 } }]);
      expect(await everyRecord(ledger(1), { consumer: 'c7', api })).toEqual([]);
    });

    it('sums, first and last calls are right for any split among gateways and batches', async () => {
      const record = fc.record({
        consumer: fc.constantFrom('a', 'b', 'c'),
        day: fc.constantFrom(DAY, NEXT_DAY),
        calls: fc.integer({ min: 1, max: 1e6 }),
        at: fc.integer({ min: NOW, max: NOW + 1e6 }),
        gateway: fc.constantFrom<(0 | 1)[]>(0, 1),
        again: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 12 }), async (counted) => {
          const api = newApi();
          const writers = [newWriter(), newWriter()];
          for (const { consumer, day, calls, at, gateway, again } of counted) {
            const batch = writers[gateway]?.([
              usageOf({ api, consumer, firstAt: at, lastAt: at, callsByDay: { [day]: calls } }),
            ]);
            if (batch === undefined) continue;
            await ledger(gateway).add(batch);
            if (again) await ledger(gateway === 0 ? 1 : 0).add(batch);
          }
          for (const each of await everyRecord(ledger(), { api })) {
            const own = counted.filter(({ consumer }) => consumer === each.consumer);
            expect(each.firstAt).toBe(Math.min(...own.map(({ at }) => at)));
            expect(each.lastAt).toBe(Math.max(...own.map(({ at }) => at)));
            for (const day of [DAY, NEXT_DAY])
              expect(each.callsByDay[day] ?? 0).toBe(
                own.filter((one) => one.day === day).reduce((sum, { calls }) => sum + calls, 0),
              );
          }
        }),
        { numRuns: 15 },
      );
    });
  });
}
