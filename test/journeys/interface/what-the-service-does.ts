// "What the service does" of the specification: transport, statelessness, methods, URLs.
import { describe, expect, it } from 'vitest';
import { overHttp1 } from '../../support/http-client.ts';
import { shake } from '../../support/tls-client.ts';
import type { InterfaceFixture } from './fixture.ts';

export function whatTheServiceDoes(fixture: () => InterfaceFixture): void {
  describe('What the service does', () => {
    it('TLS-1: TLS 1.2 is accepted, and older versions are refused', async () => {
      const { https } = fixture().samples.gateway;
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
      const refused = await shake(https, old);
      expect(refused.error).toMatch(/ALERT_PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/);
      const spoken = await shake(https, { maxVersion: 'TLSv1.2' });
      expect(spoken.protocol).toBe('TLSv1.2');
      for (const { socket } of [refused, spoken]) socket.destroy();
    });

    it('requests on separate connections without cookies get the same response', async () => {
      const answers = [];
      for (let count = 0; count < 2; count += 1) {
        await using fresh = overHttp1(fixture().samples.gateway.https);
        answers.push(await fresh.ask({ path: '/api/v2/catalog/astrolabe' }));
      }
      for (const { status, headers, text } of answers) {
        expect(status).toBe(200);
        expect(headers).not.toHaveProperty('set-cookie');
        expect(text).toBe(answers[0]?.text);
      }
    });

    it('a cacheable response has Cache-Control, ETag and Last-Modified', async () => {
      const { headers } = await fixture().ask('/api/v2/catalog/astrolabe', { anonymous: true });
      expect(headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=60',
        etag: expect.stringMatching(/^(W\/)?".+"$/),
        'last-modified': expect.stringMatching(/ GMT$/),
      });
    });

    it('GET, HEAD and OPTIONS change nothing', async () => {
      const { ask } = fixture();
      const before = await ask('/api/v2/orders/1003');
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        expect((await ask('/api/v2/orders/1003', { method })).status, method).toBeLessThan(300);
      expect((await ask('/api/v2/orders/1003')).headers.etag).toBe(before.headers.etag);
    });

    it('PUT may be repeated, with or without an idempotency key', async () => {
      const { ask } = fixture();
      const { _links, id: _id, ...order } = (await ask('/api/v2/orders/1003')).json;
      const json = { ...order, amount: 4_200 };
      const headers = { 'idempotency-key': '"put-1003"' };
      const first = await ask('/api/v2/orders/1003', { method: 'PUT', json, headers });
      const again = await ask('/api/v2/orders/1003', { method: 'PUT', json, headers });
      expect([first.status, again.status]).toEqual([200, 200]);
      expect(again.headers['idempotency-replayed']).toBe('true');
      const third = await ask('/api/v2/orders/1003', { method: 'PUT', json });
      expect([third.status, third.json]).toEqual([200, first.json]);
    });

    it('collections are plural nouns; the singular gets 404', async () => {
      const { ask } = fixture();
      for (const plural of ['/api/v2/orders', '/api/payments', '/api/webhooks']) {
        expect((await ask(plural)).json.data, plural).toBeInstanceOf(Array);
        expect((await ask(plural.slice(0, -1))).status, plural).toBe(404);
      }
    });

    it('a token in a URL gets 400, and is not in the response', async () => {
      const answer = await fixture().ask('/api/v2/orders?access_token=canary-7f3a', { anonymous: true });
      expect(answer).toMatchObject({ status: 400, json: { error: 'Bad Request' } });
      expect(`${answer.text}${JSON.stringify(answer.lines)}`).not.toContain('canary');
    });
  });
}
