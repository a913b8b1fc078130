// "Resources and their fields" of the specification: every record in its exact form.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { InterfaceFixture } from './fixture.ts';

const UPSTREAMS = join(import.meta.dirname, '../../../upstreams');
const DAY = expect.stringMatching(/^\d{4}-\d\d-\d\d$/);

interface Operation {
  readonly deprecated?: boolean;
  readonly 'x-lifecycle'?: Readonly<Record<string, unknown>>;
}

interface Description {
  readonly info: { readonly version: string; readonly 'x-lifecycle': Readonly<Record<string, unknown>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const read = (file: string): Description => parse(readFileSync(join(UPSTREAMS, file), 'utf8'));

export function resources(fixture: () => InterfaceFixture): void {
  describe('Resources and their fields', () => {
    it('a webhook subscription has url and events, and its secret only in the response to POST', async () => {
      const { ask, samples } = fixture();
      const json = { url: samples.receiver.hooks, events: ['order.created'] };
      const made = await ask('/api/webhooks', { method: 'POST', json });
      expect(made).toMatchObject({
        status: 201,
        json: { ...json, id: expect.any(String), secret: expect.stringMatching(/^whsec_/) },
      });
      const at = `/api/webhooks/${made.json.id}`;
      const shown = await ask(at);
      expect(shown).toMatchObject({ status: 200, json });
      expect(shown.text).not.toContain('secret');
      expect((await ask(at, { method: 'DELETE' })).status).toBe(204);
    });

    it.each([
      ['no url', { events: ['order.created'] }, 'url'],
      ['a url without TLS', { url: 'http://example.com/hooks', events: ['order.created'] }, 'https://'],
      ['no events', { url: 'https://hooks.acme-shop.com/' }, 'events'],
      [
        'an event without its action',
        { url: 'https://hooks.acme-shop.com/', events: ['order'] },
        '<resource>.<action>',
      ],
    ])('WH-8: a webhook subscription with %s gets 400 and the reason', async (_what, json, said) => {
      expect(await fixture().ask('/api/webhooks', { method: 'POST', json })).toMatchObject({
        status: 400,
        json: { error: 'Bad Request', message: expect.stringContaining(said) },
      });
    });

    it('PAG-1: an offset page has data, pagination and links, and nothing else', async () => {
      const { json } = await fixture().ask('/api/v2/orders?page=2&limit=10');
      const total = (json.pagination as { total: number }).total;
      const totalPages = Math.ceil(total / 10);
      expect(json).toEqual({
        data: expect.any(Array),
        pagination: { page: 2, limit: 10, total, totalPages },
        links: { first: '?page=1&limit=10', next: '?page=3&limit=10', last: `?page=${totalPages}&limit=10` },
      });
      expect(json.data).toHaveLength(10);
    });

    it('PAG-2: a cursor page has has_more and no page numbers', async () => {
      const { ask } = fixture();
      const first = await ask('/api/payments?limit=2&fields=id');
      expect(first.json).toEqual({ data: [{ id: 'p-2001' }, { id: 'p-2002' }], has_more: true });
      const next = await ask('/api/payments?limit=2&fields=id&starting_after=p-2002');
      expect(next.json).toEqual({ data: [{ id: 'p-2003' }, { id: 'p-2004' }], has_more: true });
      expect((await ask('/api/payments?page=2')).status).toBe(400);
    });

    it('ERR-1: every error body has the reason phrase and a sentence', async () => {
      const { ask } = fixture();
      for (const path of ['/api/v2/orders/9', '/api/v2/catalog/moondial', '/nowhere']) {
        const { status, json } = await ask(path);
        expect([status, json]).toEqual([
          404,
          expect.objectContaining({ error: 'Not Found', message: expect.stringMatching(/^[A-Z].+/) }),
        ]);
      }
    });

    it('the notice in a body has all five members', async () => {
      const { ask, samples } = fixture();
      const { status, json } = await ask('/api/v1/sales/1001', { anonymous: true });
      expect(status).toBe(200);
      expect(json).toMatchObject({ orderNumber: 1001, amount: '12.50' });
      expect(json._deprecation).toEqual({
        deprecated: true,
        sunset_date: '2027-01-15',
        replacement: `${samples.origin}/api/v2/sales/1001`,
        migration_guide: 'https://docs.example.com/sales/v1-to-v2',
        reason: 'money amounts become integers',
      });
    });

    it('OAS-2: responses have the dates of x-lifecycle in the description', async () => {
      const { info, paths } = read('orders/v1.openapi.yaml');
      const { headers } = await fixture().ask('/api/v1/orders/1001');
      expect(info['x-lifecycle']).toMatchObject({
        stage: 'deprecated',
        support: { level: expect.any(String), until: DAY },
        deprecation: { announced: DAY, sunset: DAY },
        'migration-guide': expect.stringMatching(/^https:/),
        changelog: expect.stringMatching(/^https:/),
      });
      const { announced, sunset } = info['x-lifecycle'].deprecation as Record<string, string>;
      expect(headers.deprecation).toBe(`@${Date.parse(announced ?? '') / 1000}`);
      expect(headers.sunset).toBe(new Date(sunset ?? '').toUTCString());
      const operations = Object.values(paths).flatMap((path) =>
        Object.values(path).filter((each) => each['x-lifecycle'] !== undefined),
      );
      expect(operations.length).toBeGreaterThan(5);
      for (const operation of operations) {
        expect(operation.deprecated).toBe(true);
        expect(operation['x-lifecycle']).toMatchObject({ introduced: DAY, status: 'deprecated' });
      }
      const listed = read('orders/v2.openapi.yaml').paths['/orders']?.get;
      expect(listed?.['x-lifecycle']).toMatchObject({
        status: 'stable',
        'breaking-changes': expect.arrayContaining([expect.stringContaining('whole minor units')]),
      });
      // Callers who do not read the description get the same from the gateway.
      const { json } = await fixture().ask('/.well-known/lifecycle/orders', { anonymous: true });
      const versions = json.versions as readonly Readonly<Record<string, unknown>>[];
      const [old, present] = ['v1', 'v2'].map((label) => versions.find(({ version }) => version === label));
      expect(old).toMatchObject({ changelog: info['x-lifecycle'].changelog });
      expect(JSON.stringify(present?.operations)).toContain('whole minor units');
    });

    it('OAS-2: a deprecated operation of an active version has its own dates and replacement', async () => {
      const { ask, samples } = fixture();
      const { 'x-lifecycle': life = {}, deprecated } =
        read('orders/v2.openapi.yaml').paths['/orders/{id}']?.delete ?? {};
      expect([deprecated, life]).toEqual([
        true,
        expect.objectContaining({
          status: 'deprecated',
          'deprecation-date': DAY,
          'sunset-date': DAY,
          replacement: '/orders/{id}/cancel',
        }),
      ]);
      const [since, until] = ['deprecation-date', 'sunset-date'].map((name) => String(life[name]));
      const { status, headers } = await ask('/api/v2/orders/999999', { method: 'DELETE' });
      expect([status, headers.deprecation]).toEqual([404, `@${Date.parse(since ?? '') / 1000}`]);
      expect(headers.sunset).toBe(new Date(until ?? '').toUTCString());
      const cancelled = `${samples.origin}/api/v2/orders/999999/cancel`;
      expect(headers.link).toContain(`<${cancelled}>; rel="successor-version"`);
      expect((await ask('/api/v2/orders/1001')).headers).not.toHaveProperty('deprecation');
      // The HTML page shows the operation too, with its guide.
      const page = '/.well-known/lifecycle/orders';
      const { text } = await ask(page, { anonymous: true, headers: { accept: 'text/html' } });
      const [row = ''] = /<tr[^>]*>(?:(?!<\/tr>).)*DELETE \/\{id\}.*?<\/tr>/s.exec(text) ?? [];
      for (const told of [since, until, 'Move to v2 POST /{id}/cancel', '#guide-orders-v2-cancel'])
        expect(row).toContain(told);
      expect(text).toContain('id="guide-orders-v2-cancel"');
    });

    it('links in a representation are objects with href, and work', async () => {
      const { ask } = fixture();
      const { _links: links } = (await ask('/api/v2/orders/1001')).json as {
        _links: Record<string, { href: string; method?: string }>;
      };
      expect(links).toMatchObject({ self: { href: '1001' }, delete: { href: '1001', method: 'DELETE' } });
      for (const name of ['self', 'orders']) {
        const { pathname } = new URL(links[name]?.href ?? '', 'https://gateway/api/v2/orders/1001');
        expect((await ask(pathname)).status, name).toBe(200);
      }
    });
  });
}
