// What the gateway publishes about lifecycle: the catalog, a document, a page and a calendar per API, to anyone who asks.
// Generated from the plan at the lifecycle clock, over real sockets.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, type Fields, overHttp1, overHttp2 } from '../support/http-client.ts';

const CATALOG = '/.well-known/api-catalog';
const ORDERS = '/.well-known/lifecycle/orders';
const DAY = Date.UTC(2026, 10, 20);
const SUNSET = Date.UTC(2027, 3, 15);
const ORIGIN = 'https://127.0.0.1';
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

const stack = new AsyncDisposableStack();
let gateway: RunningGateway;
let client: Client;
let now = DAY;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  gateway = stack.use(
    await runGateway({ policies: 'published', lifecycleNow: () => now, environment: { ECHO: echo.url } }),
  );
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

function ask(path: string, headers: Fields = {}, method = 'GET', at = DAY): Promise<Answer> {
  now = at;
  return client.ask({ path, method, headers });
}

interface Linkset {
  readonly linkset: readonly Readonly<Record<string, unknown>>[];
}

async function items(at = DAY): Promise<unknown> {
  const { linkset } = (await ask(CATALOG, {}, 'GET', at)).json as unknown as Linkset;
  return linkset[0]?.item;
}

describe('the catalog', () => {
  it('CAT-1: is a linkset of the profile, and HEAD links to it', async () => {
    const answer = await ask(CATALOG);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      'cache-control': 'max-age=300',
      link: `<${ORIGIN}${CATALOG}>; rel="api-catalog"`,
      'access-control-allow-origin': '*',
    });
    const head = await ask(CATALOG, {}, 'HEAD');
    expect(head).toMatchObject({ status: 200, text: '' });
    expect(head.headers.link).toBe(answer.headers.link);
    expect(head.headers['content-length']).toBe(String(answer.body.length));
    expect(head.headers.etag).toBe(answer.headers.etag);
  });

  it('CAT-2: has the sole member linkset, absolute anchors, and a list for each relation', async () => {
    const { json } = await ask(CATALOG);
    expect(Object.keys(json)).toEqual(['linkset']);
    const { linkset } = json as unknown as Linkset;
    for (const { anchor, ...relations } of linkset) {
      expect(anchor).toMatch(/^https:\/\/127\.0\.0\.1/);
      for (const targets of Object.values(relations)) {
        expect(Array.isArray(targets)).toBe(true);
        for (const { href } of targets as { href: string }[]) expect(new URL(href).href).toBe(href);
      }
    }
    expect(linkset.find(({ anchor }) => anchor === `${ORIGIN}/api/v1/orders`)).toEqual({
      anchor: `${ORIGIN}/api/v1/orders`,
      'service-doc': [{ href: 'https://docs.example.com/orders' }],
      'service-meta': [{ href: ORIGIN + ORDERS, type: 'application/json' }],
      status: [{ href: ORIGIN + ORDERS, type: 'text/html' }],
      deprecation: [{ href: 'https://docs.example.com/orders/v1-to-v2', type: 'text/html' }],
      'successor-version': [{ href: `${ORIGIN}/api/v2/orders` }],
    });
  });

  it('CAT-2: names how each is called, of versions that share their place as well', async () => {
    const { linkset } = (await ask(CATALOG)).json as unknown as Linkset;
    const at = (anchor: string) => linkset.find((each) => each.anchor === ORIGIN + anchor);
    expect(at('/api/v2/orders')).toMatchObject({
      'service-doc': [{ href: 'https://docs.example.com/orders/v2' }],
      'service-desc': [{ href: 'https://docs.example.com/orders/v2/openapi.yaml' }],
    });
    expect(at('/quotes')).toMatchObject({
      'service-desc': [{ href: 'https://docs.example.com/quotes/openapi.json' }],
    });
    expect(at('/')).not.toHaveProperty('service-doc');
  });

  it.each(['GET', 'HEAD'])('RFC 9727 §3: is linked to from the front door, for %s', async (method) => {
    const { status, headers } = await ask('/', {}, method);
    expect(status).toBe(200);
    expect(headers.link).toBe(`<${ORIGIN}${CATALOG}>; rel="api-catalog"`);
    expect((await ask('/quotes', {}, method)).headers.link).not.toContain('api-catalog');
    expect((await ask('/', { host: 'other.example.com' }, method)).headers).not.toHaveProperty('link');
  });

  it('CAT-3: lists what is served: retired versions leave, planned ones have not come', async () => {
    const [v1, v2, v3] = ['v1', 'v2', 'v3'].map((label) => ({ href: `${ORIGIN}/api/${label}/orders` }));
    const others = [{ href: `${ORIGIN}/` }, { href: `${ORIGIN}/quotes` }];
    expect(await items()).toEqual([others[0], v1, v2, others[1]]);
    expect(await items(SUNSET - 1)).toEqual([others[0], v1, v2, v3, others[1]]);
    expect(await items(SUNSET)).toEqual([others[0], v2, v3]);
  });

  it('CACHE-6: is not reused past the next change', async () => {
    const { headers } = await ask(CATALOG, {}, 'GET', SUNSET - 45_500);
    expect(headers['cache-control']).toBe('max-age=45');
  });
});

describe('revalidation', () => {
  it.each([CATALOG, ORDERS, `${ORDERS}.ics`])(
    'C304-3, C304-4: %s has a strong ETag of its bytes',
    async (path) => {
      const { headers, body } = await ask(path);
      expect(headers.etag).toBe(`"${createHash('sha256').update(body).digest('base64url')}"`);
      const { etag = '' } = headers;
      for (const condition of [etag, `W/${etag}`, `"other", W/"a,b" , ${etag}`, '*']) {
        const again = await ask(path, { 'if-none-match': condition });
        expect(again).toMatchObject({ status: 304, text: '' });
        expect(again.headers).toMatchObject({ etag, 'cache-control': headers['cache-control'] });
        expect(again.headers).not.toHaveProperty('content-type');
        expect(again.headers.vary).toBe(headers.vary);
      }
      expect((await ask(path, { 'if-none-match': '"other", W/"more"' })).status).toBe(200);
    },
  );

  it('C304-4: a version that changes its stage changes the tag', async () => {
    const { etag = '' } = (await ask(ORDERS)).headers;
    expect((await ask(ORDERS, { 'if-none-match': etag }, 'GET', SUNSET)).status).toBe(200);
  });
});

describe('the lifecycle of an API', () => {
  it('is a document with stage, dates, successor, guide and what comes next', async () => {
    const { status, headers, json } = await ask(ORDERS);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      vary: 'Accept',
      'access-control-allow-origin': '*',
    });
    expect(json).toMatchObject({ api: 'orders', url: ORIGIN + ORDERS, calendar: `${ORIGIN}${ORDERS}.ics` });
    expect(json).toMatchObject({ feed: `${ORIGIN}${ORDERS}.atom` });
    const [v0, v1, v2, v3] = json.versions as Readonly<Record<string, unknown>>[];
    expect(v0).toMatchObject({ version: 'v0', stage: 'retired', sunset: '2026-02-01T00:00:00Z' });
    expect(v1).toEqual({
      version: 'v1',
      url: `${ORIGIN}/api/v1/orders`,
      stage: 'deprecated',
      released: '2024-06-01T00:00:00Z',
      deprecated: '2026-01-15T00:00:00Z',
      sunset: '2027-04-15T00:00:00Z',
      successor: 'v2',
      migration_guide: 'https://docs.example.com/orders/v1-to-v2',
      reason: 'money <script>alert("1")</script> & "amounts"',
      next_change: { at: '2027-04-15T00:00:00Z', stage: 'retired' },
      brownouts: [{ from: '2027-01-05T14:00:00Z', until: '2027-01-05T14:15:00Z', status: 410 }],
      status: ORIGIN + ORDERS,
      service_doc: 'https://docs.example.com/orders',
    });
    expect(v2).toMatchObject({
      stage: 'active',
      service_doc: 'https://docs.example.com/orders/v2',
      service_desc: 'https://docs.example.com/orders/v2/openapi.yaml',
      operations: [{ operation: 'GET /search', stage: 'deprecated' }, { operation: 'GET /{order}' }],
    });
    expect(v3).toMatchObject({
      stage: 'planned',
      next_change: { at: '2027-01-15T00:00:00Z', stage: 'active' },
    });
  });

  it('is a page for browsers: escaped, self-contained, nothing in it may run', async () => {
    const { headers, text } = await ask(ORDERS, { accept: BROWSER });
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', vary: 'Accept' });
    expect(text).toContain('<html lang="en">');
    expect(text).toContain('<th scope="row">v1</th><td><span class="deprecated">Deprecated</span></td>');
    expect(text).toContain('<th scope="row">v2 GET /search</th>');
    expect(text).toContain('<a href="https://docs.example.com/orders/v1-to-v2">Migration guide</a>');
    expect(text).toContain(
      '<a href="https://docs.example.com/orders/v2">Documentation</a><br><a href="https://docs.example.com/orders/v2/openapi.yaml">Description for programs</a>',
    );
    expect(text).not.toMatch(/<script|<link(?! rel="alternate")|<img|src=|onload|http:/);
    expect(text).toContain(
      'money &#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62; &#38; &#34;amounts&#34;',
    );
    const style = /<style>(.*?)<\/style>/s.exec(text)?.[1] ?? '';
    const digest = createHash('sha256').update(style).digest('base64');
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
  });

  it('OAS-2: has what the description of a version tells its callers, on the page as text', async () => {
    const { versions } = (await ask(ORDERS)).json as unknown as { versions: readonly object[] };
    expect(versions[1]).not.toHaveProperty('support');
    expect(versions[2]).toMatchObject({
      support: { level: '<b>full</b>', until: '2028-01-15T00:00:00Z' },
      changelog: 'https://docs.example.com/orders/changelog?v=2&all',
      operations: [
        { operation: 'GET /search', sunset: '2027-06-15T00:00:00Z', introduced: '2026-02-01T00:00:00Z' },
        {
          operation: 'GET /{order}',
          stage: 'active',
          breaking_changes: ['amount is an <i>integer</i>', 'no total any more'],
        },
      ],
    });
    const { text } = await ask(ORDERS, { accept: BROWSER });
    const end = '<time datetime="2028-01-15T00:00:00Z">2028-01-15</time>';
    expect(text).toContain(
      `Support: &#60;b&#62;full&#60;/b&#62; until ${end}<br><a href="https://docs.example.com/orders/changelog?v=2&#38;all">Changelog</a>`,
    );
    expect(text).toContain('Introduced <time datetime="2026-02-01T00:00:00Z">2026-02-01</time>');
    expect(text).toContain(
      'Breaking change: amount is an &#60;i&#62;integer&#60;/i&#62;<br>Breaking change: no total any more',
    );
  });

  it.each([
    ['nothing', undefined, 'application/json'],
    ['anything', '*/*', 'application/json'],
    ['both alike', 'text/html, application/json', 'application/json'],
    ['HTML first', 'application/json;q=0.5, text/html', 'text/html'],
    ['HTML last', 'application/json, text/html;q=0.9', 'application/json'],
    ['something else', 'image/png', 'application/json'],
  ])('is what %s asks for', async (_what, accept, type) => {
    const { headers } = await ask(ORDERS, accept === undefined ? {} : { accept });
    expect(headers['content-type']).toBe(`${type}; charset=utf-8`);
  });

  it('is a calendar of releases, deprecations, sunsets and brownouts', async () => {
    const { headers, text } = await ask(`${ORDERS}.ics`);
    expect(headers['content-type']).toBe('text/calendar; charset=utf-8');
    expect(text.startsWith('BEGIN:VCALENDAR\r\nVERSION:2.0\r\n')).toBe(true);
    expect(text.match(/SUMMARY:.*/g)).toEqual([
      'SUMMARY:orders v0 released',
      'SUMMARY:orders v0 deprecated',
      'SUMMARY:orders v1 released',
      'SUMMARY:orders v1 deprecated',
      'SUMMARY:orders v2 released',
      'SUMMARY:orders v0 sunset: 410 Gone',
      'SUMMARY:orders v2 GET /search deprecated',
      'SUMMARY:orders v1 brownout',
      'SUMMARY:orders v3 released',
      'SUMMARY:orders v1 sunset: 410 Gone',
      'SUMMARY:orders v2 GET /search sunset: 410 Gone',
    ]);
    expect(text).toContain('DTSTART:20270105T140000Z\r\nDTEND:20270105T141500Z\r\n');
  });

  it('has a changelog of what was made known, as data, on the page and as an Atom feed', async () => {
    const { json } = await ask(ORDERS);
    const [latest] = json.announcements as readonly object[];
    expect(latest).toEqual({
      at: '2026-11-01T00:00:00Z',
      kind: 'brownouts',
      title: 'orders v1 will refuse requests for short times from 2027-01-05T14:00:00Z',
      text: [
        'Once, the last until 2027-01-05T14:15:00Z.',
        'Move to v2.',
        'Migration guide: https://docs.example.com/orders/v1-to-v2',
      ],
    });
    const { text: html } = await ask(ORDERS, { accept: BROWSER });
    expect(html).toContain('<strong>orders v2 GET /search is deprecated from 2026-06-01</strong>');
    const { headers, text } = await ask(`${ORDERS}.atom`);
    expect(headers).toMatchObject({
      'content-type': 'application/atom+xml; charset=utf-8',
      etag: expect.any(String),
    });
    expect(text.match(/(?<=<title>).*(?=<\/title>)/g)).toEqual([
      'orders: what changes',
      'orders v1 will refuse requests for short times from 2027-01-05T14:00:00Z',
      'orders v2 GET /search is deprecated from 2026-06-01',
      'orders v0 has ended',
      'orders v2 is released',
      'orders v1 is deprecated from 2026-01-15',
      'orders v1 is released',
      'orders v0 is deprecated from 2024-06-01',
      'orders v0 is released',
    ]);
    expect(text).toContain('<updated>2026-11-01T00:00:00Z</updated>');
    expect(text).toContain(
      '<id>tag:127.0.0.1,2026-11-01:.well-known/lifecycle/orders/v1/brownouts/2026-11-01T00%3A00%3A00Z</id>',
    );
    expect(text).toContain(
      'Why: money &#60;script&#62;alert(&#34;1&#34;)&#60;/script&#62; &#38; &#34;amounts&#34;.',
    );
    expect((await ask(`${ORDERS}.atom`, {}, 'GET', SUNSET)).text).toContain(
      '<title>orders v1 has ended</title>',
    );
    expect((await ask(`${ORDERS}.rss`)).status).toBe(404);
  });

  it('RFC 8631: how a version is called stands on its final answers, refusals included, until its sunset', async () => {
    const v1 = '<https://docs.example.com/orders>; rel="service-doc"';
    const v2 =
      '<https://docs.example.com/orders/v2>; rel="service-doc", <https://docs.example.com/orders/v2/openapi.yaml>; rel="service-desc"';
    const refused = await ask('/api/v2/orders');
    expect(refused.status).toBe(401);
    expect(refused.headers.link).toContain(v2);
    const forwarded = await ask('/quotes');
    expect(forwarded.status).toBe(200);
    expect(forwarded.headers.link).toContain(
      '<https://docs.example.com/quotes/openapi.json>; rel="service-desc"',
    );
    expect((await ask('/api/v1/orders')).headers.link).toContain(v1);
    const gone = await ask('/api/v1/orders', {}, 'GET', SUNSET);
    expect(gone.status).toBe(410);
    expect(gone.headers.link).not.toContain('service-d');
  });

  it('XDI-1: is where deprecated versions point that name no status page', async () => {
    const { headers } = await ask('/api/v1/orders');
    expect(headers['x-api-deprecation-info']).toBe(ORIGIN + ORDERS);
    expect(headers.link).toContain(`<${ORIGIN}${ORDERS}>; rel="status"`);
    const own = await ask('/quotes');
    expect(own.headers['x-api-deprecation-info']).toBe('https://status.example.com/quotes');
  });
});

describe('the reserved paths', () => {
  it('are read without a token over HTTP/2 as well, and count for no API', async () => {
    await using other = overHttp2(gateway.https);
    const { status, headers } = await other.ask({ path: ORDERS });
    expect(status).toBe(200);
    const line = await gateway.accessLine(headers['x-request-id']);
    expect(line).toMatchObject({ path: ORDERS, status: 200 });
    expect(line).not.toHaveProperty('api');
  });

  it('cannot be written to', async () => {
    const { status, headers, json } = await ask(CATALOG, {}, 'POST');
    expect(status).toBe(405);
    expect(headers).toMatchObject({ allow: 'GET, HEAD', 'cache-control': 'no-store' });
    expect(json).toEqual({ error: 'Method Not Allowed', message: 'This resource can only be read.' });
    const line = await gateway.accessLine(headers['x-request-id']);
    expect(line.refusal).toBe('method_not_allowed');
  });

  it.each(['', '/', '/nothing', '/orders/', '/orders.json', '/health', '/constructor'])(
    'do not exist below the lifecycle as "%s", even with an API at the root',
    async (rest) => {
      const { status, headers } = await ask(`/.well-known/lifecycle${rest}`);
      expect(status).toBe(404);
      expect((await gateway.accessLine(headers['x-request-id'])).refusal).toBe('route_unknown');
    },
  );

  it('leave other well-known paths to the APIs', async () => {
    expect((await ask('/.well-known/security.txt')).json).toMatchObject({
      target: '/echo/.well-known/security.txt',
    });
  });

  it('RFC 9728: of an API that asks for no scope name its issuers, and no list that is empty', async () => {
    const { status, json } = await ask('/.well-known/oauth-protected-resource/api/orders');
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(['resource', 'authorization_servers', 'bearer_methods_supported']);
  });

  it('are not served for a foreign host', async () => {
    expect((await ask(CATALOG, { host: 'other.example.com' })).status).toBe(421);
  });
});
