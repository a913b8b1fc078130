// Spellings of a path over real sockets: each is judged as any service may read it (VER-7, ORD-2).
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import policySchema from '../../config/schema/policy.schema.json' with { type: 'json' };
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let authorization = '';
let issuer: TestIssuer;
const clients: Record<string, Client> = {};

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  gateway = stack.use(
    await runGateway({ policies: 'paths', lifecycleNow: () => Date.UTC(2026, 10, 20), environment }),
  );
  clients['HTTP/1.1'] = stack.use(overHttp1(gateway.https));
  clients['HTTP/2'] = stack.use(overHttp2(gateway.https));
  authorization = `Bearer ${await issuer.sign({ scope: 'orders:read' })}`;
});
afterAll(() => stack.disposeAsync());

async function ask(how: string, path: string, token = true) {
  const headers = token ? { authorization } : {};
  return clients[how]?.ask({ path, headers });
}

describe.each(['HTTP/1.1', 'HTTP/2'])('over %s', (how) => {
  it.each([
    // %2F as a slash
    ['/api/inv/items/7%2Fpayments', 401],
    ['/api/inv/admin%2F7', 401],
    ['/api/inv/export%2F', 410],
    ['/api/inv/%2Fexport', 410],
    // characters that may be percent-encoded
    ['/api/inv/users%3Apurge', 401],
    ['/api/inv/%24metadata', 401],
    ['/api/inv/%40me', 401],
    // case
    ['/api/inv/ADMIN/7', 401],
    ['/api/inv/EXPORT', 410],
    ['/api/inv/eXport/', 410],
    // parameters, suffixes, blanks
    ['/api/inv/admin;x=1/7', 401],
    ['/api/inv/admin;/7', 401],
    ['/api/inv/export;', 410],
    ['/api/inv/export;/more', 410],
    ['/api/inv/export.json', 410],
    ['/api/inv/export%20', 410],
    // a last parameter without a value
    ['/api/inv/admin/', 401],
    // empty segments
    ['/api/inv//admin/7', 400],
    ['/api/inv/admin//7', 400],
    ['/api/inv/;x/admin/7', 400],
    // nested bases on one service
    ['/api/mono//secure/x', 400],
    ['/api/mono/%2Fsecure/x', 401],
    ['/api/mono/secure%2Fx', 401],
    ['/api/mono/SECURE/x', 401],
    ['/api/mono/secure;a/x', 401],
    ['/api/mono/secure.json', 401],
    ['/api/mono/%73ecure%2Fx', 401],
    // a host where the path should begin
    ['/api/ech//evil.test/x', 400],
    ['/api/ech//', 400],
  ])('VER-7: %s gets %i without a token', async (path, status) => {
    expect(await ask(how, path, false)).toMatchObject({ status });
  });

  it.each([
    ['/api/inv/items/7', 200],
    ['/api/inv/items/group%2Fproject', 200],
    ['/api/inv/items/https%3A%2F%2Fexample.com', 200],
    ['/api/inv/Items/7', 200],
    ['/api/inv/other/7', 200],
    ['/api/inv/admin/7', 403],
    ['/api/inv/Admin/7', 403],
    ['/api/inv/users%3Apurge', 403],
    ['/api/inv/CAF%C3%89', 403],
    ['/api/inv/%E2%84%AAit', 200],
    ['/api/inv/%20/admin/7', 400],
    ['/api/mono/secure/x', 403],
    ['/api/mono/Secure/x', 403],
    ['/api/open/INNER/x', 400],
    ['/api/open/inner%2Fx', 400],
    ['/api/open/inner/x', 200],
    ['/api/mono/other/x', 200],
    ['/api/ech/echo//y', 200],
    ['/api/exp/export', 410],
    // the root of a mounted router has both spellings
    ['/api/exp/export/', 410],
    ['/api/exp/EXPORT', 410],
    ['/api/exp/export;x', 200],
    ['/api/exp/a%2Fb', 400],
    // keys of `paths` that make it another path than /export
    ['/api/exact/export', 410],
    ['/api/exact/EXPORT', 200],
    ['/api/exact/export;x', 200],
    ['/api/exact/export.json', 200],
    ['/api/exact/export/x', 200],
    ['/api/exact/%2Fexport', 200],
    // keys that make it the same path
    ['/api/loose/EXPORT', 410],
    ['/api/loose/export;x', 410],
    ['/api/loose/export.json', 410],
    ['/api/loose/export/', 410],
    ['/api/loose/%2Fexport', 410],
  ])('VER-7: %s gets %i with a read token', async (path, status) => {
    expect(await ask(how, path)).toMatchObject({ status });
  });

  it('ORD-2: an admitted path is forwarded unchanged', async () => {
    const answer = await ask(how, '/api/inv/items/group%2Fproject;v=1?a=%2F');
    expect(answer?.json).toMatchObject({ target: '/echo/inv/items/group%2Fproject;v=1?a=%2F' });
  });

  it('AUTH-2: a nested API sends its own challenge, and its responses are private', async () => {
    const refused = await ask(how, '/api/mono/SECURE/x', false);
    expect(refused?.headers['www-authenticate']).toMatch(/^Bearer realm="secure"/);
    const admitted = await ask(how, '/api/inv/items/group%2Fproject');
    expect(admitted?.headers['cache-control']).toBe('private');
  });

  it('VER-7: the limits of all readings apply, and the headers show that of the named one', async () => {
    const statuses: unknown[] = [];
    for (let index = 0; index < 3; index += 1) {
      const answer = await ask(how, `/api/lim${how === 'HTTP/2' ? 2 : 1}/SLOW`);
      statuses.push(answer?.status);
      if (index === 0) expect(answer?.headers['x-ratelimit-limit']).toBe('100');
    }
    expect(statuses).toEqual([200, 200, 429]);
  });
});

it.each([
  ['/api/inv/items/7%2Fpayments', 'GET /items/{id}', 'GET /items/{id}'],
  ['/api/inv/EXPORT', undefined, 'other'],
])('VER-7: log and metrics use the operation that %s names: %s', async (path, operation, counted) => {
  const series = `sundial_deprecated_operation_requests_total{api="inv",version="v1",operation="${counted}"}`;
  const before = (await gateway.metric(series)) ?? 0;
  const answer = await ask('HTTP/1.1', path, false);
  const line = await gateway.accessLine(answer?.headers['x-request-id'] ?? '');
  expect(line.operation).toBe(operation);
  expect(await gateway.metric(series)).toBe(before + 1);
});

it('VER-7: the ledger counts a call under the operation that its path names, and no other', async () => {
  const token = await issuer.sign({ scope: 'orders:read', client_id: 'counted' });
  const headers = { authorization: `Bearer ${token}` };
  const path = '/api/inv/items/7%2Fpayments';
  expect((await clients['HTTP/1.1']?.ask({ path, headers }))?.status).toBe(200);
  await using admin = overHttp1(gateway.admin, { tls: false });
  await vi.waitFor(async () => {
    const { json } = await admin.ask({ path: '/-/usage?api=inv&consumer=counted' });
    expect(json.consumers).toMatchObject([
      { calls: 1, operations: [{ operation: 'GET /items/{id}', calls: 1 }] },
    ]);
  }, 20_000);
});

/** Keys of an operation that refuse requests, with the status of the second of two requests. */
const REFUSING: Readonly<Record<string, number>> = {
  access: 403,
  sunset: 410,
  brownouts: 410,
  maintenance: 503,
  max_body: 413,
  idempotency: 400,
  limits: 429,
  cost: 429,
};
/** Keys that inform and do not refuse. */
const TELLING = ['deprecated', 'successor', 'guide', 'reason', 'after', 'body_notice'];

it.each(['/items/7/soon', '/items/7%2Fsoon', '/items/7/SOON', '/items/7/soon;x'])(
  'CACHE-6: no cache reuses a response to %s past the sunset of the operation',
  async (path) => {
    const asked = `/api/keys${path}?header=Cache-Control:public,max-age=31536000`;
    const answer = await clients['HTTP/1.1']?.ask({ path: asked, headers: { authorization } });
    expect(answer?.headers['cache-control']).toMatch(/max-age=86400/);
  },
);

it('IDM-2: a kept response belongs to its caller, however the path is spelt', async () => {
  const ask = async (client: string) => {
    const token = await issuer.sign({ scope: 'orders:read', client_id: client });
    const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'one-key' };
    return clients['HTTP/1.1']?.ask({ path: '/api/keys/open/7%2Fpay', method: 'POST', headers, body: '{}' });
  };
  expect(await ask('first')).toMatchObject({ status: 200 });
  const other = await ask('second');
  expect(other?.headers).not.toHaveProperty('idempotency-replayed');
  expect((await ask('first'))?.headers).toMatchObject({ 'idempotency-replayed': 'true' });
});

it('VER-7: an enforced limit of an operation also applies to other spellings of its path', async () => {
  const statuses: (number | undefined)[] = [];
  for (const path of ['/api/shadow/OPEN', '/api/shadow/open;x', '/api/shadow/open'])
    statuses.push((await clients['HTTP/1.1']?.ask({ path }))?.status);
  expect(statuses).toEqual([200, 429, 429]);
});

describe('a key of an operation', () => {
  it('is in one of the two lists of this test', () => {
    const { operations } = policySchema.properties.versions.anyOf[1]?.additionalProperties?.properties ?? {};
    const known = Object.keys(operations?.additionalProperties.properties ?? {});
    expect(known.sort()).toEqual([...Object.keys(REFUSING), ...TELLING].sort());
  });

  it.each(
    Object.entries(REFUSING).flatMap(([key, status]) =>
      [key, key.toUpperCase(), `${key};x=1`, `${key}.json`].map((spelling) => [spelling, status] as const),
    ),
  )('VER-7: refuses POST /%s with %i', async (spelling, status) => {
    const token = await issuer.sign({ scope: 'orders:read', client_id: spelling });
    const headers = { authorization: `Bearer ${token}` };
    const statuses: (number | undefined)[] = [];
    for (let index = 0; index < 2; index += 1) {
      // Without Content-Length, so that the body is counted while it arrives.
      const body = Readable.from(['x'.repeat(100)]);
      const answer = await clients['HTTP/1.1']?.ask({
        path: `/api/keys/${spelling}`,
        method: 'POST',
        headers,
        body,
      });
      statuses.push(answer?.status);
    }
    const isCounted = status === 429;
    expect(statuses).toEqual([isCounted ? 200 : status, status]);
  });
});
