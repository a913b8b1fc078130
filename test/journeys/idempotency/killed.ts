// Retries with a key whose gateway was killed between lock and response, on both stores.
import { describe, expect, it } from 'vitest';
import type { Fixture } from './fixture.ts';

export function killed({ send, carried, own, first }: Fixture): void {
  describe('a gateway killed by kill -9 during a request with a key', () => {
    it.each([
      ['embedded', 'HTTP/1.1', own],
      ['redis', 'first', first],
    ] as const)(
      'IDM-5: %s: the key stays locked until its lock expires, and is free afterwards',
      async (store, over, gateway) => {
        const again = () => send(`/locked-${store}`, { key: 'k', over });
        for (const answer of [await again(), await again()]) {
          expect(answer).toMatchObject({ status: 409, headers: { 'retry-after': '1' } });
          const line = await gateway().accessLine(answer.headers['x-request-id']);
          expect(line).toMatchObject({ refusal: 'idempotency_conflict' });
        }
        expect(carried(`/locked-${store}`)).toBe(1);

        const late = () => send(`/lapsed-${store}`, { key: 'k', over });
        expect(await late()).toMatchObject({ status: 201, text: 'second' });
        expect(await late()).toMatchObject({ text: 'second', headers: { 'idempotency-replayed': 'true' } });
        expect(carried(`/lapsed-${store}`)).toBe(2);
      },
    );
  });
}
