// Operations of an OpenAPI description have the dates of the policy rule that matches them.
import { expect, it } from 'vitest';
import { lifecycleDocument } from '../../gateway/exchange/publish/lifecycle-document.ts';
import { NOW, ORDERS, workspace } from '../plan/workspace.ts';

it('OAS-2: a described operation has the dates of its matching rule, or else of its version', async () => {
  const rule = 'operations: { "* /old/{id}": { deprecated: 2026-03-01, sunset: 2026-12-15 } }';
  const operation = '{ x-lifecycle: { introduced: "2026-02-01" } }';
  await using files = await workspace({
    'policies/orders.yaml': ORDERS.replace(
      'released: 2026-01-15',
      `released: 2026-01-15, openapi: ../api/v2.yaml, ${rule}`,
    ),
    'api/v2.yaml': `openapi: 3.1.0
paths:
  /api/orders/old/{id}: { get: ${operation} }
  /api/orders/new: { post: ${operation} }
`,
  });
  const { plan } = await files.load();
  const api = plan?.apiNamed('orders');
  if (plan === undefined || api === undefined) throw new Error('no plan');
  const { versions } = lifecycleDocument(plan, api, { now: NOW, overrides: [] }, NOW);
  const entries = versions.find(({ version }) => version === 'v2')?.operations ?? [];
  for (const each of entries) expect(each).not.toHaveProperty('successor_operation');
  expect(entries.map((each) => [each.operation, each.stage, each.sunset, each.introduced])).toEqual([
    ['* /old/{id}', 'deprecated', '2026-12-15T00:00:00Z', undefined],
    ['GET /old/{id}', 'deprecated', '2026-12-15T00:00:00Z', '2026-02-01T00:00:00Z'],
    ['POST /new', 'active', undefined, '2026-02-01T00:00:00Z'],
  ]);
});

it('LNK-2: an operation names the successor operation of its policy', async () => {
  const dates = 'deprecated: 2026-03-01, sunset: 2027-12-15';
  const rule = `operations: { GET /search: { ${dates}, successor: GET / }, GET /old: { ${dates} } }`;
  await using files = await workspace({
    'policies/orders.yaml': ORDERS.replace('released: 2026-01-15', `released: 2026-01-15, ${rule}`),
  });
  const { plan } = await files.load();
  const api = plan?.apiNamed('orders');
  if (plan === undefined || api === undefined) throw new Error('no plan');
  const { versions } = lifecycleDocument(plan, api, { now: NOW, overrides: [] }, NOW);
  const entries = versions.find(({ version }) => version === 'v2')?.operations ?? [];
  expect(entries).toMatchObject([
    { operation: 'GET /search', successor: 'v2', successor_operation: 'GET /' },
    { operation: 'GET /old' },
  ]);
  expect(entries[1]).not.toHaveProperty('successor_operation');
});
