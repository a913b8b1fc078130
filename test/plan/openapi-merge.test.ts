// A description beside a policy: what it adds to the plan, where each value is said to stand, and what stops the files.
// Each rule about the two has its own files under rules/.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadAll } from '../../gateway/plan/load.ts';
import { NOW, type Workspace, workspace } from './workspace.ts';

const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { header: API-Version }, { default: v2 } ]
access: { identity: main, scopes: { read: [orders:read] } }
upstreams:
  v1: { targets: [http://127.0.0.1:4001], path: /orders }
  v2: { targets: [http://127.0.0.1:4002], path: /orders }
versions:
  v1: { released: 2024-06-01, successor: v2, openapi: ../api/v1.yaml }
  v2: { released: 2026-01-15 }
`;

const describes = (paths: string, servers = '') => `openapi: 3.0.3
info:
  title: Orders
  version: 1.0.0
  x-lifecycle:
    deprecation: { announced: "2026-01-15", sunset: "2027-01-15" }
    migration-guide: https://docs.example.com/orders/v2
${servers}paths:
${paths}`;

const SEARCH = `  /orders/search:
    get:
      deprecated: true
      x-lifecycle: { status: deprecated, deprecation-date: "2025-06-01", sunset-date: "2026-12-15", replacement: /orders }
  /orders: { get: {} }
`;

async function planOf(files: Workspace) {
  const { plan, problems, sources } = await files.load();
  const version = plan?.apis[0]?.versions.get('v1');
  const operations = version?.operations?.list.map(({ operation, schedule }) => ({ operation, ...schedule }));
  return { version, operations, problems, document: sources?.policies[0]?.document };
}

describe('OAS-2: what the policy says of its whole API', () => {
  const top = 'deprecated: 2026-01-15\nsunset: 2027-06-15\nguide: https://docs.example.com/orders/v2\n';
  const policy = POLICY.replace('upstreams:', `${top}upstreams:`);

  it('comes before what the description of a version says, and where they differ that is found at the line of the API', async () => {
    await using files = await workspace({ 'policies/orders.yaml': policy, 'api/v1.yaml': describes(SEARCH) });
    const { version } = await planOf(files);
    expect(version?.schedule).toMatchObject({
      deprecated: Date.UTC(2026, 0, 15),
      sunset: Date.UTC(2027, 5, 15),
      guide: 'https://docs.example.com/orders/v2',
    });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:6 «2027-06-15» warning: deprecation.sunset is 2027-01-15 in the description (api/v1.yaml:6:53; `sundial openapi orders v1 --write` brings it up to date)',
    ]);
  });
});

describe('OAS-2: what the policy switches off', () => {
  it('is in force nowhere, and a day that the description still has is found', async () => {
    const policy = POLICY.replace('successor: v2', 'deprecated: off, sunset: off');
    await using files = await workspace({
      'policies/orders.yaml': policy,
      'api/v1.yaml': describes('  {}\n'),
    });
    expect((await planOf(files)).version?.schedule).toMatchObject({
      deprecated: undefined,
      sunset: undefined,
    });
    const found = await files.problems();
    expect(found).toHaveLength(2);
    expect(found[0]).toContain('«off» warning: deprecation.announced is 2026-01-15 in the description');
    expect(found[1]).toContain('«off» warning: deprecation.sunset is 2027-01-15 in the description');
    await files.write(
      'api/v1.yaml',
      describes('  {}\n').replace('"2026-01-15"', 'null').replace('"2027-01-15"', 'null'),
    );
    expect(await files.problems()).toEqual([]);
  });
});

describe('OAS-2: what the policy or the description says there is none of', () => {
  const text = (lifecycle: string, paths = '  {}\n') =>
    describes(paths).replace(/ {2}x-lifecycle:\n.*\n.*\n/, `  x-lifecycle: { ${lifecycle} }\n`);
  const operation = (lifecycle: string) =>
    text('', `  /orders/search: { get: { deprecated: true, x-lifecycle: { ${lifecycle} } } }\n`);
  const none = 'deprecation: { announced: null, sunset: null }';
  const dated = 'successor: v2, deprecated: 2026-01-15, guide: https://docs.example.com/orders/v2';
  const ops = `${dated}, operations: { GET /search: { deprecated: 2026-01-15, sunset: 2027-06-15 } }`;

  it.each([
    [
      'deprecated: off, guide: off',
      text('migration-guide: https://a.example/g'),
      ['«off» warning: migration-guide is https://a.example/g in the description'],
    ],
    [
      'deprecated: off',
      text(`stage: deprecated, ${none}`),
      ['«off» warning: stage is deprecated in the description'],
    ],
    ['deprecated: off', text('stage: retired'), ['«off» warning: stage is retired in the description']],
    [`${dated}, sunset: off`, text('stage: sunset'), ['«off» warning: stage is sunset in the description']],
    [`${dated}, sunset: off`, text('stage: deprecated'), []],
    ['deprecated: off', text('stage: stable'), []],
    [
      'deprecated: off',
      operation('status: deprecated'),
      ['«true» warning: GET /search is deprecated, and nothing says since when'],
    ],
    [
      ops,
      operation('deprecation-date: null, sunset-date: "2027-06-15"'),
      ['«2026-01-15» warning: deprecation-date is null in the description'],
    ],
    [
      ops,
      operation('deprecation-date: "2026-01-15", sunset-date: null'),
      ['«2027-06-15» warning: sunset-date is null in the description'],
    ],
  ])('%s beside %s', async (version, description, expected) => {
    await using files = await workspace({
      'policies/orders.yaml': POLICY.replace('successor: v2', version),
      'api/v1.yaml': description,
    });
    const found = await files.problems();
    expect(found.map((each, index) => [each.includes(expected[index] ?? '?'), each])).toEqual(
      found.map((each) => [true, each]),
    );
    expect(found).toHaveLength(expected.length);
  });

  it('extended: off leaves the sunset open', async () => {
    await using files = await workspace({
      'policies/orders.yaml': POLICY.replace('successor: v2', 'successor: v2, extended: off'),
      'api/v1.yaml': describes('  {}\n'),
    });
    expect((await planOf(files)).version?.schedule.sunset).toBe(Date.UTC(2027, 0, 15));
    expect(await files.problems()).toEqual([]);
  });
});

describe('OAS-2: what only the description says', () => {
  it('holds: the dates and the guide of the version, and those of an operation', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': describes(SEARCH) });
    const { version, operations, problems } = await planOf(files);
    expect(problems).toEqual([]);
    expect(version?.schedule).toMatchObject({
      deprecated: Date.UTC(2026, 0, 15),
      sunset: Date.UTC(2027, 0, 15),
      guide: 'https://docs.example.com/orders/v2',
    });
    expect(operations).toEqual([
      expect.objectContaining({
        operation: 'GET /search',
        deprecated: Date.UTC(2025, 5, 1),
        sunset: Date.UTC(2026, 11, 15),
        successor: 'v1',
      }),
    ]);
    expect(version?.operations?.list[0]?.successorPath).toBe('/api/v1/orders');
    expect(version?.operations?.list[0]?.access).toEqual(version?.access);
  });

  it('is judged by the rules of the policy, at its own line', async () => {
    const short = describes(SEARCH).replace('sunset: "2027-01-15"', 'sunset: "2026-12-20"');
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': short });
    expect(await files.problems()).toEqual([
      'api/v1.yaml:6 «"2026-12-20"» warning: v1 ends less than 12 months after it was deprecated (2026-01-15): too short for a public API (sunset 2027-01-15 or later)',
    ]);
    await files.write('api/v1.yaml', describes(SEARCH).replace('2025-06-01', '2026-03-01'));
    expect(await files.problems()).toContain(
      'api/v1.yaml:12 «"2026-03-01"» error: deprecated (2026-03-01) is after that of v1 (2026-01-15)',
    );
  });

  it('is found by whoever asks for the line of a value', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': describes(SEARCH) });
    const { document } = await planOf(files);
    expect(document?.origin(['versions', 'v1', 'sunset'])).toEqual({
      file: 'api/v1.yaml',
      line: 6,
      column: 53,
    });
    expect(document?.origin(['versions', 'v1', 'released'])).toMatchObject({
      file: 'policies/orders.yaml',
      line: 9,
    });
    expect(document?.origin(['versions', 'v1', 'operations', 'GET /search', 'sunset'])).toMatchObject({
      file: 'api/v1.yaml',
      line: 12,
    });
  });

  it('gives way to what the policy says', async () => {
    const policy = POLICY.replace(
      'successor: v2,',
      'deprecated: 2026-02-15, sunset: 2027-04-15, successor: v2,',
    );
    await using files = await workspace({ 'policies/orders.yaml': policy, 'api/v1.yaml': describes(SEARCH) });
    const { version, problems } = await planOf(files);
    expect(version?.schedule).toMatchObject({
      deprecated: Date.UTC(2026, 1, 15),
      sunset: Date.UTC(2027, 3, 15),
    });
    expect(problems.map(({ rule }) => rule)).toEqual(['description-agrees', 'description-agrees']);
  });

  it('of dates an operation only repeats, goes with its version when the policy extends that', async () => {
    const repeated = describes(SEARCH)
      .replace('2026-12-15', '2027-01-15')
      .replace('2025-06-01', '2026-01-15');
    const policy = POLICY.replace(
      'successor: v2,',
      'sunset: 2027-01-15, extended: [{ to: 2027-04-15, announced: 2026-10-01 }], successor: v2,',
    );
    await using files = await workspace({ 'policies/orders.yaml': policy, 'api/v1.yaml': repeated });
    const { operations } = await planOf(files);
    expect(operations).toEqual([expect.objectContaining({ sunset: Date.UTC(2027, 3, 15) })]);
  });

  it('never takes a request from an operation of the policy, whose access would be lost with it', async () => {
    const policy = POLICY.replace(
      'openapi:',
      'operations: { "GET /{name}": { access: { scopes: [orders:admin] } } }, openapi:',
    );
    await using files = await workspace({ 'policies/orders.yaml': policy, 'api/v1.yaml': describes(SEARCH) });
    const { operations, problems } = await planOf(files);
    expect(operations?.map(({ operation }) => operation)).toEqual(['GET /{name}']);
    expect(problems).toContainEqual(
      expect.objectContaining({ rule: 'description-agrees', hint: 'write GET /search in the policy too' }),
    );
  });

  it('of a path with a parameter, is not said of one that spells it out', async () => {
    const paths = `  /orders/{id}:
    get: { x-lifecycle: { deprecation-date: "2025-06-01" } }
  /orders/search:
    get: {}
`;
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': describes(paths) });
    const { version, operations } = await planOf(files);
    expect(operations?.map(({ operation, deprecated }) => [operation, deprecated])).toEqual([
      ['GET /{id}', Date.UTC(2025, 5, 1)],
      ['GET /search', version?.schedule.deprecated],
    ]);
  });

  it('is taken as it is written: what looks like an interpolation is text', async () => {
    const text = describes(SEARCH).replace('title: Orders', `title: "\${env:SECRET}"`);
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': text });
    expect((await planOf(files)).problems).toEqual([]);
  });
});

describe('where the paths of a description lie', () => {
  it.each([
    ['below the path of the upstream', '', '/orders/search'],
    ['below the base', '', '/api/orders/search'],
    ['below the versioned path', '', '/api/v1/orders/search'],
    ['below it with a parameter for the version', '', '/api/{version}/orders/search'],
    [
      'below the path of the server',
      'servers: [{ url: https://api.example.com/api/v1 }]\n',
      '/orders/search',
    ],
    ['right at the server', 'servers: [{ url: "https://api.example.com/api/v1/orders/" }]\n', '/search'],
    [
      'at a server with variables',
      'servers: [{ url: "https://{host}/api/{v}", variables: { host: { default: a.example }, v: { default: v1 } } }]\n',
      '/orders/search',
    ],
    ['at the base itself, where nothing else fits', '', '/search'],
    ['with a slash at the end', '', '/orders/search/'],
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

  it('of another API in the same description is not ours', async () => {
    const text = describes(
      `${SEARCH}  /invoices: { get: { x-lifecycle: { deprecation-date: "2025-06-01" } } }\n`,
    );
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': text });
    expect((await planOf(files)).operations?.map(({ operation }) => operation)).toEqual(['GET /search']);
  });

  it('has parameters by any name', async () => {
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

describe('a description that cannot be used', () => {
  it.each([
    [
      'swagger: "2.0"\ninfo: {}\n',
      'api/v1.yaml:1 «"2.0"» error: a Swagger 2.0 description, and 3.0, 3.1 and 3.2 can be read: convert it',
    ],
    [
      'openapi: 4.0.0\n',
      'api/v1.yaml:1 «4.0.0» error: not a description this gateway can read: "openapi" is none of 3.0, 3.1 and 3.2',
    ],
    ['- 1\n', 'api/v1.yaml:1 «-» error: not an OpenAPI description: a map at the top'],
    ['', 'api/v1.yaml:1 «» error: not an OpenAPI description: a map at the top'],
    ['openapi: 3.0.0\ninfo: { a: [ }\n', 'api/v1.yaml:2 «}» error: '],
  ])('%j is refused at its own line', async (text, expected) => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': text });
    expect((await files.problems()).filter((each) => each.startsWith(expected))).toHaveLength(1);
    expect((await files.load()).plan).toBeUndefined();
  });

  it('is refused at the line that names it when it is not there', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:9 «../api/v1.yaml» error: cannot read the description: no such file',
    ]);
  });

  it('is refused when it is larger than 2 MB, and a policy stays at 1 MB', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY });
    const text = describes(SEARCH);
    await files.write('api/v1.yaml', `${text}# ${'x'.repeat(1_500_000)}\n`);
    expect(await files.problems()).toEqual([]);
    await files.write('api/v1.yaml', `${text}# ${'x'.repeat(2_000_000)}\n`);
    expect(await files.problems()).toEqual([
      expect.stringContaining('error: the description is larger than 2 MB'),
    ]);
  });

  it.each(['https://example.com/openapi.yaml', '../api/', ''])('%j is no path of one', async (path) => {
    const policy = POLICY.replace('../api/v1.yaml', JSON.stringify(path));
    await using files = await workspace({ 'policies/orders.yaml': policy });
    expect(await files.problems()).toEqual([expect.stringContaining('error: not the path of a file')]);
  });
});

describe('a description with an alias in each of its operations', () => {
  it('is read in no time to speak of', async () => {
    const paths = Array.from(
      { length: 5_000 },
      (_, index) => `  /orders/p${index}: { get: { responses: *r } }\n`,
    );
    const described = `x-r: &r { description: all }\n${describes(paths.join(''))}`;
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': described });
    const begun = performance.now();
    expect((await planOf(files)).problems).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(8_000);
  });
});

describe('a description that contradicts itself or what is sent', () => {
  const search = (fields: string) => describes(`  /orders/search: { get: ${fields} }\n`);

  it.each([
    [
      'OAS-1: marked, and stable',
      '{ deprecated: true, x-lifecycle: { status: stable } }',
      'description-status',
    ],
    ['OAS-1: not marked, and deprecated', '{ x-lifecycle: { status: deprecated } }', 'description-status'],
    ['OAS-2: a date that is none', '{ x-lifecycle: { sunset-date: 2026-13-01 } }', 'description-dates'],
    [
      'OAS-2: a sunset before the deprecation',
      '{ x-lifecycle: { deprecation-date: "2025-06-01", sunset-date: "2025-05-01" } }',
      'description-dates',
    ],
    [
      'OAS-3: Deprecation as a boolean',
      '{ responses: { "200": { headers: { Deprecation: { schema: { type: boolean } } } } } }',
      'description-headers',
    ],
  ])('%s', async (_, fields, rule) => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': search(fields) });
    const { problems } = await files.load();
    expect(problems.map((problem) => [problem.file, problem.rule])).toEqual([['api/v1.yaml', rule]]);
  });

  it('OAS-1: says nothing by leaving the status away', async () => {
    const fields = '{ deprecated: true, x-lifecycle: { introduced: "2024-06-01" } }';
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': search(fields) });
    expect((await files.load()).problems).toEqual([]);
  });
});

describe('OAS-2: what a description tells callers, and nothing follows from', () => {
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
    ['support: { level: 3 }', '', ['«3» warning: support.level is no text of 1 to 300'], undefined],
    ['support: { until: soon }', '', ['«soon» error: until is not a calendar date'], undefined],
    ['changelog: ./log.md', '', ['«./log.md» warning: changelog is not an absolute https URL'], undefined],
    ['changelog: "javascript:1"', '', ['«"javascript:1"» warning: changelog is not'], undefined],
    ['x-a: b', 'breaking-changes: much', ['«much» warning: breaking-changes is not a list'], undefined],
    [
      'x-a: b',
      'breaking-changes: [ { a: 1 }, id is text ]',
      ['«{ a: 1 }» warning: a breaking change is no text of 1 to 300 characters, and is not published'],
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

  it('is told of an operation by the name it has in the policy', async () => {
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

describe('the revision of a plan', () => {
  it('changes with a description', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': describes(SEARCH) });
    const before = (await files.load()).plan?.revision;
    expect((await files.load()).plan?.revision).toBe(before);
    await writeFile(join(files.folder, 'api/v1.yaml'), `${describes(SEARCH)}# changed\n`);
    expect((await files.load()).plan?.revision).not.toBe(before);
  });

  it('is another for JSON, which means the same', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': describes(SEARCH) });
    const inYaml = await planOf(files);
    const json = {
      openapi: '3.2.0',
      info: {
        title: 'Orders',
        'x-lifecycle': {
          deprecation: { announced: '2026-01-15', sunset: '2027-01-15' },
          'migration-guide': 'https://docs.example.com/orders/v2',
        },
      },
      paths: {
        '/orders/search': {
          get: {
            deprecated: true,
            'x-lifecycle': {
              status: 'deprecated',
              'deprecation-date': '2025-06-01',
              'sunset-date': '2026-12-15',
              replacement: '/orders',
            },
          },
        },
        '/orders': { get: {} },
      },
    };
    await files.write('api/v1.yaml', JSON.stringify(json, undefined, '\t'));
    expect((await planOf(files)).operations).toEqual(inYaml.operations);
  });
});

it('a description is parsed once for as long as it stays the same', async () => {
  await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': describes(SEARCH) });
  const descriptions = new Map();
  const options = {
    configFile: files.configFile,
    environment: {},
    now: NOW,
    cwd: files.folder,
    descriptions,
  };
  await loadAll(options);
  const [first] = [...descriptions.values()];
  await loadAll(options);
  expect([...descriptions.values()]).toEqual([first]);
  expect([...descriptions.values()][0]).toBe(first);
  await files.write('api/v1.yaml', describes(SEARCH.replace('2025-06-01', '2025-07-01')));
  await loadAll(options);
  expect([...descriptions.values()][0]).not.toBe(first);
});

describe('any description', () => {
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 1 }),
    fc.constantFrom('2026-01-15', '2027-01-15', '/orders', 'deprecated'),
  );
  const oddly = (keys: readonly string[]) =>
    fc.oneof(
      { weight: 5, arbitrary: fc.dictionary(fc.constantFrom(...keys), odd) },
      { weight: 1, arbitrary: odd },
    );
  const operation = fc.record(
    {
      deprecated: odd,
      'x-lifecycle': oddly([
        'status',
        'introduced',
        'deprecation-date',
        'sunset-date',
        'replacement',
        'breaking-changes',
      ]),
    },
    { requiredKeys: [] },
  );
  const path = fc.constantFrom(
    '/orders',
    '/orders/{id}',
    '/orders/{id}.x',
    '/',
    '//',
    '/{',
    'x',
    '/__proto__',
    '/constructor',
  );
  const document = fc.record({
    openapi: fc.constant('3.1.0'),
    info: fc.oneof(
      odd,
      fc.record({
        'x-lifecycle': fc.record({
          stage: odd,
          deprecation: oddly(['announced', 'sunset']),
          'migration-guide': odd,
          support: oddly(['level', 'until']),
          changelog: odd,
        }),
      }),
    ),
    servers: fc.oneof(odd, fc.array(fc.record({ url: odd, variables: odd }))),
    components: fc.oneof(odd, fc.record({ securitySchemes: oddly(['a']) })),
    paths: fc.oneof(
      odd,
      fc.dictionary(
        path,
        fc.oneof(
          odd,
          fc.dictionary(fc.constantFrom('get', 'head', 'additionalOperations'), fc.oneof(odd, operation)),
        ),
      ),
    ),
  });

  it('is judged, not crashed on, and has its problems at places that exist', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY });
    await fc.assert(
      fc.asyncProperty(document, async (value) => {
        const text = JSON.stringify(value, undefined, 1);
        await files.write('api/v1.yaml', text);
        const { problems } = await files.load();
        const lines = text.split('\n');
        for (const { file, line, column } of problems.filter((each) => each.file === 'api/v1.yaml'))
          expect([file, (lines[line - 1] ?? '').length >= column - 1]).toEqual([file, true]);
      }),
      { numRuns: 120 },
    );
  });
});
