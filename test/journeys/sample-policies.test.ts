// The table of the README against the shipped gateway file, policies, sample services and issuer.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningGateway } from '../support/gateway.ts';
import { type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { head, sendBytes } from '../support/raw-client.ts';
import { type SampleFixture, startSampleFixture } from '../support/sample-fixture.ts';

const stack = new AsyncDisposableStack();
const clients = new Map<string, Client>();
let fixture: SampleFixture;
let gateway: RunningGateway;
let origin = '';
let authorization = '';

beforeAll(async () => {
  fixture = stack.use(await startSampleFixture());
  ({ gateway, origin, authorization } = fixture);
  clients.set('HTTP/1.1', stack.use(overHttp1(gateway.https)));
  clients.set('HTTP/2', stack.use(overHttp2(gateway.https)));
});
afterAll(() => stack.disposeAsync());

const SIGNALS = ['deprecation', 'sunset', 'link', 'warning', 'x-api-deprecation-info', 'location'];

describe.each(['HTTP/1.1', 'HTTP/2'])('the sample policies on 2026-11-20, over %s', (protocol) => {
  const ask: Client['ask'] = (asked) =>
    clients.get(protocol)?.ask(asked) ?? Promise.reject(new Error(protocol));

  it('GET /api/v2/orders with a token: 200 from the second service, without lifecycle headers', async () => {
    const answer = await ask({ path: '/api/v2/orders?limit=1', headers: { authorization } });
    expect(answer.status).toBe(200);
    expect(answer.json.data).toEqual([
      expect.objectContaining({ id: '1001', amount: 1250, currency: 'EUR' }),
    ]);
    for (const name of SIGNALS) if (name !== 'link') expect(answer.headers).not.toHaveProperty(name);
    expect(answer.headers).toMatchObject({
      'x-ratelimit-limit': '600',
      vary: 'API-Version',
      link: `<${origin}/api/v1/orders>; rel="predecessor-version"`,
    });
  });

  it('GET /api/v1/orders with a token: 200 with all lifecycle signals and the lower limit', async () => {
    const answer = await ask({
      path: '/api/v1/orders/1001?fields=orderNumber,amount',
      headers: { authorization },
    });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ orderNumber: 1001, amount: '12.50' });
    expect(answer.headers).toMatchObject({
      deprecation: '@1768435200',
      sunset: 'Thu, 15 Apr 2027 00:00:00 GMT',
      link: [
        `<${origin}/.well-known/lifecycle/orders#guide-orders-v1-to-v2>; rel="deprecation"; type="text/html"`,
        '<https://status.example.com/orders-v1>; rel="status"',
        `<${origin}/.well-known/lifecycle/orders>; rel="sunset"`,
        `<${origin}/api/v2/orders/1001>; rel="successor-version"`,
      ].join(', '),
      warning: `299 - "Version v1 is deprecated and will be removed on 2027-04-15; see ${origin}/.well-known/lifecycle/orders#guide-orders-v1-to-v2"`,
      'x-api-deprecation-info': 'https://status.example.com/orders-v1',
      'x-ratelimit-limit': '60',
      'ratelimit-policy': '"deprecated";q=60;w=60',
      vary: 'API-Version',
    });
    // DEP-2, SUN-3: each of these fields is one line.
    for (const name of SIGNALS.slice(0, 5))
      expect(answer.lines.filter(([each]) => each === name)).toHaveLength(1);
  });

  it('HEAD-1, C304-2: the same headers on HEAD and on 304, without a body', async () => {
    const get = await ask({ path: '/api/v1/orders/1001', headers: { authorization } });
    const etag = get.headers.etag ?? '';
    const headers = { authorization, 'if-none-match': etag };
    const answers = [
      await ask({ path: '/api/v1/orders/1001', method: 'HEAD', headers: { authorization } }),
      await ask({ path: '/api/v1/orders/1001', headers }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 304]);
    for (const answer of answers) {
      expect(answer.body.length).toBe(0);
      for (const name of ['deprecation', 'sunset', 'link', 'warning', 'x-api-deprecation-info', 'etag']) {
        expect(answer.headers[name]).toBe(get.headers[name]);
      }
    }
  });

  it('/api/v0/orders?x=1&x=2: 301 for GET and 308 for POST, to the v2 URL with its query', async () => {
    const location = `${origin}/api/v2/orders?x=1&x=2`;
    const get = await ask({ path: '/api/v0/orders?x=1&x=2' });
    expect(get).toMatchObject({ status: 301, headers: { location, 'cache-control': 'max-age=60' } });
    const post = await ask({ path: '/api/v0/orders?x=1&x=2', method: 'POST', body: '{}' });
    expect(post).toMatchObject({ status: 308, headers: { location } });
  });

  it('GET /api/v1/catalog: 410 with successor and guide in the body', async () => {
    expect(await ask({ path: '/api/v1/catalog/astrolabe' })).toMatchObject({
      status: 410,
      json: {
        error: 'Gone',
        message: 'API version v1 was retired on 2026-06-01.',
        replacement: `${origin}/api/v2/catalog/astrolabe`,
        migration_guide: `${origin}/.well-known/lifecycle/catalog#guide-catalog-v1-to-v2`,
      },
    });
  });

  it('Versioning 6: Link leads to the guide on the lifecycle page, which has no scripts', async () => {
    const answer = await ask({ path: '/.well-known/lifecycle/orders', headers: { accept: 'text/html' } });
    expect(answer.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    const text = answer.body.toString();
    for (const id of ['guide-orders-v0-to-v2', 'guide-orders-v1-to-v2']) {
      expect(text).toContain(`<a href="${origin}/.well-known/lifecycle/orders#${id}">Migration guide</a>`);
      expect(text).toContain(`<article id="${id}">`);
    }
    expect(text).toContain('<p>Before:</p>\n<pre tabindex="0"><code>GET /api/v1/orders/1001');
  });

  it.each([
    ['orders', ['guide-orders-v0-to-v2', 'guide-orders-v1-to-v2', 'guide-orders-v2-cancel']],
    ['catalog', ['guide-catalog-v1-to-v2']],
    ['payments', ['guide-payments-2026-06-01']],
  ])(
    'Versioning 6: each deprecated or ended version of %s has a guide with examples there',
    async (name, ids) => {
      const path = `/.well-known/lifecycle/${name}`;
      const text = (await ask({ path, headers: { accept: 'text/html' } })).body.toString();
      const guides = new Map(
        Array.from(text.matchAll(/<article id="([^"]+)">(.*?)<\/article>/gs), ([, id = '', body = '']) => [
          id,
          body,
        ]),
      );
      expect([...guides.keys()].toSorted()).toEqual(ids);
      for (const guide of guides.values()) expect(guide).toMatch(/<p>Before.*<pre.*<p>After.*<pre/s);
      const { versions } = (await ask({ path })).json as unknown as {
        readonly versions: readonly { readonly stage: string; readonly migration_guide?: string }[];
      };
      const going = versions.filter(({ stage }) => ['deprecated', 'sunset', 'retired'].includes(stage));
      expect(going.length).toBeGreaterThan(0);
      for (const { migration_guide: guide } of going) expect(ids).toContain(guide?.split('#')[1]);
    },
  );

  it('GET /api/v2/catalog: 200 without a token', async () => {
    const answer = await ask({ path: '/api/v2/catalog/astrolabe' });
    expect(answer).toMatchObject({ status: 200, json: { id: 'astrolabe' } });
  });

  it('GET /api/v2/orders without a token: 401 with a challenge', async () => {
    const answer = await ask({ path: '/api/v2/orders' });
    expect(answer).toMatchObject({
      status: 401,
      headers: {
        'www-authenticate': expect.stringMatching(/^Bearer realm="orders", resource_metadata="https:/),
      },
    });
  });

  it.each([
    ['acme', '2024-09-01', { amount: '12.50', currency: 'EUR', date: '2026-03-01' }],
    ['globex', '2025-09-15', { amount: 1250, currency: 'EUR', created: 1_772_323_200 }],
    ['initech', '2026-06-01', { money: { amount: 1250, currency: 'EUR' }, payer: { name: 'globex' } }],
  ])('GET /api/payments of %s: version %s, to which its account is pinned', async (client, edition, item) => {
    const headers = { authorization: await fixture.authorizationOf(client) };
    const answer = await ask({ path: '/api/payments/p-2001', headers });
    expect(answer).toMatchObject({ status: 200, json: { id: 'p-2001', ...item } });
    expect(answer.headers).toMatchObject({
      'cache-control': expect.stringMatching(/^private, /),
      vary: 'API-Version',
    });
    expect(answer.headers.deprecation).toBe(edition === '2024-09-01' ? '@1780272000' : undefined);
  });

  it('GET /api/payments with API-Version: that version, for one request', async () => {
    const headers = { authorization, 'API-Version': '2026-06-01' };
    const answer = await ask({ path: '/api/payments/p-2001', headers });
    expect(answer).toMatchObject({ status: 200, json: { money: { amount: 1250, currency: 'EUR' } } });
    expect(answer.headers['cache-control']).toBe('private, max-age=60');
    expect((await ask({ path: '/api/payments/p-2001', headers: { authorization } })).json.amount).toBe(
      '12.50',
    );
  });

  it('an API without versions has no lifecycle headers', async () => {
    const answer = await ask({ path: '/api/echo/a?b' });
    expect(answer).toMatchObject({ status: 200, json: { target: '/echo/a?b' } });
    for (const name of SIGNALS) expect(answer.headers).not.toHaveProperty(name);
  });
});

describe('outside the table', () => {
  it('plain HTTP answers 400 with the error body', async () => {
    const answer = await sendBytes(gateway.http, head('GET /api/v2/catalog HTTP/1.1', 'Host: 127.0.0.1'), {
      tls: false,
    });
    expect(answer).toMatchObject({ status: 400, json: { error: 'Bad Request' } });
  });

  it('the admin listener serves metrics, liveness and readiness; the public one does not', async () => {
    await using admin = overHttp1(gateway.admin, { tls: false });
    expect(await admin.ask({ path: '/-/healthy' })).toMatchObject({
      status: 200,
      json: { status: 'healthy' },
    });
    expect(await admin.ask({ path: '/-/ready' })).toMatchObject({
      status: 200,
      json: { status: 'ready', store: { kind: 'embedded', state: 'up' } },
    });
    const series = 'sundial_version_info{api="orders",version="v1",stage="deprecated",successor="v2"}';
    expect(await gateway.metric(series)).toBe(1);
    for (const path of ['/metrics', '/-/healthy', '/-/ready']) {
      expect((await clients.get('HTTP/2')?.ask({ path }))?.status).toBe(404);
    }
  });

  it('too many GET /api/v1/orders: 429 with Retry-After, while v2 is served', async () => {
    const client = clients.get('HTTP/2');
    const asked = Array.from({ length: 61 }, () =>
      client?.ask({ path: '/api/v1/orders/1001', headers: { authorization } }),
    );
    const answers = await Promise.all(asked);
    const refused = answers.filter((answer) => answer?.status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    expect(refused[0]?.headers['retry-after']).toBe(String(refused[0]?.json.retryAfter));
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    const other = await client?.ask({ path: '/api/v2/orders', headers: { authorization } });
    expect(other?.status).toBe(200);
  });

  it.each(['HTTP/1.1', 'HTTP/2'])(
    'with the upstream stopped: 502 with service, over %s',
    async (protocol) => {
      await fixture.stopCatalog();
      const answer = await clients.get(protocol)?.ask({ path: '/api/v2/catalog' });
      expect(answer).toMatchObject({
        status: 502,
        json: {
          error: 'Bad Gateway',
          message: 'The catalog-v2 service could not be reached.',
          service: 'catalog-v2',
        },
        headers: { 'proxy-status': 'sundial; error=connection_refused; next-hop=catalog-v2' },
      });
    },
  );
});
