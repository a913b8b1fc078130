// Tests of the catalog over a real socket: public and read-only.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCatalog } from '../../upstreams/catalog/catalog.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import type { Page } from '../../upstreams/service/page.ts';

let service: Service;
beforeAll(async () => {
  service = await startCatalog({ port: 0 });
});
afterAll(() => service.close());

it('lists its products in pages that any cache may store for a minute', async () => {
  const answer = await fetch(`${service.url}/catalog?limit=5`);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=60');
  const page = (await answer.json()) as Page;
  expect(page.data).toHaveLength(5);
  expect(page.pagination.total).toBe(12);
});

it('returns one product', async () => {
  const answer = await fetch(`${service.url}/catalog/garden-sundial`);
  expect(await answer.json()).toEqual({
    id: 'garden-sundial',
    name: 'Garden sundial',
    price: 9900,
    currency: 'EUR',
  });
});

it.each([
  ['POST', '/catalog'],
  ['PUT', '/catalog/hourglass'],
  ['DELETE', '/catalog/hourglass'],
])('ERR-4: does not allow %s %s', async (method, path) => {
  const answer = await fetch(service.url + path, { method });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expect(await answer.json()).toEqual({ error: 'Method Not Allowed', message: expect.any(String) });
});
