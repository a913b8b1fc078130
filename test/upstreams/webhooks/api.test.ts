// Tests of the subscription API over a real socket. Deliveries fail: the allowed host does not listen.
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { HOOK, KNOWN, NEW, openServiceFixture } from './service-fixture.ts';

const { ask, store, begin, service } = await openServiceFixture();
afterAll(() => service.close());

let id: string;
beforeEach(async () => {
  ({ id } = await begin());
});

describe('a subscription', () => {
  it('is created with 201, its URL and its secret, which is never returned again', async () => {
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

  it('has validators: 304 for a matching tag, 412 for another', async () => {
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

  it('is listed in offset pages, the oldest first, with selected fields', async () => {
    for (let more = 0; more < 2; more += 1) await ask('POST', '/webhooks', { body: KNOWN });
    const { json } = await ask('GET', '/webhooks?page=2&limit=2&fields=url');
    expect(json).toEqual({
      data: [{ url: KNOWN.url }],
      pagination: { page: 2, limit: 2, total: 3, totalPages: 2 },
      links: { first: '?page=1&limit=2&fields=url', last: '?page=2&limit=2&fields=url' },
    });
    expect((await ask('GET', '/webhooks')).json.data[0]).toMatchObject({ id });
  });

  it('refuses a sort order and lists the known parameters', async () => {
    expect(await ask('GET', '/webhooks?sort=id')).toMatchObject({
      status: 400,
      json: { message: 'Unknown parameter "sort"; known: page, limit, fields' },
    });
  });

  it('is visible to its owner only', async () => {
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
    // Nor can another owner read or replay its deliveries by a subscription of their own.
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

  it('is limited to a hundred per consumer', async () => {
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

describe('the body of a subscription', () => {
  it.each([
    [{ events: NEW.events }, /url must be/],
    [{ url: 7, events: NEW.events }, /url must be/],
    [{ url: 'http://hooks.example.org/', events: NEW.events }, /https/],
    [{ url: 'https://127.0.0.1/', events: NEW.events }, /not an address/],
    [{ url: 'https://localhost/', events: NEW.events }, /url must/],
    [{ url: HOOK }, /events must be a list/],
    [{ url: HOOK, events: [] }, /events must be a list/],
    [{ url: HOOK, events: 'payment.completed' }, /events must be a list/],
    [{ url: HOOK, events: ['payment'] }, /"payment" is not an event type/],
    [{ url: HOOK, events: ['Payment.Completed'] }, /is not an event type/],
    [{ url: HOOK, events: ['payment.lost'] }, /"payment.lost"; known: order.created/],
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

  it('lists a repeated event once', async () => {
    const { json } = await ask('POST', '/webhooks', {
      body: { url: HOOK, events: ['order.created', 'order.created'] },
    });
    expect(json.events).toEqual(['order.created']);
  });
});

describe('requests for other resources', () => {
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
    // As a page of another site can make a browser send it: with an Origin and without a type.
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
  ])('%s: %s is 405, with the allowed methods, as for OPTIONS', async (path, method, allow) => {
    const at = path.replace(':id', id);
    for (const [each, status] of [
      [method, 405],
      ['OPTIONS', 204],
    ] as const) {
      const answer = await ask(each, at);
      expect([answer.status, answer.headers.get('allow')]).toEqual([status, allow]);
    }
  });

  it('406 and 415 for other media types, 413 for a body above 1 MiB', async () => {
    expect((await ask('GET', '/webhooks', { headers: { accept: 'text/html' } })).status).toBe(406);
    const typed = { body: NEW, headers: { 'content-type': 'text/plain' } };
    expect((await ask('POST', '/webhooks', typed)).status).toBe(415);
    expect((await ask('POST', '/events', typed)).status).toBe(415);
    const long = { body: { url: 'x'.repeat(1_050_000) } };
    expect((await ask('POST', '/webhooks', long)).status).toBe(413);
    expect((await ask('POST', '/events', long)).status).toBe(413);
  });
});
