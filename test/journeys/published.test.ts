// The public lifecycle pages of the gateway: the catalog, its revalidation, and the reserved paths.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { overHttp2 } from '../support/http-client.ts';
import { ORDERS, ORIGIN, openPublished, type PublishedFixture, SUNSET } from './published/fixture.ts';

const CATALOG = '/.well-known/api-catalog';

let fixture: PublishedFixture;
beforeAll(async () => {
  fixture = await openPublished();
});
afterAll(() => fixture[Symbol.asyncDispose]());
const ask: PublishedFixture['ask'] = (...asked) => fixture.ask(...asked);

interface Linkset {
  readonly linkset: readonly Readonly<Record<string, unknown>>[];
}

async function items(at?: number): Promise<unknown> {
  const { linkset } = (await ask(CATALOG, {}, 'GET', at)).json as unknown as Linkset;
  return linkset[0]?.item;
}

describe('the catalog', () => {
  it('CAT-1: is a linkset with its profile, and HEAD has its Link', async () => {
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

  it('CAT-2: links to the documentation of each version, also of versions that share a URL', async () => {
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

  it.each(['GET', 'HEAD'])('RFC 9727 §3: is linked from the root path, for %s', async (method) => {
    const { status, headers } = await ask('/', {}, method);
    expect(status).toBe(200);
    expect(headers.link).toBe(`<${ORIGIN}${CATALOG}>; rel="api-catalog"`);
    expect((await ask('/quotes', {}, method)).headers.link).not.toContain('api-catalog');
    expect((await ask('/', { host: 'other.example.com' }, method)).headers).not.toHaveProperty('link');
  });

  it('CAT-3: lists active and deprecated versions, without retired and planned ones', async () => {
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

  it('C304-4: a change of stage changes the ETag', async () => {
    const { etag = '' } = (await ask(ORDERS)).headers;
    expect((await ask(ORDERS, { 'if-none-match': etag }, 'GET', SUNSET)).status).toBe(200);
  });
});

describe('the reserved paths', () => {
  it('are read without a token, over HTTP/2 too, and belong to no API', async () => {
    await using other = overHttp2(fixture.gateway.https);
    const { status, headers } = await other.ask({ path: ORDERS });
    expect(status).toBe(200);
    const line = await fixture.gateway.accessLine(headers['x-request-id']);
    expect(line).toMatchObject({ path: ORDERS, status: 200 });
    expect(line).not.toHaveProperty('api');
  });

  it('answer 405 to POST', async () => {
    const { status, headers, json } = await ask(CATALOG, {}, 'POST');
    expect(status).toBe(405);
    expect(headers).toMatchObject({ allow: 'GET, HEAD', 'cache-control': 'no-store' });
    expect(json).toEqual({ error: 'Method Not Allowed', message: 'This resource can only be read.' });
    const line = await fixture.gateway.accessLine(headers['x-request-id']);
    expect(line.refusal).toBe('method_not_allowed');
  });

  it.each(['', '/', '/nothing', '/orders/', '/orders.json', '/health', '/constructor'])(
    'do not exist below the lifecycle as "%s", even with an API at the root',
    async (rest) => {
      const { status, headers } = await ask(`/.well-known/lifecycle${rest}`);
      expect(status).toBe(404);
      expect((await fixture.gateway.accessLine(headers['x-request-id'])).refusal).toBe('route_unknown');
    },
  );

  it('leave other well-known paths to the APIs', async () => {
    expect((await ask('/.well-known/security.txt')).json).toMatchObject({
      target: '/echo/.well-known/security.txt',
    });
  });

  it('RFC 9728: list the issuers of an API without scopes, and omit empty lists', async () => {
    const { status, json } = await ask('/.well-known/oauth-protected-resource/api/orders');
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(['resource', 'authorization_servers', 'bearer_methods_supported']);
  });

  it('answer 421 to an unknown host', async () => {
    expect((await ask(CATALOG, { host: 'other.example.com' })).status).toBe(421);
  });
});
