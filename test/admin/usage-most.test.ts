// The ledger rows with the most calls, through the admin API.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PageRequest } from '../../gateway/policy/usage/ledger.ts';
import { openUsage, type UsageFixture } from './usage-fixture.ts';

let fixture: UsageFixture;
beforeAll(async () => {
  fixture = await openUsage();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe('the rows with the most calls', () => {
  it('come first, in the order of their calls', async () => {
    const { consumers, next, versions } = await fixture.usage('most=3');
    expect(consumers.map(({ consumer, via, calls }) => [consumer, via, calls])).toEqual([
      ['acme', 'token', 8],
      ['acme', 'token', 5],
      ['203.0.113.9', 'address', 5],
    ]);
    expect(consumers.map(({ api: of }) => of)).toEqual(['orders', 'lost', 'orders']);
    expect(consumers[0]?.operations.map(({ operation }) => operation)).toEqual([null, 'GET /search']);
    expect(next).toBeNull();
    expect(versions).toEqual((await fixture.usage()).versions);
  });

  it('have all their operations, even from two pages of the ledger', async () => {
    const count = async (_filter: unknown, _window: unknown, { after }: PageRequest) => {
      const row = { api: 'orders', version: 'v1', consumer: 'acme', via: 'token', agents: [] } as const;
      const counted = { firstAt: 1, lastAt: 1, calls: 4, week: 0, weekBefore: 0 };
      const operation = after === undefined ? undefined : 'GET /search';
      const records = [{ ...row, ...counted, operation }];
      return { records, next: after === undefined ? '["orders","v1","acme","token",""]' : undefined };
    };
    const [route] = fixture.routes(true, { ledger: { ...fixture.ledger, count } });
    if (route?.method !== 'GET') throw new Error('no such page');
    const query = new URLSearchParams('most=1');
    const { body } = await route.show({ parameter: () => '', query, accept: undefined, body: undefined });
    expect(JSON.parse(body).consumers).toMatchObject([
      { calls: 8, operations: [{ operation: null }, { operation: 'GET /search' }] },
    ]);
  });

  it.each(['most=0', 'most=501', 'most=1e2', 'most=', 'most=3&after=x', 'most=3&consumer=acme'])(
    'get 400 for %s',
    async (query) => {
      expect((await fixture.look(query)).status).toBe(400);
    },
  );
});
