// Tests of offset pages, over a real socket and at the edges of the pure function.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrdersV2 } from '../../upstreams/orders/v2.ts';
import type { Service } from '../../upstreams/service/listen.ts';
import { offsetPage, type Page } from '../../upstreams/service/page.ts';

let service: Service;
beforeAll(async () => {
  service = await startOrdersV2({ port: 0 });
});
afterAll(() => service.close());

async function list(query: string): Promise<Page> {
  const answer = await fetch(`${service.url}/orders${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Page;
}

describe('a page of orders', () => {
  it('PAG-1: is the first twenty by default', async () => {
    const { data, pagination, links } = await list('');
    expect(data).toHaveLength(20);
    expect(pagination).toEqual({ page: 1, limit: 20, total: 240, totalPages: 12 });
    expect(links).toEqual({ first: '?page=1&limit=20', next: '?page=2&limit=20', last: '?page=12&limit=20' });
  });

  it('PAG-1: the last page has no next link', async () => {
    const { data, links } = await list('?page=12');
    expect(data).toHaveLength(20);
    expect(links).toEqual({ first: '?page=1&limit=20', last: '?page=12&limit=20' });
  });

  it('PAG-1: beyond the end the page is empty, not an error', async () => {
    const { data, pagination, links } = await list('?page=99');
    expect(data).toEqual([]);
    expect(pagination.page).toBe(99);
    expect(links).toEqual({ first: '?page=1&limit=20', last: '?page=12&limit=20' });
  });

  it('PAG-1: the links lead through every order exactly once', async () => {
    const seen: unknown[] = [];
    let address: URL | undefined = new URL('/orders?limit=37', service.url);
    while (address !== undefined) {
      const { data, links } = (await (await fetch(address)).json()) as Page;
      seen.push(...data.map((order) => (order as { id: string }).id));
      address = links.next === undefined ? undefined : new URL(links.next, address);
    }
    expect(seen).toEqual(Array.from({ length: 240 }, (_, index) => String(1001 + index)));
  });

  it('PAG-1: the links keep the rest of the query, encoded', async () => {
    const { data, links } = await list('?fields=id,amount&limit=2&customer=acme');
    expect(data).toEqual([
      { id: '1001', amount: 1250 },
      { id: '1006', amount: 3175 },
    ]);
    expect(links.next).toBe('?fields=id%2Camount&limit=2&customer=acme&page=2');
  });

  it('PAG-3: the links contain no path, so they resolve under the path of a gateway', async () => {
    const { links } = await list('?limit=10');
    const seen = new URL(links.next ?? '', 'https://api.example.com/api/v2/orders?limit=10');
    expect(seen.href).toBe('https://api.example.com/api/v2/orders?limit=10&page=2');
  });

  it.each([
    'page=0',
    'page=-1',
    'page=1.5',
    'page=x',
    'page=',
    'page=01',
    'page=1&page=2',
    'page=99999999999999999999',
    'limit=0',
    'limit=-5',
    'limit=1e1',
    'limit=101',
    'limit=+5',
  ])('PAG-1: ?%s is refused', async (query) => {
    const answer = await fetch(`${service.url}/orders?${query}`);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error: 'Bad Request',
      message: expect.stringContaining(query.split('=')[0] ?? ''),
    });
  });

  it('PAG-1: a limit of one hundred is allowed', async () => {
    expect((await list('?limit=100')).pagination).toEqual({ page: 1, limit: 100, total: 240, totalPages: 3 });
  });
});

describe('an empty page', () => {
  it('PAG-1: has no pages, no items, and still a first and a last link', () => {
    const query = new URLSearchParams('limit=5&customer=a%26b');
    expect(offsetPage([], { page: 1, limit: 5, total: 0 }, query)).toEqual({
      data: [],
      pagination: { page: 1, limit: 5, total: 0, totalPages: 0 },
      links: { first: '?limit=5&customer=a%26b&page=1', last: '?limit=5&customer=a%26b&page=1' },
    });
  });
});
