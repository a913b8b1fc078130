// Idempotency keys: which are valid, where they are required, whose they are and for what.
import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { type Fixture, PATIENT } from './fixture.ts';

export function keys({ send, carried, outcome, upstream, own, issuer }: Fixture): void {
  describe('idempotency keys', () => {
    it.each([
      ['empty', ''],
      ['with a space', 'a b'],
      ['with one quotation mark', '"a'],
      ['too long', 'k'.repeat(256)],
    ])('idempotency_key_malformed: %s', async (_what, key) => {
      const answer = await send('/malformed', { headers: { 'idempotency-key': key } });
      expect(answer).toMatchObject({ status: 400, json: { error: 'Bad Request' } });
      expect(answer.headers.link).toContain('/.well-known/lifecycle/orders>; rel="describedby"');
      const line = await own().accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'idempotency_key_malformed' });
      expect(carried('/malformed')).toBe(0);
    });

    it('IDM-1: two Idempotency-Key lines get 400', async () => {
      expect((await send('/malformed', { headers: { 'idempotency-key': ['a', 'b'] } })).status).toBe(400);
      expect(carried('/malformed')).toBe(0);
    });

    it('idempotency_key_missing: 400 with a link to the rules, if a key is required', async () => {
      const answer = await send('/must', {});
      expect(answer.status).toBe(400);
      expect(answer.json.message).toContain('It is kept for 1 day.');
      expect(answer.headers.link).toContain('rel="describedby"');
      const line = await own().accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'idempotency_key_missing' });
      expect((await send('/must', { key: 'k' })).status).toBe(201);
      const tooLarge = await send('/must', { key: 'l', body: 'x'.repeat(5_000) });
      const unmeasured = await send('/must', { key: 'l', body: Readable.from(['x'.repeat(5_000)]) });
      expect([tooLarge.status, unmeasured.status]).toEqual([413, 413]);
      // IDM-9: the corrected request may use the same key.
      expect((await send('/must', { key: 'l' })).status).toBe(201);
      expect(carried('/must')).toBe(2);
    });

    it('idempotency_key_anonymous: 400 for an anonymous caller, unless its address counts', async () => {
      const answer = await send('/api/closed/x', { key: 'k' });
      expect(answer.status).toBe(400);
      const line = await own().accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'idempotency_key_anonymous' });
      expect((await send('/api/closed/x', {})).status).toBe(201);
      expect((await send('/api/open/x', { key: 'k' })).headers).not.toHaveProperty('idempotency-replayed');
      expect((await send('/api/open/x', { key: 'k' })).headers['idempotency-replayed']).toBe('true');
    });

    it('IDM-2: are ignored for other methods, and if the operation does not use them', async () => {
      for (const method of ['GET', 'DELETE', 'PATCH']) {
        const answer = await send('/methods', { key: 'a b', method });
        expect(answer.status).toBe(201);
        expect(await outcome(answer)).toBeUndefined();
      }
      await send('/plain', { key: 'k' });
      expect((await send('/plain', { key: 'k' })).json).toEqual({ order: 2 });
      await send('/patched', { key: 'k', method: 'PATCH' });
      expect((await send('/patched', { key: 'k', method: 'PATCH' })).json).toEqual({ order: 1 });
    });

    it('IDM-5: are described with their lifetime on the lifecycle page', async () => {
      const read = (accept: string) =>
        send('/.well-known/lifecycle/orders', { method: 'GET', body: '', headers: { accept } });
      const { json } = await read('application/json');
      const keys = { methods: ['POST', 'PUT'], required: false, keep_seconds: 86_400 };
      expect(json.versions).toMatchObject([{ idempotency: keys }, { idempotency: keys }]);
      expect((await read('text/html')).text).toContain(
        'POST, PUT may have an Idempotency-Key, kept for 1 day',
      );
    });

    it('IDM-4: belong to one caller, method, target and version', async () => {
      const other = `Bearer ${await issuer().sign({ client_id: 'other' })}`;
      const user = `Bearer ${await issuer().sign({ sub: 'somebody-else' })}`;
      const key = 'shared';
      await send('/scope?a=1', { key });
      for (const sent of [
        ['/scope?a=1', { headers: { authorization: other } }],
        ['/scope?a=1', { headers: { authorization: user } }],
        ['/scope?a=1', { method: 'PUT' }],
        ['/scope?a=2', {}],
        ['/api/v1/orders/scope?a=1', {}],
      ] as const)
        expect((await send(sent[0], { key, ...sent[1] })).headers).not.toHaveProperty('idempotency-replayed');
      // The same resource of the same version, named by another carrier.
      const named = await send('/api/orders/scope?a=1', { key, headers: { 'api-version': 'v2' } });
      expect(named.headers['idempotency-replayed']).toBe('true');
    });

    it('IDM-9: are not used up by a request that is refused earlier', async () => {
      expect((await send('/small', { key: 'k', body: 'x'.repeat(100) })).status).toBe(413);
      expect((await send('/small', { key: 'k', headers: { authorization: 'Bearer no' } })).status).toBe(401);
      expect((await send('/small', { key: 'k' })).status).toBe(201);
    });

    it('FWD-10: a request whose key is in use is refused before its body is read', async () => {
      const release = Promise.withResolvers<void>();
      upstream().answerWith(
        '/orders/expect',
        (response) => void release.promise.then(() => response.end('done')),
      );
      const path = '/api/v1/orders/expect';
      const headers = { expect: '100-continue' };
      const running = send(path, { key: 'k', headers });
      await vi.waitFor(() => expect(carried('/expect')).toBe(1), PATIENT);
      expect((await send(path, { key: 'k', headers })).status).toBe(409);
      release.resolve();
      expect((await running).text).toBe('done');
      expect((await send(path, { key: 'k', headers })).headers['idempotency-replayed']).toBe('true');
    });

    it('ORD-5: may be sent by pages, which may also read Idempotency-Replayed', async () => {
      const origin = 'https://app.example.com';
      const preflight = await send('/cors', {
        method: 'OPTIONS',
        body: '',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'idempotency-key',
        },
      });
      expect(preflight.headers['access-control-allow-headers']).toContain('idempotency-key');
      await send('/cors', { key: 'k', headers: { origin } });
      const again = await send('/cors', { key: 'k', headers: { origin } });
      expect(again.headers['access-control-expose-headers']).toContain('Idempotency-Replayed');
    });
  });
}
