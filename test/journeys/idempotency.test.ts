// Requests with an Idempotency-Key over real sockets, in front of an upstream that counts: carried out once, answered again.
// Two gateways on one Redis and one with a store of its own; every refusal there is for a key.
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, type Fields, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';
import { type RunningRedis, startRedis } from '../support/redis-server.ts';
import { type CountingOrders, startCountingOrders } from './idempotency/counting-orders.ts';

const DAY = Date.UTC(2026, 10, 20);
const PATIENT = { timeout: 20_000, interval: 5 };

const stack = new AsyncDisposableStack();
const clock = { now: DAY };
let upstream: CountingOrders;
let issuer: TestIssuer;
let redis: RunningRedis;
let own: RunningGateway;
let first: RunningGateway;
let second: RunningGateway;
let bearer: string;
const clients = new Map<string, Client>();

beforeAll(async () => {
  upstream = stack.use(await startCountingOrders());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  redis = stack.adopt(await startRedis(), (service) => service.stop());
  const environment = { UPSTREAM: upstream.url, ISSUER: issuer.url };
  const run = async (store?: string) =>
    stack.use(
      await runGateway({
        policies: 'idempotency',
        lifecycleNow: () => clock.now,
        environment: { ...environment, ...(store === undefined ? {} : { STORE: store }) },
      }),
    );
  own = await run();
  first = await run(redis.url);
  second = await run(redis.url);
  clients.set('HTTP/1.1', stack.use(overHttp1(own.https)));
  clients.set('HTTP/2', stack.use(overHttp2(own.https)));
  clients.set('first', stack.use(overHttp1(first.https)));
  clients.set('second', stack.use(overHttp1(second.https)));
  bearer = `Bearer ${await issuer.sign()}`;
});
afterAll(() => stack.disposeAsync());

interface Sent {
  readonly key?: string;
  readonly method?: string;
  readonly headers?: Fields;
  readonly body?: string | Readable;
  readonly over?: string;
}

/** Places an order at `path` below the base of v2. */
function send(
  path: string,
  { key, method = 'POST', headers, body = '{"item":1}', over }: Sent,
): Promise<Answer> {
  const client = clients.get(over ?? 'HTTP/1.1');
  if (client === undefined) throw new Error(`no client ${over}`);
  return client.ask({
    path: /^\/(?:api|\.well-known)\//.test(path) ? path : `/api/v2/orders${path}`,
    method,
    body,
    headers: {
      authorization: bearer,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...headers,
    },
  });
}

const carried = (path: string) => upstream.carried(`/orders${path}`).length;
const outcome = async (answer: Answer, gateway = own) =>
  (await gateway.accessLine(answer.headers['x-request-id'])).idempotency;

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (over) => {
  const at = (name: string) => `/${name}-${over === 'HTTP/2' ? 2 : 1}`;

  it('IDM-3: the same again is answered again, with fresh lines of its own', async () => {
    const path = at('replay');
    upstream.answerWith(`/orders${path}`, (response) => {
      response.writeHead(201, {
        ...{ 'content-type': 'application/json', location: '/orders/7', 'set-cookie': 'a=b' },
        ...{ date: 'Mon, 01 Jan 2024 00:00:00 GMT', 'x-ratelimit-remaining': '3', via: '1.1 inner' },
      });
      response.end('{"order": 7}');
    });
    const placed = await send(path, { key: '"order-7"', over });
    const again = await send(path, { key: 'order-7', over });
    expect(placed.headers).not.toHaveProperty('idempotency-replayed');
    expect(placed.headers).toMatchObject({ 'set-cookie': 'a=b' });
    expect(again).toMatchObject({ status: 201, text: '{"order": 7}', complete: true });
    expect(again.headers).toMatchObject({
      ...{ 'idempotency-replayed': 'true', location: '/orders/7', 'content-type': 'application/json' },
      ...{ 'x-served-by': 'sundial', via: placed.headers.via, 'content-length': '12' },
    });
    expect(again.headers).not.toHaveProperty('set-cookie');
    expect(again.headers.date).not.toBe(placed.headers.date);
    expect(again.headers['x-request-id']).not.toBe(placed.headers['x-request-id']);
    // IDM-8: a replay counts.
    expect(Number(again.headers['x-ratelimit-remaining'])).toBeLessThan(
      Number(placed.headers['x-ratelimit-remaining']),
    );
    expect(carried(path)).toBe(1);
    expect([await outcome(placed), await outcome(again)]).toEqual(['claimed', 'replayed']);
  });

  it('IDM-3: thirty at once are carried out once; the others are told to come again', async () => {
    const path = at('thirty');
    upstream.answerWith(
      `/orders${path}`,
      (response) => void setImmediate(() => response.writeHead(201).end('x')),
    );
    const answers = await Promise.all(Array.from({ length: 30 }, () => send(path, { key: 'thirty', over })));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201).length).toBeGreaterThanOrEqual(1);
    expect(statuses.filter((status) => status !== 201 && status !== 409)).toEqual([]);
    expect(carried(path)).toBe(1);
    const conflict = answers.find(({ status }) => status === 409);
    if (conflict !== undefined) expect(conflict.headers['retry-after']).toBe('1');
    expect((await send(path, { key: 'thirty', over })).headers['idempotency-replayed']).toBe('true');
  });

  it('idempotency_conflict: while it runs, by its key alone', async () => {
    const path = at('running');
    const release = Promise.withResolvers<void>();
    upstream.answerWith(
      `/orders${path}`,
      (response) => void release.promise.then(() => response.end('done')),
    );
    const running = send(`/api/v1/orders${path}`, { key: 'k', over });
    await vi.waitFor(() => expect(carried(path)).toBe(1), PATIENT);
    const other = await send(`/api/v1/orders${path}`, { key: 'k', over, body: '{"item":2}' });
    expect(other).toMatchObject({ status: 409, headers: { 'retry-after': '1' }, json: { retryAfter: 1 } });
    const line = await own.accessLine(other.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'idempotency_conflict', idempotency: 'conflict', status: 409 });
    release.resolve();
    expect((await running).text).toBe('done');
  });

  it('idempotency_mismatch: another payload, other blanks and another type among them', async () => {
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
      const line = await own.accessLine(answer.headers['x-request-id']);
      expect(line).toMatchObject({ refusal: 'idempotency_mismatch', idempotency: 'mismatch' });
    }
    expect(carried(path)).toBe(1);
    expect((await send(path, { key: 'k', over })).headers['idempotency-replayed']).toBe('true');
  });

  it('ORD-2: the upstream gets the very bytes, and the key', async () => {
    const path = at('bytes');
    const body = '\u0000{"a" :\t1}\r\n';
    await send(path, { key: '"a \\" key"', over, body });
    const streamed = await send(path, { key: 'chunks', over, body: Readable.from(['{"a"', ':1', '}']) });
    expect(streamed.status).toBe(201);
    const [whole, inChunks] = upstream.carried(`/orders${path}`);
    expect(whole).toMatchObject({ body, headers: { 'idempotency-key': '"a \\" key"' } });
    expect(inChunks?.body).toBe('{"a":1}');
  });

  it('IDM-7: what is larger than is kept passes without the guarantee', async () => {
    const path = at('large');
    const large = 'x'.repeat(10_000);
    for (const body of [large, Readable.from([large.slice(0, 3_000), large.slice(3_000)])]) {
      const answer = await send(path, { key: 'large', over, body });
      expect(answer.status).toBe(201);
      expect(await outcome(answer)).toBe('unprotected');
    }
    expect(upstream.carried(`/orders${path}`).map(({ body }) => body)).toEqual([large, large]);
  });

  it('IDM-7: an answer larger than is kept, or without an end, is given as it comes and not again', async () => {
    for (const [name, head] of [
      ['length', { 'content-length': '9000' }],
      ['chunks', {}],
      ['stream', { 'content-type': 'text/event-stream' }],
    ] as const) {
      const path = at(name);
      upstream.answerWith(`/orders${path}`, (response) => {
        response.writeHead(200, head);
        response.write('a'.repeat(3_000));
        response.end('b'.repeat(6_000));
      });
      for (const count of [1, 2]) {
        const answer = await send(path, { key: name, over });
        expect(answer.body.length).toBe(9_000);
        expect(await outcome(answer)).toBe('unprotected');
        expect(carried(path)).toBe(count);
      }
    }
  });

  it('promise 42: a client that leaves finds what came of it', async () => {
    const path = at('leaves');
    const release = Promise.withResolvers<void>();
    upstream.answerWith(`/orders${path}`, (response) => {
      void release.promise.then(() => response.writeHead(201).end('kept'));
    });
    const headers = { authorization: bearer, 'content-type': 'text/plain', 'idempotency-key': 'left' };
    const asked = { path: `/api/v1/orders${path}`, method: 'POST', headers, body: 'x' };
    const { leave } = clients.get(over)?.begin(asked) ?? {};
    await vi.waitFor(() => expect(carried(path)).toBe(1), PATIENT);
    leave?.();
    release.resolve();
    const again = await vi.waitFor(async () => {
      const answer = await clients.get(over)?.ask(asked);
      expect(answer?.status).toBe(201);
      return answer;
    }, PATIENT);
    expect(again).toMatchObject({ text: 'kept', headers: { 'idempotency-replayed': 'true' } });
    expect(carried(path)).toBe(1);
  });
});

describe('keys', () => {
  it.each([
    ['empty', ''],
    ['of two words', 'a b'],
    ['in one quote', '"a'],
    ['too long', 'k'.repeat(256)],
  ])('idempotency_key_malformed: %s', async (_what, key) => {
    const answer = await send('/malformed', { headers: { 'idempotency-key': key } });
    expect(answer).toMatchObject({ status: 400, json: { error: 'Bad Request' } });
    expect(answer.headers.link).toContain('/.well-known/lifecycle/orders>; rel="describedby"');
    const line = await own.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'idempotency_key_malformed' });
    expect(carried('/malformed')).toBe(0);
  });

  it('IDM-1: two lines are refused, as two of any such field are', async () => {
    expect((await send('/malformed', { headers: { 'idempotency-key': ['a', 'b'] } })).status).toBe(400);
    expect(carried('/malformed')).toBe(0);
  });

  it('idempotency_key_missing: where one is required, with where that is said', async () => {
    const answer = await send('/must', {});
    expect(answer.status).toBe(400);
    expect(answer.json.message).toContain('It is kept for 1 day.');
    expect(answer.headers.link).toContain('rel="describedby"');
    const line = await own.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'idempotency_key_missing' });
    expect((await send('/must', { key: 'k' })).status).toBe(201);
    const tooLarge = await send('/must', { key: 'l', body: 'x'.repeat(5_000) });
    const unmeasured = await send('/must', { key: 'l', body: Readable.from(['x'.repeat(5_000)]) });
    expect([tooLarge.status, unmeasured.status]).toEqual([413, 413]);
    // IDM-9: corrected, it comes with the same key.
    expect((await send('/must', { key: 'l' })).status).toBe(201);
    expect(carried('/must')).toBe(2);
  });

  it('idempotency_key_anonymous: nobody is known, and nobody is asked who they are', async () => {
    const answer = await send('/api/closed/x', { key: 'k' });
    expect(answer.status).toBe(400);
    const line = await own.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'idempotency_key_anonymous' });
    expect((await send('/api/closed/x', {})).status).toBe(201);
    expect((await send('/api/open/x', { key: 'k' })).headers).not.toHaveProperty('idempotency-replayed');
    expect((await send('/api/open/x', { key: 'k' })).headers['idempotency-replayed']).toBe('true');
  });

  it('IDM-2: mean nothing to methods that change nothing, and where they are off', async () => {
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

  it('IDM-5: are told of on the page that a refusal links, with how long they are kept', async () => {
    const read = (accept: string) =>
      send('/.well-known/lifecycle/orders', { method: 'GET', body: '', headers: { accept } });
    const { json } = await read('application/json');
    const keys = { methods: ['POST', 'PUT'], required: false, keep_seconds: 86_400 };
    expect(json.versions).toMatchObject([{ idempotency: keys }, { idempotency: keys }]);
    expect((await read('text/html')).text).toContain('POST, PUT may have an Idempotency-Key, kept for 1 day');
  });

  it('IDM-4: are one caller’s own, and of one method, target and version', async () => {
    const other = `Bearer ${await issuer.sign({ client_id: 'other' })}`;
    const user = `Bearer ${await issuer.sign({ sub: 'somebody-else' })}`;
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
    // The same resource of the same version, however that is named.
    const named = await send('/api/orders/scope?a=1', { key, headers: { 'api-version': 'v2' } });
    expect(named.headers['idempotency-replayed']).toBe('true');
  });

  it('IDM-9: a refusal before takes no key', async () => {
    expect((await send('/small', { key: 'k', body: 'x'.repeat(100) })).status).toBe(413);
    expect((await send('/small', { key: 'k', headers: { authorization: 'Bearer no' } })).status).toBe(401);
    expect((await send('/small', { key: 'k' })).status).toBe(201);
  });

  it('FWD-10: one that runs is refused before the body is asked for', async () => {
    const release = Promise.withResolvers<void>();
    upstream.answerWith(
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

  it('ORD-5: pages may send a key and read that an answer is one given again', async () => {
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

describe('outcomes', () => {
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
  ])('IDM-6: %i, sent twice, is carried out %i times', async (status, times) => {
    const path = `/status-${status}`;
    upstream.answerWith(`/orders${path}`, (response) => response.writeHead(status).end());
    const answers = [await send(path, { key: 'k' }), await send(path, { key: 'k' })];
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    expect(answers[1]?.headers['idempotency-replayed']).toBe(times === 1 ? 'true' : undefined);
    expect(carried(path)).toBe(times);
  });

  it('IDM-6: a 5xx is one where the policy says so', async () => {
    upstream.answerWith('/orders/errors', (response) => response.writeHead(500).end('oops'));
    await send('/errors', { key: 'k' });
    expect(await send('/errors', { key: 'k' })).toMatchObject({ status: 500, text: 'oops' });
    expect(carried('/errors')).toBe(1);
  });

  it.each([
    ['no answer in time', 504, () => undefined],
    [
      'a reset',
      502,
      (response: Parameters<Parameters<CountingOrders['answerWith']>[1]>[0]) => response.destroy(),
    ],
    [
      'an answer that breaks off',
      502,
      (response: Parameters<Parameters<CountingOrders['answerWith']>[1]>[0]) => {
        response.writeHead(201, { 'content-length': '10' });
        response.write('half', () => response.destroy());
      },
    ],
  ] as const)('idempotency_unknown: %s', async (what, status, answering) => {
    const path = `/unknown-${what.length}`;
    upstream.answerWith(`/orders${path}`, answering);
    // Nobody waits for long there; everywhere else a busy machine may take its time.
    const at = status === 504 ? `/api/slow${path}` : path;
    const lost = await send(at, { key: 'k' });
    expect(lost.status).toBe(status);
    expect(await outcome(lost)).toBe('unknown');
    const again = await send(at, { key: 'k' });
    expect(again.status).toBe(409);
    expect(again.headers).not.toHaveProperty('retry-after');
    const line = await own.accessLine(again.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'idempotency_unknown' });
    expect(carried(path)).toBe(1);
  });

  it('IDM-6: an unknown one may be tried again where the policy says so', async () => {
    upstream.answerWith('/orders/again', (response, _carried, count) => {
      if (count === 1) response.destroy();
      else response.end('second');
    });
    expect((await send('/again', { key: 'k' })).status).toBe(502);
    expect((await send('/again', { key: 'k' })).text).toBe('second');
  });

  it('IDM-6: what was never sent leaves its key free', async () => {
    for (const _time of [1, 2]) expect((await send('/api/away/x', { key: 'k' })).status).toBe(502);
  });

  it('DEP-1, BODY-2: a replay says of its version what is true by now', async () => {
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

describe('two gateways on one Redis', () => {
  it('promise 42: thirty at once, at both, are carried out once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        send('/shared', { key: 'k', over: index % 2 === 0 ? 'first' : 'second' }),
      ),
    );
    // On a busy machine Redis may answer too late; where a key is required that is no licence.
    const known = new Set([201, 409, 503]);
    expect(answers.filter(({ status }) => !known.has(status))).toEqual([]);
    const again = await vi.waitFor(async () => {
      const answer = await send('/shared', { key: 'k', over: 'second' });
      expect(answer.status).toBe(201);
      return answer;
    }, PATIENT);
    expect(again).toMatchObject({ json: { order: 1 }, headers: { 'idempotency-replayed': 'true' } });
    expect(carried('/shared')).toBe(1);
  });

  it('idempotency_unavailable: without the store, only where a key is required', async () => {
    redis.pause();
    const passed = await send('/unheld', { key: 'k', over: 'first' });
    const refused = await send('/must', { key: 'k', over: 'first' });
    redis.resume();
    expect(passed.status).toBe(201);
    expect(await outcome(passed, first)).toBe('unprotected');
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    const line = await first.accessLine(refused.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'idempotency_unavailable' });
  });
});

it('counts what became of keys', async () => {
  const counted = (name: string) =>
    own.metric(`sundial_idempotency_keys_total{api="orders",version="v2",outcome="${name}"}`);
  for (const name of ['claimed', 'replayed', 'mismatch', 'unknown', 'unprotected', 'conflict'])
    expect(await counted(name), name).toBeGreaterThan(0);
});
