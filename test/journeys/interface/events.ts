// "Events" of the specification: subscription, cause and delivery, all through the gateway.
import { createHmac } from 'node:crypto';
import { request } from 'node:https';
import { json as readJson } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import { makeSecret, type Secret } from '../../../upstreams/webhooks/secret.ts';
import { signDelivery } from '../../../upstreams/webhooks/signature.ts';
import type { InterfaceFixture } from './fixture.ts';

const WAIT = { timeout: 20_000, interval: 10 };

export function events(fixture: () => InterfaceFixture): void {
  const subscribe = async (url: string, types: readonly string[], signature: string) => {
    const json = { url, events: types, signature };
    const made = await fixture().ask('/api/webhooks', { method: 'POST', json });
    expect(made.status).toBe(201);
    return { at: `/api/webhooks/${made.json.id}`, secret: made.json.secret as Secret };
  };
  const pay = async (payer: string) => {
    const json = { payer: { name: payer }, money: { amount: 1250, currency: 'EUR' }, created: 1_772_323_200 };
    const made = await fixture().ask('/api/payments', { method: 'POST', json });
    expect(made.status).toBe(201);
    return String(made.json.id);
  };
  const toReceiver = (method: string, path: string, headers = {}, body: string | Buffer = '') => {
    const { hooks, pair } = fixture().samples.receiver;
    const sent = request(new URL(path, hooks), { method, headers, ca: pair.cert, agent: false });
    const { promise, resolve, reject } = Promise.withResolvers<{ status?: number; json: unknown }>();
    sent.on('error', reject).on('response', (response) => {
      readJson(response).then((json) => resolve({ status: response.statusCode ?? 0, json }), reject);
    });
    sent.end(body);
    return promise;
  };
  const deliveriesOf = async (at: string) => {
    const { json } = await fixture().ask(`${at}/deliveries`);
    return json.data as { id: string; type: string; state: string; attempts: { status?: number }[] }[];
  };

  describe('Events', () => {
    it('WH-1, WH-6: an event is POSTed with an HMAC and a time, and retried until it gets 200', async () => {
      const { subscriber } = fixture();
      const { at, secret } = await subscribe(
        `https://localhost:${subscriber.port}/`,
        ['payment.failed'],
        'body-only',
      );
      const id = await pay('declined');
      await vi.waitFor(() => expect(subscriber.calls).toHaveLength(3), WAIT);
      const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
      const ids = new Set<string>();
      for (const { method, headers, body } of subscriber.calls) {
        expect(method).toBe('POST');
        expect(headers['content-type']).toMatch(/^application\/json/);
        expect(headers['x-webhook-signature']).toBe(createHmac('sha256', key).update(body).digest('hex'));
        expect(Number(headers['webhook-timestamp'])).toBeGreaterThan(1_700_000_000);
        // A stock library verifies the received bytes and rejects changed ones.
        const library = new Webhook(secret);
        const fields = Object.fromEntries(
          Object.entries(headers).map(([name, line]) => [name, String(line)]),
        );
        const event = JSON.parse(body.toString());
        expect(library.verify(body, fields)).toEqual(event);
        expect(() => library.verify(`${body} `, fields)).toThrow();
        expect(event).toEqual({
          id: expect.stringMatching(/.+/),
          type: 'payment.failed',
          created: expect.any(Number),
          data: { id, customer: 'declined', amount: 1250, currency: 'EUR', state: 'failed' },
        });
        ids.add(event.id);
      }
      expect(ids.size).toBe(1);
      // Retries after five seconds and five minutes, less a fifth, a thousand times faster.
      const [first = 0, second = 0, third = 0] = subscriber.calls.map((call) => call.at);
      expect(second - first).toBeGreaterThanOrEqual(4);
      expect(third - second).toBeGreaterThanOrEqual(240);
      await vi.waitFor(
        async () =>
          expect(await deliveriesOf(at)).toMatchObject([
            { state: 'delivered', attempts: [{ status: 503 }, { status: 503 }, { status: 200 }] },
          ]),
        WAIT,
      );
      expect((await fixture().ask(at, { method: 'DELETE' })).status).toBe(204);
    });

    it('WH-4, WH-5: the receiver accepts an event once, and answers 401 to a bad signature', async () => {
      const { receiver } = fixture().samples;
      const { at, secret } = await subscribe(receiver.hooks, ['payment.completed'], 'both');
      receiver.believe(secret);
      const id = await pay('globex');
      const taken = async () => (await toReceiver('GET', '/received')).json;
      const once = {
        total: 1,
        data: [
          {
            id: expect.any(String),
            type: 'payment.completed',
            created: expect.any(Number),
            data: { id, customer: 'globex', amount: 1250, currency: 'EUR', state: 'completed' },
          },
        ],
      };
      await vi.waitFor(async () => expect(await taken()).toEqual(once), WAIT);
      await vi.waitFor(
        async () => expect(await deliveriesOf(at)).toMatchObject([{ state: 'delivered' }]),
        WAIT,
      );
      const [delivery] = await deliveriesOf(at);
      const replay = `${at}/deliveries/${delivery?.id}/replay`;
      expect((await fixture().ask(replay, { method: 'POST' })).status).toBe(200);
      await vi.waitFor(
        async () =>
          expect(await deliveriesOf(at)).toMatchObject([
            { state: 'delivered', attempts: [{ status: 200 }, { status: 200 }] },
          ]),
        WAIT,
      );
      expect(await taken()).toEqual(once);
      const body = Buffer.from(
        JSON.stringify({ id: 'evt_x', type: 'payment.completed', created: 1, data: {} }),
      );
      const now = Math.floor(Date.now() / 1_000);
      const strange = [
        {},
        signDelivery({ id: 'evt_x', timestamp: now, body, secrets: [makeSecret()], form: 'both' }),
        signDelivery({ id: 'evt_x', timestamp: now - 3_600, body, secrets: [secret], form: 'both' }),
      ];
      for (const headers of strange)
        expect(await toReceiver('POST', '/hooks', headers, body)).toMatchObject({
          status: 401,
          json: { error: 'Unauthorized', message: expect.stringContaining('signature') },
        });
      expect(await taken()).toEqual(once);
    });
  });
}
