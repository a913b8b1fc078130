// "Limits" of the specification: quotas and page sizes at the samples. Refusals for too much stand in other journeys.
// Called by interface.test.ts.
import { describe, expect, it } from 'vitest';
import type { InterfaceHouse } from './house.ts';

export function limits(house: () => InterfaceHouse): void {
  describe('Limits', () => {
    it('what is left of the quota stands in each answer, as whole numbers', async () => {
      const left = async (path: string) => {
        const { headers } = await house().ask(path);
        return [headers['x-ratelimit-limit'], Number(headers['x-ratelimit-remaining'])];
      };
      const [limit, before] = await left('/api/v2/orders/1001');
      expect([limit, Number.isInteger(before)]).toEqual(['600', true]);
      const [, after] = await left('/api/v2/orders/1001');
      expect(after).toBeLessThan(Number(before));
      expect((await left('/api/v1/sales/1001'))[0]).toBe('60');
      expect((await left('/api/v2/sales/1001'))[0]).toBe('600');
    });

    it.each([
      ['1', 200],
      ['100', 200],
      ['0', 400],
      ['101', 400],
      ['many', 400],
    ])('PAG-1: limit=%s is %i', async (limit, status) => {
      const answer = await house().ask(`/api/v2/orders?limit=${limit}`);
      expect(answer.status).toBe(status);
      if (status === 200) expect(answer.json.data).toHaveLength(Number(limit));
      else expect(answer.json.message).toContain('100');
    });
  });
}
