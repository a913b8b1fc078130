// Bodies and responses that are too large to keep or incomplete: how often each executes, what a retry gets.
import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import type { Answering } from './counting-orders.ts';
import { type Fixture, PATIENT } from './fixture.ts';

type Head = Readonly<Record<string, string>>;

/** More than is kept (4 KB). The gateway learns each size in another way. */
const LARGE: readonly (readonly [name: string, head: Head])[] = [
  ['length', { 'content-length': '9000' }],
  ['chunks', {}],
  ['stream', { 'content-type': 'text/event-stream' }],
];

const whole =
  (head: Head): Answering =>
  (response) => {
    response.writeHead(200, head);
    response.write('a'.repeat(3_000));
    response.end('b'.repeat(6_000));
  };
/** A response that never ends: the upstream aborts it, or the client disconnects. */
const half =
  (head: Head, breaksOff: boolean): Answering =>
  (response) => {
    response.writeHead(200, head);
    response.write('a'.repeat(6_000), () => void (breaksOff && response.destroy()));
  };

export function unkept({ send, carried, outcome, upstream, own, clientOf, bearer }: Fixture): void {
  describe.each(['HTTP/1.1', 'HTTP/2'])('over %s, beyond the size limit', (over) => {
    const at = (name: string) => `/${name}-${over === 'HTTP/2' ? 2 : 1}`;
    /** With the key of `send(path, { key: 'k' })`. */
    const order = (path: string) => ({
      path: `/api/v2/orders${path}`,
      method: 'POST',
      headers: {
        ...{ authorization: bearer(), 'content-type': 'application/json', 'idempotency-key': 'k' },
      },
    });

    it('IDM-7: a large request body is forwarded without protection', async () => {
      const path = at('large');
      const large = 'x'.repeat(10_000);
      for (const body of [large, Readable.from([large.slice(0, 3_000), large.slice(3_000)])]) {
        const answer = await send(path, { key: 'large', over, body });
        expect(answer.status).toBe(201);
        expect(await outcome(answer)).toBe('unprotected');
      }
      expect(
        upstream()
          .carried(`/orders${path}`)
          .map(({ body }) => body),
      ).toEqual([large, large]);
    });

    it('IDM-3: a large body with a known key is a mismatch, with or without a length', async () => {
      for (const path of [at('kept'), `/must${at('kept')}`]) {
        await send(path, { key: 'k', over });
        const large = 'x'.repeat(10_000);
        for (const body of [large, Readable.from([large.slice(0, 3_000), large.slice(3_000)])]) {
          const answer = await send(path, { key: 'k', over, body });
          expect(answer.status).toBe(422);
          expect(await outcome(answer)).toBe('mismatch');
        }
        expect((await send(path, { key: 'k', over })).headers['idempotency-replayed']).toBe('true');
        expect(carried(path)).toBe(1);
      }
    });

    it.each(LARGE)(
      'IDM-7: a large response framed by %s is forwarded as it comes, and leaves the key free',
      async (name, head) => {
        const path = at(name);
        upstream().answerWith(`/orders${path}`, whole(head));
        for (const count of [1, 2]) {
          const answer = await send(path, { key: name, over });
          expect(answer.body.length).toBe(9_000);
          expect(await outcome(answer)).toBe('unprotected');
          expect(carried(path)).toBe(count);
        }
      },
    );

    it.each(LARGE)(
      'IDM-7: if a key is required, a large response framed by %s is executed once',
      async (name, head) => {
        const path = `/must${at(name)}`;
        upstream().answerWith(`/orders${path}`, whole(head));
        const placed = await send(path, { key: 'k', over });
        expect(placed.body.length).toBe(9_000);
        expect(await outcome(placed)).toBe('unknown');
        const again = await send(path, { key: 'k', over });
        expect(again).toMatchObject({ status: 409 });
        const line = await own().accessLine(again.headers['x-request-id']);
        expect(line).toMatchObject({ refusal: 'idempotency_unknown' });
        expect(carried(path)).toBe(1);
      },
    );

    it.each(LARGE)('IDM-6: an interrupted response framed by %s is unknown', async (name, head) => {
      const path = at(`broken-${name}`);
      upstream().answerWith(`/orders${path}`, half(head, true));
      const lost = await send(path, { key: 'k', over }).catch(() => undefined);
      expect(lost?.complete).not.toBe(true);
      const again = await send(path, { key: 'k', over });
      expect(again).toMatchObject({ status: 409 });
      expect(again.headers).not.toHaveProperty('retry-after');
      expect(carried(path)).toBe(1);
    });

    it('IDM-3, IDM-6: the key is locked during a response, and unknown after a disconnect', async () => {
      const path = at('left-half');
      upstream().answerWith(`/orders${path}`, half({}, false));
      const { firstBytes, leave } = clientOf(over).begin({ ...order(path), body: '{"item":1}' });
      await firstBytes;
      expect(await send(path, { key: 'k', over })).toMatchObject({
        status: 409,
        headers: { 'retry-after': '1' },
      });
      leave();
      await vi.waitFor(async () => {
        const { status, headers } = await send(path, { key: 'k', over });
        expect([status, headers['retry-after']]).toEqual([409, undefined]);
      }, PATIENT);
      expect(carried(path)).toBe(1);
    });

    it('IDM-6: a client disconnect within the request body leaves the key free', async () => {
      let attempt = 0;
      // A request that finds the key free takes it, so each attempt uses another path.
      const { path, leave } = await vi.waitFor(async () => {
        attempt += 1;
        const path = at(`half-sent-${attempt}`);
        const body = new Readable({ read: () => undefined });
        body.push('{"item"');
        const { leave } = clientOf(over).begin({ ...order(path), body });
        await send('/meanwhile', { over });
        expect((await send(path, { key: 'k', over })).status).toBe(409);
        return { path, leave };
      }, PATIENT);
      leave();
      await vi.waitFor(async () => expect((await send(path, { key: 'k', over })).status).toBe(201), PATIENT);
      expect(carried(path)).toBe(1);
    });
  });
}
