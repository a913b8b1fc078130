// Tests of the sample receiver over TLS: accepted and refused deliveries, and duplicates.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPair, type Pair } from '../../../upstreams/receiver/certificate.ts';
import { openReceived } from '../../../upstreams/receiver/received.ts';
import { startReceiver } from '../../../upstreams/receiver/receiver.ts';
import { makeSecret } from '../../../upstreams/webhooks/secret.ts';
import { signDelivery } from '../../../upstreams/webhooks/signature.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const [secret, next] = [makeSecret(), makeSecret()];
const folder = mkdtempSync(join(tmpdir(), 'sundial-receiver-'));
const stack = new AsyncDisposableStack();
let pair: Pair;
let port = 0;
let failure: number | undefined;

beforeAll(async () => {
  pair = await loadPair(folder, Date.now());
  const received = stack.use(openReceived(join(folder, 'receiver.db')));
  const receiver = await startReceiver({
    ...{ port: 0, pair, received, secrets: () => [secret], failure: () => failure, now: () => NOW },
  });
  stack.defer(() => receiver.close());
  port = receiver.port;
});
afterAll(async () => {
  await stack.disposeAsync();
  rmSync(folder, { recursive: true });
});

async function ask(method: string, path: string, headers = {}, body: Buffer | undefined = undefined) {
  const sent = request({ host: 'localhost', port, path, method, headers, ca: pair.cert, agent: false });
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number | undefined; body: unknown }>();
  sent.on('error', reject).on('response', (response) => {
    text(response).then(
      (read) => resolve({ status: response.statusCode, body: read === '' ? '' : JSON.parse(read) }),
      reject,
    );
  });
  sent.end(body);
  return promise;
}

function deliver(event: object, { by = secret, form = 'both' as const, at = NOW } = {}) {
  const body = Buffer.from(JSON.stringify(event));
  return ask(
    'POST',
    '/hooks',
    signDelivery({ id: 'x', timestamp: at / 1_000, body, secrets: [by], form }),
    body,
  );
}

const event = (id: string) => ({ id, type: 'order.created', created: 1_795_000_000, data: { id: 'o-1' } });

describe('the receiver', () => {
  it('acknowledges a signed delivery with 200, and a duplicate too, which counts once', async () => {
    expect(await deliver(event('evt_1'))).toEqual({
      status: 200,
      body: { received: 'evt_1', duplicate: false },
    });
    expect(await deliver(event('evt_1'))).toEqual({
      status: 200,
      body: { received: 'evt_1', duplicate: true },
    });
    expect(await ask('GET', '/received')).toEqual({
      status: 200,
      body: { total: 1, data: [event('evt_1')] },
    });
  });

  it('WH-1: accepts the literal form without the standard fields', async () => {
    const body = Buffer.from(JSON.stringify(event('evt_literal')));
    const fields = signDelivery({ id: 'x', timestamp: 1, body, secrets: [secret], form: 'body-only' });
    const alone = { 'x-webhook-signature': fields['x-webhook-signature'] };
    expect(await ask('POST', '/hooks', alone, body)).toMatchObject({ status: 200 });
    expect(await ask('POST', '/hooks', fields, body), 'with a time that is signed elsewhere').toMatchObject({
      status: 401,
    });
  });

  it('WH-4: responds with 401 to an unsigned, wrongly signed or old delivery', async () => {
    const refused = {
      status: 401,
      body: { error: 'Unauthorized', message: expect.stringContaining('signature') },
    };
    expect(await ask('POST', '/hooks', {}, Buffer.from('{}'))).toEqual(refused);
    expect(await deliver(event('evt_2'), { by: next })).toEqual(refused);
    expect(await deliver(event('evt_2'), { at: NOW - 301_000 })).toEqual(refused);
    expect(await ask('GET', '/received')).not.toMatchObject({ body: { data: [{ id: 'evt_2' }] } });
  });

  it('refuses a body that is not an event or is too large', async () => {
    expect(await deliver({ hello: 'world' })).toMatchObject({ status: 400 });
    expect(await deliver({ ...event('evt_3'), data: 'a'.repeat(1024 * 1024) })).toMatchObject({
      status: 413,
    });
  });

  it('can be set to fail, and accepts the same event afterwards', async () => {
    failure = 503;
    expect(await deliver(event('evt_4'))).toMatchObject({ status: 503 });
    failure = undefined;
    expect(await deliver(event('evt_4'))).toMatchObject({ status: 200, body: { duplicate: false } });
  });

  it('names the path of deliveries in its response to another path', async () => {
    expect(await ask('GET', '/hooks')).toMatchObject({ status: 405 });
    expect(await ask('POST', '/')).toMatchObject({
      status: 404,
      body: { message: expect.stringContaining('/hooks') },
    });
  });
});

describe('its files', () => {
  it('keep an event over a restart, and forget it after a week', () => {
    const file = join(folder, 'kept.db');
    const taken = (id: string, now: number) => {
      using received = openReceived(file);
      return received.take(event(id), now);
    };
    expect([taken('a', NOW), taken('a', NOW + 6 * 86_400_000), taken('a', NOW + 8 * 86_400_000)]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('have a key for their owner only, the same until its certificate is about to expire', async () => {
    expect(statSync(join(folder, 'receiver.key')).mode & 0o777).toBe(0o600);
    expect(await loadPair(folder, Date.now())).toEqual(pair);
    expect(await loadPair(folder, Date.now() + 380 * 86_400_000)).not.toEqual(pair);
  });
});
