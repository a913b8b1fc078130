// The published lifecycle of one API: document, page, calendar, changelog, and links to them.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ORDERS, ORIGIN, openPublished, type PublishedFixture, SUNSET } from './published/fixture.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

let fixture: PublishedFixture;
beforeAll(async () => {
  fixture = await openPublished();
});
afterAll(() => fixture[Symbol.asyncDispose]());
const ask: PublishedFixture['ask'] = (...asked) => fixture.ask(...asked);

describe('the lifecycle of an API', () => {
  it('is a document with stage, dates, successor, guide and next change', async () => {
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

  it('is an HTML page with escaped text, no scripts and no external resources', async () => {
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

  it('OAS-2: has the lifecycle of the descriptions, on the page as escaped text', async () => {
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
    ['missing', undefined, 'application/json'],
    ['any type', '*/*', 'application/json'],
    ['both types', 'text/html, application/json', 'application/json'],
    ['HTML first', 'application/json;q=0.5, text/html', 'text/html'],
    ['HTML last', 'application/json, text/html;q=0.9', 'application/json'],
    ['another type', 'image/png', 'application/json'],
  ])('has the type that fits Accept: %s', async (_what, accept, type) => {
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

  it('has a changelog of announcements: as data, on the page and as an Atom feed', async () => {
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

  it('RFC 8631: responses link to the documentation of their version until its sunset', async () => {
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

  it('XDI-1: is the status page of deprecated versions that name no other', async () => {
    const { headers } = await ask('/api/v1/orders');
    expect(headers['x-api-deprecation-info']).toBe(ORIGIN + ORDERS);
    expect(headers.link).toContain(`<${ORIGIN}${ORDERS}>; rel="status"`);
    const own = await ask('/quotes');
    expect(own.headers['x-api-deprecation-info']).toBe('https://status.example.com/quotes');
  });
});
