// The API of subscriptions, the intake and the admin reads over a real socket, as the gateway and the services call them.
// Nothing is delivered here: the one host that may be called does not listen.
import { mkdtempSync, rmSync } from 'node:fs';
import { request as plainRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Service } from '../../../upstreams/service/listen.ts';
import { abandoned } from '../../../upstreams/webhooks/delivery.ts';
import { attempted, failed } from '../../../upstreams/webhooks/health.ts';
import { openSqliteStore } from '../../../upstreams/webhooks/sqlite/store.ts';
import type { WebhookStore } from '../../../upstreams/webhooks/store.ts';
import { USUAL } from '../../../upstreams/webhooks/tuning.ts';
import { startWebhooks } from '../../../upstreams/webhooks/webhooks.ts';

const HOOK = 'https://localhost:9/hooks';
const NEW = { url: HOOK, events: ['payment.completed', 'payment.failed'] };
const KNOWN = { url: 'https://hooks.example.org/', events: ['order.created'], signature: 'body-only' };

const folder = mkdtempSync(join(tmpdir(), 'sundial-webhooks-'));
afterAll(() => rmSync(folder, { recursive: true }));
let store: WebhookStore;
let service: Service;
const log: object[] = [];
beforeAll(async () => {
  store = openSqliteStore({ file: ':memory:', now: Date.now });
  service = await startWebhooks({
    port: 0,
    store,
    sealingKey: Buffer.alloc(32, 1),
    destinations: { allow: ['localhost:9'], deny: [] },
    ca: () => undefined,
    log: (line) => log.push(line),
  });
});
afterAll(() => service.close());

interface Asked {
  readonly as?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(method: string, path: string, { as = 'acme', body, headers = {} }: Asked = {}) {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      ...(as === '' ? {} : { 'x-consumer-id': as }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, json: text === '' ? undefined : JSON.parse(text) };
}

let id: string;
let secret: string;
beforeEach(async () => {
  for (const { id: old } of await store.subscriptions.all()) await store.subscriptions.remove(old);
  const { json } = await ask('POST', '/webhooks', { body: NEW });
  ({ id, secret } = json);
});

describe('a subscription', () => {
  it('is created with 201, its address and its secret, which nothing tells again', async () => {
    const made = await ask('POST', '/webhooks', { body: KNOWN });
    expect(made.status).toBe(201);
    expect(made.headers.get('location')).toBe(`webhooks/${made.json.id}`);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.json).toMatchObject({ ...KNOWN, status: 'enabled' });
    expect(Buffer.from(made.json.secret.slice('whsec_'.length), 'base64')).toHaveLength(32);
    const read = await ask('GET', `/webhooks/${made.json.id}`);
    const listed = await ask('GET', '/webhooks');
    const kept = JSON.stringify(await store.subscriptions.all());
    for (const text of [JSON.stringify(read.json), JSON.stringify(listed.json), kept]) {
      expect(text).not.toContain(made.json.secret.slice('whsec_'.length));
    }
  });

  it('is read, replaced, changed in part and deleted', async () => {
    const at = `/webhooks/${id}`;
    expect((await ask('GET', at)).json).toMatchObject({ id, ...NEW, signature: 'both' });
    expect(await ask('PUT', at, { body: KNOWN })).toMatchObject({ status: 200, json: { id, ...KNOWN } });
    const patched = await ask('PATCH', at, {
      body: { events: ['order.deleted'] },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(patched).toMatchObject({ status: 200, json: { ...KNOWN, events: ['order.deleted'] } });
    expect((await ask('PUT', at, { body: patched.json })).status).toBe(200);
    expect((await ask('PUT', at, { body: { url: HOOK } })).status).toBe(400);
    expect(await ask('DELETE', at)).toMatchObject({ status: 204, json: undefined });
    expect((await ask('GET', at)).status).toBe(404);
  });

  it('has validators: 304 for who has it, 412 for who has another', async () => {
    const at = `/webhooks/${id}`;
    const etag = (await ask('GET', at)).headers.get('etag') ?? '';
    const again = await ask('GET', at, { headers: { 'if-none-match': etag } });
    expect(again).toMatchObject({ status: 304, json: undefined });
    const stale = { 'if-match': '"other"' };
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const body = method === 'DELETE' ? undefined : KNOWN;
      expect((await ask(method, at, { body, headers: stale })).status, method).toBe(412);
    }
    expect((await ask('PUT', at, { body: KNOWN, headers: { 'if-match': etag } })).status).toBe(200);
    expect((await ask('PUT', at, { body: NEW, headers: { 'if-match': etag } })).status).toBe(412);
  });

  it('is listed in offset pages, the oldest first, with chosen fields', async () => {
    for (let more = 0; more < 2; more += 1) await ask('POST', '/webhooks', { body: KNOWN });
    const { json } = await ask('GET', '/webhooks?page=2&limit=2&fields=url');
    expect(json).toEqual({
      data: [{ url: KNOWN.url }],
      pagination: { page: 2, limit: 2, total: 3, totalPages: 2 },
      links: { first: '?page=1&limit=2&fields=url', last: '?page=2&limit=2&fields=url' },
    });
    expect((await ask('GET', '/webhooks')).json.data[0]).toMatchObject({ id });
  });

  it('names what there is instead of an order, which it has none of', async () => {
    expect(await ask('GET', '/webhooks?sort=id')).toMatchObject({
      status: 400,
      json: { message: 'There is no parameter "sort" here; there are page, limit, fields' },
    });
  });

  it('is seen by its owner alone', async () => {
    const foreign = { as: 'globex' };
    expect((await ask('GET', '/webhooks', foreign)).json.pagination.total).toBe(0);
    const paths = ['', '/deliveries', '/health'].map((path) => `/webhooks/${id}${path}`);
    for (const path of paths) expect((await ask('GET', path, foreign)).status, path).toBe(404);
    for (const action of ['rotate-secret', 'test', 'enable']) {
      expect((await ask('POST', `/webhooks/${id}/${action}`, foreign)).status, action).toBe(404);
    }
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      const body = method === 'DELETE' ? undefined : KNOWN;
      expect((await ask(method, `/webhooks/${id}`, { ...foreign, body })).status, method).toBe(404);
    }
    // Nor is a delivery of it seen, or sent again, by way of a subscription of one's own.
    const own = (await ask('POST', '/webhooks', { ...foreign, body: KNOWN })).json.id;
    const sent = (await ask('POST', `/webhooks/${id}/test`)).json.id;
    expect((await ask('GET', `/webhooks/${id}/deliveries/${sent}`)).status).toBe(200);
    const around = `/webhooks/${own}/deliveries/${sent}`;
    expect((await ask('GET', around, foreign)).status).toBe(404);
    expect((await ask('POST', `${around}/replay`, foreign)).status).toBe(404);
    expect(await ask('GET', '/webhooks', { as: '' })).toMatchObject({
      status: 401,
      json: { error: 'Unauthorized' },
    });
  });

  it('is made a hundred times at most by one consumer', async () => {
    const [one] = await store.subscriptions.all();
    if (one === undefined) throw new Error('there is none');
    for (let more = 1; more < 100; more += 1) await store.subscriptions.add({ ...one, id: `wh_${more}` });
    expect(await ask('POST', '/webhooks', { body: NEW })).toMatchObject({
      status: 409,
      json: { error: 'Conflict' },
    });
    expect((await ask('POST', '/webhooks', { body: NEW, as: 'globex' })).status).toBe(201);
  });
});

describe('what is written of a subscription', () => {
  it.each([
    [{ events: NEW.events }, /url must be/],
    [{ url: 7, events: NEW.events }, /url must be/],
    [{ url: 'http://hooks.example.org/', events: NEW.events }, /https/],
    [{ url: 'https://127.0.0.1/', events: NEW.events }, /not an address/],
    [{ url: 'https://localhost/', events: NEW.events }, /url must/],
    [{ url: HOOK }, /events must be a list/],
    [{ url: HOOK, events: [] }, /events must be a list/],
    [{ url: HOOK, events: 'payment.completed' }, /events must be a list/],
    [{ url: HOOK, events: ['payment'] }, /"payment" is no event type/],
    [{ url: HOOK, events: ['Payment.Completed'] }, /is no event type/],
    [{ url: HOOK, events: ['payment.lost'] }, /"payment.lost"; there are order.created/],
    [{ url: HOOK, events: NEW.events, signature: 'md5' }, /signature must be one of both, body-only/],
    [{ url: HOOK, events: NEW.events, secret: 'mine' }, /"secret" is unknown/],
    [[], /must be a JSON object/],
    ['{', /must be a JSON object/],
  ])('WH-8: %j is 400', async (body, message) => {
    const { status, json } = await ask('POST', '/webhooks', { body });
    expect({ status, ...json }).toEqual({
      status: 400,
      error: 'Bad Request',
      message: expect.stringMatching(message),
    });
  });

  it('names an event once, however often it is written', async () => {
    const { json } = await ask('POST', '/webhooks', {
      body: { url: HOOK, events: ['order.created', 'order.created'] },
    });
    expect(json.events).toEqual(['order.created']);
  });
});

describe('requests that are not for this', () => {
  it.each([
    ['GET', '/webhooks/wh_unknown', 404],
    ['GET', '/webhooks/', 404],
    ['GET', '/webhooks/:id/', 404],
    ['GET', '/webhooks/:id/other', 404],
    ['GET', '/webhooks/:id/deliveries/dlv_unknown', 404],
    ['GET', '/webhooksx', 404],
    ['GET', '/', 404],
    ['GET', '/webhooks?limit=101', 400],
    ['GET', '/webhooks?sort=url', 400],
    ['GET', '/webhooks/:id/deliveries?state=lost', 400],
    ['POST', '/webhooks/:id/rotate-secret', 400, { overlap: -1 }],
    ['POST', '/webhooks/:id/rotate-secret', 400, { overlap: 604_801 }],
    ['POST', '/webhooks/:id/rotate-secret', 400, { overlap: '1h' }],
    ['POST', '/webhooks?x=1', 400, NEW],
    ['GET', '/webhooks/:id?x=1', 400],
    ['PUT', '/webhooks/:id?x=1', 400, NEW],
    ['DELETE', '/webhooks/:id?x=1', 400],
    ['POST', '/webhooks/:id/test?x=1', 400, {}],
    ['GET', '/webhooks/:id/health?x=1', 400],
    ['POST', '/webhooks/:id/replay', 400, { since: '2026-11-20' }],
    ['POST', '/webhooks/:id/replay', 400, { since: 2, until: 1 }],
    ['POST', '/webhooks/:id/replay', 400, { sinse: 1 }],
    ['GET', '/events', 405],
    // As a page of another site can make a browser send it: with its origin, and of no type.
    ['POST', '/events', 404, { id: 'x' }, { origin: 'https://evil.example' }],
    ['POST', '/admin/overview', 405],
    ['GET', '/admin/replay', 405],
    ['GET', '/admin/other', 404],
    ['GET', '/admin/deliveries', 400],
    ['GET', '/admin/deliveries?subscription=wh_unknown', 404],
    ['GET', '/admin/deliveries?subscription=:id&state=lost', 400],
    ['POST', '/admin/replay', 415, {}, { 'content-type': 'text/plain' }],
    ['POST', '/admin/replay', 404, {}, { origin: 'https://evil.example' }],
    ['POST', '/admin/replay', 400, {}],
    ['POST', '/admin/replay', 400, { subscription: ':id', deliveri: 'dlv_1' }],
    ['POST', '/admin/replay', 404, { subscription: 'wh_unknown' }],
  ])('%s %s is %i', async (method, path, expected, body?: object, headers: Record<string, string> = {}) => {
    const written = body && JSON.stringify(body).replace(':id', id);
    const { status, json } = await ask(method, path.replace(':id', id), { body: written, headers });
    expect(status).toBe(expected);
    expect(json).toMatchObject({ error: expect.any(String), message: expect.any(String) });
  });

  it.each([
    ['/webhooks', 'DELETE', 'GET, HEAD, POST, OPTIONS'],
    ['/webhooks/:id', 'POST', 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'],
    ['/webhooks/:id/test', 'GET', 'POST, OPTIONS'],
    ['/webhooks/:id/deliveries', 'POST', 'GET, HEAD, OPTIONS'],
  ])('%s: %s is 405, with what is allowed, as OPTIONS tells it', async (path, method, allow) => {
    const at = path.replace(':id', id);
    for (const [each, status] of [
      [method, 405],
      ['OPTIONS', 204],
    ] as const) {
      const answer = await ask(each, at);
      expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
    }
  });

  it('406 and 415 for other media types, 413 for a body beyond 1 MiB', async () => {
    expect((await ask('GET', '/webhooks', { headers: { accept: 'text/html' } })).status).toBe(406);
    const typed = { body: NEW, headers: { 'content-type': 'text/plain' } };
    expect((await ask('POST', '/webhooks', typed)).status).toBe(415);
    expect((await ask('POST', '/events', typed)).status).toBe(415);
    const long = { body: { url: 'x'.repeat(1_050_000) } };
    expect((await ask('POST', '/webhooks', long)).status).toBe(413);
    expect((await ask('POST', '/events', long)).status).toBe(413);
  });
});

describe('what can be done to a subscription', () => {
  it('WH-2: rotate-secret gives another one; both sign for as long as was asked', async () => {
    const rotated = await ask('POST', `/webhooks/${id}/rotate-secret`, { body: { overlap: 60 } });
    expect(rotated.status).toBe(200);
    expect(rotated.json.secret).toMatch(/^whsec_/);
    expect(rotated.headers.get('cache-control')).toBe('no-store');
    expect(rotated.json.secret).not.toBe(secret);
    const left = rotated.json.previous_secrets_until - rotated.json.updated;
    expect(left).toBe(60);
    expect((await store.subscriptions.read(id))?.secrets).toHaveLength(2);
    const { json: read } = await ask('GET', `/webhooks/${id}`);
    expect((await ask('PUT', `/webhooks/${id}`, { body: read })).status).toBe(200);
    await ask('POST', `/webhooks/${id}/rotate-secret`);
    expect((await store.subscriptions.read(id))?.secrets).toHaveLength(3);
    const atOnce = await ask('POST', `/webhooks/${id}/rotate-secret`, { body: { overlap: 0 } });
    expect(atOnce.json).not.toHaveProperty('previous_secrets_until');
    expect((await store.subscriptions.read(id))?.secrets).toHaveLength(1);
  });

  it('WH-2: rotate-secret takes nothing it does not know: a slip of "overlap" would leave the old secret good', async () => {
    const slipped = await ask('POST', `/webhooks/${id}/rotate-secret`, { body: { overlop: 0 } });
    expect(slipped).toMatchObject({
      status: 400,
      json: { message: '"overlop" is unknown; there is overlap' },
    });
    expect((await store.subscriptions.read(id))?.secrets).toHaveLength(1);
  });

  it('test sends it an event, whatever events it wants; the log tells what became of that', async () => {
    const made = await ask('POST', `/webhooks/${id}/test`);
    expect(made).toMatchObject({ status: 201, json: { type: 'webhook.test', state: 'pending' } });
    const at = `/webhooks/${id}/deliveries/${made.json.id}`;
    expect(new URL(made.headers.get('location') ?? '', `${service.url}/webhooks/${id}/test`).pathname).toBe(
      at,
    );
    const attempts = async () => (await ask('GET', at)).json.attempts;
    await expect.poll(attempts).toMatchObject([{ outcome: 'failed', duration_ms: expect.any(Number) }]);
    const pending = await ask('GET', `/webhooks/${id}/deliveries?state=pending&fields=id`);
    expect(pending.json).toMatchObject({ data: [{ id: made.json.id }], pagination: { total: 1 } });
    const delivered = await ask('GET', `/webhooks/${id}/deliveries?state=delivered`);
    expect(delivered.json.pagination.total).toBe(0);
    expect((await ask('GET', `/webhooks/${id}/health`)).json).toMatchObject({
      breaker: 'closed',
      failures: 1,
    });
  });

  it('enable, and another url, begin anew: what failed before is forgotten', async () => {
    const fail = () =>
      store.health.change(id, (each) => ({
        ...each,
        failures: 30,
        failingSince: 0,
        openUntil: Date.now() * 2,
      }));
    const failures = async () => (await ask('GET', `/webhooks/${id}/health`)).json.failures;
    await fail();
    await ask('PATCH', `/webhooks/${id}`, { body: { events: ['order.created'] } });
    expect(await failures()).toBe(30);
    await ask('PATCH', `/webhooks/${id}`, { body: { url: KNOWN.url } });
    expect(await failures()).toBe(0);
    await fail();
    await ask('POST', `/webhooks/${id}/enable`);
    expect(await failures()).toBe(0);
  });

  it('replay begins a finished delivery anew; of one under way, or of a disabled subscription, it is 409', async () => {
    const { json } = await ask('POST', `/webhooks/${id}/test`);
    const at = `/webhooks/${id}/deliveries/${json.id}`;
    expect((await ask('POST', `${at}/replay`)).status).toBe(409);
    await expect.poll(async () => (await ask('GET', at)).json.attempts).toHaveLength(1);
    await store.deliveries.change(json.id, (each) => ({
      ...each,
      state: 'dead',
      death: 'attempts_exhausted',
    }));
    expect((await ask('GET', at)).json).toMatchObject({ state: 'dead', reason: 'attempts_exhausted' });
    await store.subscriptions.change(id, (each) => ({ ...each, disabled: { reason: 'gone', at: 0 } }));
    expect((await ask('POST', `${at}/replay`)).json.message).toContain('/enable');
    expect((await ask('GET', `/webhooks/${id}`)).json).toMatchObject({
      status: 'disabled',
      disabled: { reason: 'gone' },
    });
    expect((await ask('POST', `/webhooks/${id}/enable`)).json).toMatchObject({ status: 'enabled' });
    const again = await ask('POST', `${at}/replay`);
    expect(again).toMatchObject({ status: 200, json: { state: 'pending', replays: 1, event: json.event } });
    expect(again.json).not.toHaveProperty('reason');
  });

  it.each([
    ['POST', '/webhooks/:id/replay', { since: 1 }],
    ['POST', '/admin/replay', { subscription: ':id', since: 1 }],
    ['POST', '/admin/replay', { subscription: ':id', delivery: ':delivery' }],
  ])('dead letters are replayed at once by %s %s %j', async (method, path, written) => {
    const { json } = await ask('POST', `/webhooks/${id}/test`);
    await expect
      .poll(async () => (await ask('GET', `/webhooks/${id}/deliveries/${json.id}`)).json.attempts)
      .toHaveLength(1);
    await store.deliveries.change(json.id, (each) => abandoned(each, 'attempts_exhausted', Date.now()));
    const body = JSON.stringify(written).replace(':id', id).replace(':delivery', json.id);
    expect(await ask(method, path.replace(':id', id), { body })).toMatchObject({
      status: 200,
      json: { replayed: 1, left: 0 },
    });
    expect(await store.deliveries.read(json.id)).toMatchObject({ state: 'pending', round: 1 });
  });
});

describe('the intake', () => {
  const event = (more: object = {}) => ({
    id: `evt_${crypto.randomUUID()}`,
    type: 'payment.completed',
    created: 1_795_132_800,
    data: { amount: 1250 },
    ...more,
  });

  it('answers 202 and makes a delivery for each subscription that wants the event, once for an id', async () => {
    await ask('POST', '/webhooks', { body: { url: HOOK, events: ['payment.completed'] }, as: 'globex' });
    await ask('POST', '/webhooks', { body: { url: HOOK, events: ['order.created'] } });
    const body = event();
    for (let time = 0; time < 2; time += 1) {
      expect(await ask('POST', '/events', { body })).toMatchObject({ status: 202, json: { id: body.id } });
    }
    const made = await Promise.all(
      (await store.subscriptions.all()).map((each) =>
        store.deliveries.page(each.id, { offset: 0, limit: 9 }),
      ),
    );
    expect(made.map(({ total }) => total)).toEqual([1, 1, 0]);
    expect((await store.event(body.id))?.body).toBe(JSON.stringify(body));
  });

  it('keeps the text as it came, numbers beyond 2^53 included', async () => {
    const text = '{ "id":"evt_exact", "type":"a.b", "created":1, "data":{"n":12345678901234567890} }';
    expect((await ask('POST', '/events', { body: text })).status).toBe(202);
    expect((await store.event('evt_exact'))?.body).toBe(text);
  });

  it.each([
    ['no object', []],
    ['no id', event({ id: undefined })],
    ['a dot in the id', event({ id: 'evt.1' })],
    ['a long id', event({ id: 'x'.repeat(101) })],
    ['no type', event({ type: 'payment' })],
    ['milliseconds', event({ created: 1_795_132_800_000 })],
    ['a date', event({ created: '2026-11-20' })],
    ['no data', event({ data: undefined })],
    ['data that is a list', event({ data: [] })],
    ['more members', event({ extra: 1 })],
  ])('%s is 400', async (_what, body) => {
    expect(await ask('POST', '/events', { body })).toMatchObject({
      status: 400,
      json: { error: 'Bad Request' },
    });
  });
});

describe('a service whose key was lost', () => {
  it('says at its start how many secrets are lost with it, and what to do', async () => {
    const file = join(folder, 'lost.db');
    const begin = async (sealingKey: Buffer) => {
      const lines: object[] = [];
      const started = await startWebhooks({
        port: 0,
        store: openSqliteStore({ file, now: Date.now }),
        sealingKey,
        destinations: { allow: ['localhost:9'], deny: [] },
        ca: () => undefined,
        log: (line) => lines.push(line),
      });
      return { url: started.url, lines, [Symbol.asyncDispose]: started.close };
    };
    {
      await using before = await begin(Buffer.alloc(32, 1));
      const headers = { 'x-consumer-id': 'acme', 'content-type': 'application/json' };
      await fetch(`${before.url}/webhooks`, { method: 'POST', headers, body: JSON.stringify(NEW) });
      expect(before.lines).toEqual([]);
    }
    await using after = await begin(Buffer.alloc(32, 2));
    await expect
      .poll(() => after.lines)
      .toEqual([
        {
          event: 'secrets_lost',
          subscriptions: 1,
          advice: expect.stringContaining('put back the file webhooks-key or SUNDIAL_WEBHOOKS_KEY'),
        },
      ]);
  });
});

describe('what an operator reads', () => {
  it('the overview: deliveries by state and endpoints with their health, without secrets, paths or queries', async () => {
    await ask('PUT', `/webhooks/${id}`, {
      body: { ...NEW, url: 'https://hooks.example.org/s3cret?t=s3cret' },
    });
    const { json } = await ask('GET', '/admin/overview', { as: '' });
    expect(json).toMatchObject({
      store: 'sqlite',
      deliveries: { pending: expect.any(Number), delivered: 0, dead: 0 },
      endpoints: [{ id, owner: 'acme', host: 'hooks.example.org', health: { breaker: 'closed' } }],
    });
    expect(JSON.stringify(json)).not.toContain('s3cret');
    const deliveries = await ask('GET', `/admin/deliveries?subscription=${id}`);
    expect(deliveries.json).toEqual({ total: 0, data: [] });
  });

  it('of each endpoint the last attempt and the next, and those in trouble before the others', async () => {
    const { json: other } = await ask('POST', '/webhooks', { body: KNOWN });
    // It rests for an hour, so that nothing is tried meanwhile.
    const at = Date.now();
    await store.health.change(other.id, (before) =>
      attempted(before, failed(before, at, USUAL.rules, 3_600_000), { at, outcome: 'failed', status: 503 }),
    );
    await ask('POST', `/webhooks/${other.id}/test`, { body: {} });
    const { json } = await ask('GET', '/admin/overview');
    expect(json.endpoints_total).toBe(2);
    expect(json.endpoints).toMatchObject([
      {
        id: other.id,
        health: {
          breaker: 'open',
          failures: 1,
          last_attempt: { at: Math.floor(at / 1000), outcome: 'failed', status: 503 },
        },
        deliveries: { pending: 1, dead: 0 },
        next_attempt: expect.any(Number),
      },
      { id, health: { failures: 0 } },
    ]);
    expect(json.endpoints[1]).not.toHaveProperty('next_attempt');
  });

  it('is for this machine by its own names: another name that leads here gets 404', async () => {
    const statusFor = (host: string, path: string) =>
      new Promise((resolve, reject) => {
        const asked = plainRequest(`${service.url}${path}`, { headers: { host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        asked.once('error', reject).end();
      });
    for (const path of ['/admin/overview', '/metrics']) {
      expect(await statusFor('evil.example', path)).toBe(404);
      expect(await statusFor(`localhost:${service.port}`, path)).toBe(200);
    }
  });

  it('the metrics, and whether the store answers', async () => {
    await ask('POST', '/events', { body: { id: 'evt_m', type: 'order.created', created: 1, data: {} } });
    const text = await (await fetch(`${service.url}/metrics`)).text();
    expect(text).toContain('sundial_webhook_events_total{event="order.created",known="no"} 1');
    // Whatever services call their events, there are as many series as there are types to subscribe to.
    await ask('POST', '/events', { body: { id: 'evt_n', type: 'a.canary', created: 1, data: {} } });
    const more = await (await fetch(`${service.url}/metrics`)).text();
    expect(more).toMatch(/^sundial_webhook_events_total\{event="other",known="no"\} [1-9]/m);
    expect(more).not.toContain('canary');
    expect(text).toMatch(/^sundial_webhook_deliveries_kept\{state="pending"\} \d+$/m);
    expect((await ask('GET', '/readyz')).status).toBe(200);
    expect(log.filter((line) => 'error' in line)).toEqual([]);
  });
});
