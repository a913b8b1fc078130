// "Endpoints" of the specification beyond other journeys: the list with its parameters, and the callback.
import { describe, expect, it } from 'vitest';
import type { InterfaceFixture } from './fixture.ts';

export function endpoints(fixture: () => InterfaceFixture): void {
  describe('Endpoints', () => {
    it('a list is requested by page and limit, also without a version in the path', async () => {
      const { status, json } = await fixture().ask('/api/orders?page=3&limit=7');
      expect(status).toBe(200);
      expect(json.pagination).toMatchObject({ page: 3, limit: 7 });
      expect(json.data).toHaveLength(7);
    });

    it('a list is filtered and sorted, and has only the requested fields', async () => {
      const path = '/api/v2/orders?status=shipped&sort=-amount&fields=id,amount,status&limit=5';
      const data = (await fixture().ask(path)).json.data as { amount: number; status: string }[];
      expect(data).toHaveLength(5);
      for (const item of data) expect(Object.keys(item)).toEqual(['id', 'amount', 'status']);
      expect(new Set(data.map(({ status }) => status))).toEqual(new Set(['shipped']));
      const amounts = data.map(({ amount }) => amount);
      expect(amounts).toEqual(amounts.toSorted((one, other) => other - one));
    });
  });
}
