// Two gateways that share their keys on one Redis, and an unavailable Redis.
import { describe, expect, it, vi } from 'vitest';
import { type Fixture, PATIENT } from './fixture.ts';

export function twoGateways({ send, carried, outcome, first, redis }: Fixture): void {
  describe('two gateways on one Redis', () => {
    it('execute thirty concurrent requests with one key once', async () => {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          send('/shared', { key: 'k', over: index % 2 === 0 ? 'first' : 'second' }),
        ),
      );
      // On a busy machine Redis may respond too late, and a required key then gets 503.
      const known = new Set([201, 409, 503]);
      expect(answers.filter(({ status }) => !known.has(status))).toEqual([]);
      const again = await vi.waitFor(async () => {
        const answer = await send('/shared', { key: 'k', over: 'second' });
        expect(answer.status).toBe(201);
        return answer;
      }, PATIENT);
      expect(again).toMatchObject({ json: { order: 1 }, headers: { 'idempotency-replayed': 'true' } });
      expect(carried('/shared')).toBe(1);
    });

    it('idempotency_unavailable: answer 503 without Redis, but only if a key is required', async () => {
      redis().pause();
      const passed = await send('/unheld', { key: 'k', over: 'first' });
      const refused = await send('/must', { key: 'k', over: 'first' });
      redis().resume();
      expect(passed.status).toBe(201);
      expect(await outcome(passed, first())).toBe('unprotected');
      expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
      const line = await first().accessLine(refused.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'idempotency_unavailable' });
    });
  });
}
