// Which responses are the outcome of a key, and what happens to keys with an unknown outcome.
import { describe, expect, it } from 'vitest';

import type { CountingOrders } from './counting-orders.ts';
import { DAY, type Fixture } from './fixture.ts';

export function outcomes({ send, carried, outcome, upstream, own, clock }: Fixture): void {
  describe('outcomes of keys', () => {
    it.each([
      [303, 1],
      [400, 1],
      [404, 1],
      [422, 1],
      [401, 2],
      [403, 2],
      [408, 2],
      [409, 2],
      [425, 2],
      [429, 2],
      [500, 2],
      [503, 2],
    ])('IDM-6: with status %i, two requests execute %i times', async (status, times) => {
      const path = `/status-${status}`;
      upstream().answerWith(`/orders${path}`, (response) => response.writeHead(status).end());
      const answers = [await send(path, { key: 'k' }), await send(path, { key: 'k' })];
      expect(answers.map((answer) => answer.status)).toEqual([status, status]);
      expect(answers[1]?.headers['idempotency-replayed']).toBe(times === 1 ? 'true' : undefined);
      expect(carried(path)).toBe(times);
    });

    it('IDM-6: a 5xx is kept if the policy says so', async () => {
      upstream().answerWith('/orders/errors', (response) => response.writeHead(500).end('oops'));
      await send('/errors', { key: 'k' });
      expect(await send('/errors', { key: 'k' })).toMatchObject({ status: 500, text: 'oops' });
      expect(carried('/errors')).toBe(1);
    });

    it.each([
      ['no response in time', 504, () => undefined],
      [
        'a reset',
        502,
        (response: Parameters<Parameters<CountingOrders['answerWith']>[1]>[0]) => response.destroy(),
      ],
      [
        'an interrupted response',
        502,
        (response: Parameters<Parameters<CountingOrders['answerWith']>[1]>[0]) => {
          response.writeHead(201, { 'content-length': '10' });
          response.write('half', () => response.destroy());
        },
      ],
    ] as const)('idempotency_unknown: %s', async (what, status, answering) => {
      const path = `/unknown-${what.length}`;
      upstream().answerWith(`/orders${path}`, answering);
      // This route has a short timeout. Others allow for a busy machine.
      const at = status === 504 ? `/api/slow${path}` : path;
      const lost = await send(at, { key: 'k' });
      expect(lost.status).toBe(status);
      expect(await outcome(lost)).toBe('unknown');
      const again = await send(at, { key: 'k' });
      expect(again.status).toBe(409);
      expect(again.headers).not.toHaveProperty('retry-after');
      const line = await own().accessLine(again.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'idempotency_unknown' });
      expect(carried(path)).toBe(1);
    });

    it('IDM-6: a key with an unknown outcome may be used again if the policy says so', async () => {
      upstream().answerWith('/orders/again', (response, _carried, count) => {
        if (count === 1) response.destroy();
        else response.end('second');
      });
      expect((await send('/again', { key: 'k' })).status).toBe(502);
      expect((await send('/again', { key: 'k' })).text).toBe('second');
    });

    it('IDM-6: a request that was never sent leaves its key free', async () => {
      for (const _time of [1, 2]) expect((await send('/api/away/x', { key: 'k' })).status).toBe(502);
    });

    it('DEP-1, BODY-2: a replay has the current lifecycle headers and notice', async () => {
      const path = '/api/v1/orders/noticed';
      clock.now = Date.UTC(2026, 0, 1);
      const before = await send(path, { key: 'k' });
      clock.now = DAY;
      const after = await send(path, { key: 'k' });
      expect(before.headers).not.toHaveProperty('deprecation');
      expect(before.json).toEqual({ order: 1 });
      expect(after.headers).toMatchObject({ 'idempotency-replayed': 'true', deprecation: '@1768435200' });
      expect(after.json).toMatchObject({ order: 1, _deprecation: { deprecated: true } });
      clock.now = Date.UTC(2027, 1, 1);
      expect((await send(path, { key: 'k' })).status).toBe(410);
      clock.now = DAY;
    });
  });
}
