// Tests which paths of a description belong to the API, and the facts that are only published.
import { describe, expect, it } from 'vitest';
import { describes, POLICY, planOf, SEARCH } from './described-orders.ts';
import { workspace } from './workspace.ts';

describe('the paths of a description', () => {
  it.each([
    ['below the path of the upstream', '', '/orders/search'],
    ['below the base', '', '/api/orders/search'],
    ['below the versioned path', '', '/api/v1/orders/search'],
    ['below the versioned path with a parameter for the version', '', '/api/{version}/orders/search'],
    [
      'below the path of the server',
      'servers: [{ url: https://api.example.com/api/v1 }]\n',
      '/orders/search',
    ],
    [
      'at the path of the server',
      'servers: [{ url: "https://api.example.com/api/v1/orders/" }]\n',
      '/search',
    ],
    [
      'at a server with variables',
      'servers: [{ url: "https://{host}/api/{v}", variables: { host: { default: a.example }, v: { default: v1 } } }]\n',
      '/orders/search',
    ],
    ['at the base itself if nothing else matches', '', '/search'],
    ['with a trailing slash', '', '/orders/search/'],
  ])('%s', async (_, servers, path) => {
    const text = describes(
      `  ${path}: { get: { x-lifecycle: { deprecation-date: "2025-06-01" } } }\n`,
      servers,
    );
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': text });
    const { operations, problems } = await planOf(files);
    expect(problems).toEqual([]);
    expect(operations?.map(({ operation }) => operation)).toEqual(['GET /search']);
  });

  it('that belong to another API are ignored', async () => {
    const text = describes(
      `${SEARCH}  /invoices: { get: { x-lifecycle: { deprecation-date: "2025-06-01" } } }\n`,
    );
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': text });
    expect((await planOf(files)).operations?.map(({ operation }) => operation)).toEqual(['GET /search']);
  });

  it('may name their parameters freely', async () => {
    const paths = `  /orders/of/{customer-id}/{2nd.id}:
    get: { x-lifecycle: { deprecation-date: "2025-06-01", replacement: "/api/v2/orders/{2nd.id}/{customer-id}" } }
`;
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': describes(paths) });
    const { version, problems } = await planOf(files);
    expect(problems).toEqual([]);
    const rules = version?.operations?.list[0];
    expect(rules?.operation).toBe('GET /of/{customer_id}/{_2nd_id}');
    expect(rules?.successorPath).toBe('/api/v2/orders');
    expect(rules?.successorTail).toEqual(['/', 1, '/', 0]);
  });
});

describe('OAS-2: facts of a description that are only published', () => {
  const told = (api: string, operation: string) =>
    describes(`  /orders/{id}/:\n    get: { x-lifecycle: { ${operation} } }\n`).replace(
      '    migration-guide',
      `    ${api}\n    migration-guide`,
    );
  const operation = 'introduced: "2025-01-15", breaking-changes: [ " total\\n is gone", & ]';

  it.each([
    [
      'support: { level: security, until: "2027-01-15" }',
      operation.replace('&', 'id is text'),
      [],
      {
        support: { level: 'security', until: Date.UTC(2027, 0, 15) },
        operations: [
          {
            operation: 'GET /{id}',
            introduced: Date.UTC(2025, 0, 15),
            breakingChanges: ['total is gone', 'id is text'],
          },
        ],
      },
    ],
    ['changelog: https://a.example/log', '', [], { changelog: 'https://a.example/log', operations: [] }],
    ['support: { }', 'introduced: "2024-06-01", breaking-changes: []', [], undefined],
    ['support: null\n    changelog: null', 'breaking-changes: null', [], undefined],
    ['support: full', '', ['«full» warning: support is not a map of level and until'], undefined],
    ['support: [ ]', '', ['«[ ]» warning: support is not a map'], undefined],
    ['support: { level: 3 }', '', ['«3» warning: support.level is not a text of 1 to 300'], undefined],
    ['support: { until: soon }', '', ['«soon» error: until is not a calendar date'], undefined],
    ['changelog: ./log.md', '', ['«./log.md» warning: changelog is not an absolute https URL'], undefined],
    ['changelog: "javascript:1"', '', ['«"javascript:1"» warning: changelog is not'], undefined],
    ['x-a: b', 'breaking-changes: much', ['«much» warning: breaking-changes is not a list'], undefined],
    [
      'x-a: b',
      'breaking-changes: [ { a: 1 }, id is text ]',
      ['«{ a: 1 }» warning: a breaking change is not a text of 1 to 300 characters, so it is not published'],
      { operations: [{ operation: 'GET /{id}', breakingChanges: ['id is text'] }] },
    ],
  ])('%s, { %s }', async (api, ofOperation, expected, notes) => {
    await using files = await workspace({
      'policies/orders.yaml': POLICY,
      'api/v1.yaml': told(api, ofOperation),
    });
    const found = await files.problems();
    expect(found.map((each, index) => each.includes(expected[index] ?? '?') || each)).toEqual(
      expected.map(() => true),
    );
    const { version } = await planOf(files);
    expect(version?.notes).toEqual(notes);
    expect(version?.operations).toBeUndefined();
  });

  it('name an operation as the policy does', async () => {
    const policy = POLICY.replace('openapi:', 'operations: { "GET /{order}": { reason: x } }, openapi:');
    await using files = await workspace({
      'policies/orders.yaml': policy,
      'api/v1.yaml': told('x-a: b', operation.replace('&', 'x')),
    });
    const { version } = await planOf(files);
    expect(version?.notes?.operations.map((each) => each.operation)).toEqual(['GET /{order}']);
    expect(version?.operations?.list.map((each) => each.notes)).toEqual([undefined]);
  });
});
