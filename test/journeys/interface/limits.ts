// "Limits" of the specification: quotas and page sizes of the samples.
import { describe, expect, it } from 'vitest';
import type { InterfaceFixture } from './fixture.ts';

export function limits(fixture: () => InterfaceFixture): void {
  describe('Limits', () => {
    it('each response has the remaining quota as a whole number', async () => {
      const asked = async (path: string) => {
        const { headers } = await fixture().ask(path);
        return [headers['x-ratelimit-limit'], headers['x-ratelimit-remaining']];
      };
      expect(await asked('/api/v2/orders/1001')).toEqual(['600', expect.stringMatching(/^\d+$/)]);
      // One unit comes back each second, and three requests take less.
      const left: number[] = [];
      for (let count = 0; count < 3; count += 1) {
        const [limit, remaining] = await asked('/api/v1/sales/1001');
        expect(limit).toBe('60');
        left.push(Number(remaining));
      }
      expect(Math.min(...left)).toBeLessThanOrEqual(58);
    });

    it.each([
      ['1', 200],
      ['100', 200],
      ['0', 400],
      ['101', 400],
      ['many', 400],
    ])('PAG-1: limit=%s gets %i', async (limit, status) => {
      const answer = await fixture().ask(`/api/v2/orders?limit=${limit}`);
      expect(answer.status).toBe(status);
      if (status === 200) expect(answer.json.data).toHaveLength(Number(limit));
      else expect(answer.json.message).toContain('100');
    });
  });
}
