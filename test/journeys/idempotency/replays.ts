// A repeated request with a key, while the first one runs and after it, over both protocols.
import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { type Fixture, PATIENT } from './fixture.ts';

export function replays({ send, carried, outcome, upstream, own, clientOf, bearer }: Fixture): void {
  describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (over) => {
    const at = (name: string) => `/${name}-${over === 'HTTP/2' ? 2 : 1}`;

    it('IDM-3: a repeated request is replayed, with new fields of the gateway', async () => {
      const path = at('replay');
      upstream().answerWith(`/orders${path}`, (response) => {
        response.writeHead(201, {
          ...{ 'content-type': 'application/json', location: '/orders/7', 'set-cookie': 'a=b' },
          ...{ date: 'Mon, 01 Jan 2024 00:00:00 GMT', 'x-ratelimit-remaining': '3', via: '1.1 inner' },
          // The upstream's own field about keys. Clients get it only from the gateway.
          'idempotency-replayed': 'true',
        });
        response.end('{"order": 7}');
      });
      const placed = await send(path, { key: '"order-7"', over });
      const again = await send(path, { key: 'order-7', over });
      expect(placed.headers).not.toHaveProperty('idempotency-replayed');
      expect(placed.headers).toMatchObject({ 'set-cookie': 'a=b' });
      expect(again).toMatchObject({ status: 201, text: '{"order": 7}', complete: true });
      expect(again.headers).toMatchObject({
        ...{
          'idempotency-replayed': 'true',
          location: '/api/v2/orders/7',
          'content-type': 'application/json',
        },
        ...{ 'x-served-by': 'sundial', via: placed.headers.via, 'content-length': '12' },
      });
      expect(again.headers).not.toHaveProperty('set-cookie');
      expect(again.headers.date).not.toBe(placed.headers.date);
      expect(again.headers['x-request-id']).not.toBe(placed.headers['x-request-id']);
      // IDM-8: a replay counts against limits.
      expect(Number(again.headers['x-ratelimit-remaining'])).toBeLessThan(
        Number(placed.headers['x-ratelimit-remaining']),
      );
      expect(carried(path)).toBe(1);
      expect([await outcome(placed), await outcome(again)]).toEqual(['claimed', 'replayed']);
    });

    it('IDM-3: thirty concurrent requests execute once; the others get 409 with Retry-After', async () => {
      const path = at('thirty');
      upstream().answerWith(
        `/orders${path}`,
        (response) => void setImmediate(() => response.writeHead(201).end('x')),
      );
      const answers = await Promise.all(
        Array.from({ length: 30 }, () => send(path, { key: 'thirty', over })),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(1);
      expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
      expect(carried(path)).toBe(1);
      const conflict = answers.find(({ status }) => status === 409);
      if (conflict !== undefined) expect(conflict.headers['retry-after']).toBe('1');
      expect((await send(path, { key: 'thirty', over })).headers['idempotency-replayed']).toBe('true');
    });

    it('idempotency_conflict: 409 for the same key while the first request runs', async () => {
      const path = at('running');
      const release = Promise.withResolvers<void>();
      upstream().answerWith(
        `/orders${path}`,
        (response) => void release.promise.then(() => response.end('done')),
      );
      const running = send(`/api/v1/orders${path}`, { key: 'k', over });
      await vi.waitFor(() => expect(carried(path)).toBe(1), PATIENT);
      const other = await send(`/api/v1/orders${path}`, { key: 'k', over, body: '{"item":2}' });
      expect(other).toMatchObject({ status: 409, headers: { 'retry-after': '1' }, json: { retryAfter: 1 } });
      const line = await own().accessLine(other.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'idempotency_conflict', idempotency: 'conflict', status: 409 });
      release.resolve();
      expect((await running).text).toBe('done');
    });

    it('idempotency_mismatch: 422 for another body or type, also if only spaces differ', async () => {
      const path = at('mismatch');
      await send(path, { key: 'k', over });
      for (const sent of [
        { body: '{"item":2}' },
        { body: '{"item": 1}' },
        { body: '' },
        { headers: { 'content-type': 'application/merge-patch+json' } },
        { body: Readable.from(['x'.repeat(5_000)]) },
      ]) {
        const answer = await send(path, { key: 'k', over, ...sent });
        expect(answer).toMatchObject({ status: 422, json: { error: 'Unprocessable Content' } });
        const line = await own().accessLine(answer.headers['x-request-id']);
        expect(line).toMatchObject({ refusal: 'idempotency_mismatch', idempotency: 'mismatch' });
      }
      expect(carried(path)).toBe(1);
      expect((await send(path, { key: 'k', over })).headers['idempotency-replayed']).toBe('true');
    });

    it('ORD-2: the upstream gets the same bytes and the key', async () => {
      const path = at('bytes');
      const body = '\u0000{"a" :\t1}\r\n';
      await send(path, { key: '"a \\" key"', over, body });
      const streamed = await send(path, { key: 'chunks', over, body: Readable.from(['{"a"', ':1', '}']) });
      expect(streamed.status).toBe(201);
      const [whole, inChunks] = upstream().carried(`/orders${path}`);
      expect(whole).toMatchObject({ body, headers: { 'idempotency-key': '"a \\" key"' } });
      expect(inChunks?.body).toBe('{"a":1}');
    });

    it('a client that disconnected gets the response when it retries', async () => {
      const path = at('leaves');
      const release = Promise.withResolvers<void>();
      upstream().answerWith(`/orders${path}`, (response) => {
        void release.promise.then(() => response.writeHead(201).end('kept'));
      });
      const headers = { authorization: bearer(), 'content-type': 'text/plain', 'idempotency-key': 'left' };
      const asked = { path: `/api/v1/orders${path}`, method: 'POST', headers, body: 'x' };
      const { leave } = clientOf(over).begin(asked);
      await vi.waitFor(() => expect(carried(path)).toBe(1), PATIENT);
      leave();
      const isLeft = (line: { path?: unknown; aborted?: unknown }) =>
        line.path === asked.path && line.aborted === true;
      await vi.waitFor(() => expect(own().log.some(isLeft)).toBe(true), PATIENT);
      release.resolve();
      const again = await vi.waitFor(async () => {
        const answer = await clientOf(over).ask(asked);
        expect(answer.status).toBe(201);
        return answer;
      }, PATIENT);
      expect(again).toMatchObject({ text: 'kept', headers: { 'idempotency-replayed': 'true' } });
      expect(carried(path)).toBe(1);
    });
  });
}
