// Tests unusable and contradictory descriptions. Valid ones are tested in openapi-merge.test.ts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { threadMs } from '../support/thread-time.ts';
import { describes, POLICY, planOf, SEARCH } from './described-orders.ts';
import { workspace } from './workspace.ts';

describe('an unusable description', () => {
  it.each([
    [
      'swagger: "2.0"\ninfo: {}\n',
      'api/v1.yaml:1 «"2.0"» error: a Swagger 2.0 description: convert it to OpenAPI 3.0, 3.1 or 3.2',
    ],
    [
      'openapi: 4.0.0\n',
      'api/v1.yaml:1 «4.0.0» error: not a readable description: "openapi" must be 3.0, 3.1 or 3.2',
    ],
    ['- 1\n', 'api/v1.yaml:1 «» error: not an OpenAPI description: a map at the top'],
    ['', 'api/v1.yaml:1 «» error: not an OpenAPI description: a map at the top'],
    ['openapi: 3.0.0\ninfo: { a: [ }\n', 'api/v1.yaml:2 «}» error: '],
  ])('%j is refused at its own line', async (text, expected) => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': text });
    expect((await files.problems()).filter((each) => each.startsWith(expected))).toHaveLength(1);
    expect((await files.load()).plan).toBeUndefined();
  });

  it('that does not exist is refused at the line that names it', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:9 «../api/v1.yaml» error: cannot read the description: no such file (its path is relative to this file)',
    ]);
  });

  it('above 2 MB is refused, and a policy above 1 MB', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY });
    const text = describes(SEARCH);
    await files.write('api/v1.yaml', `${text}# ${'x'.repeat(1_500_000)}\n`);
    expect(await files.problems()).toEqual([]);
    await files.write('api/v1.yaml', `${text}# ${'x'.repeat(2_000_000)}\n`);
    expect(await files.problems()).toEqual([
      expect.stringContaining('error: the description is larger than 2 MB'),
    ]);
  });

  it.each(['https://example.com/openapi.yaml', '../api/', ''])(
    '%j is not the path of a description',
    async (path) => {
      const policy = POLICY.replace('../api/v1.yaml', JSON.stringify(path));
      await using files = await workspace({ 'policies/orders.yaml': policy });
      expect(await files.problems()).toEqual([expect.stringContaining('error: not the path of a file')]);
    },
  );
});

describe('a description with an alias in each of its operations', () => {
  it('is read quickly', async () => {
    const paths = Array.from(
      { length: 5_000 },
      (_, index) => `  /orders/p${index}: { get: { responses: *r } }\n`,
    );
    const described = `x-r: &r { description: all }\n${describes(paths.join(''))}`;
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': described });
    const begun = threadMs();
    expect((await planOf(files)).problems).toEqual([]);
    expect(threadMs() - begun).toBeLessThan(8_000);
  });
});

describe('a description that contradicts itself or the sent headers', () => {
  const search = (fields: string) => describes(`  /orders/search: { get: ${fields} }\n`);

  it.each([
    [
      'OAS-1: marked, and stable',
      '{ deprecated: true, x-lifecycle: { status: stable } }',
      'description-status',
    ],
    ['OAS-1: not marked, and deprecated', '{ x-lifecycle: { status: deprecated } }', 'description-status'],
    ['OAS-2: an invalid date', '{ x-lifecycle: { sunset-date: 2026-13-01 } }', 'description-dates'],
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

  it('OAS-1: a missing status is not a contradiction', async () => {
    const fields = '{ deprecated: true, x-lifecycle: { introduced: "2024-06-01" } }';
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': search(fields) });
    expect((await files.load()).problems).toEqual([]);
  });
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

  it('is judged without a crash, and its problems have valid positions', async () => {
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
