// Tests what a description adds to the plan, and the positions of its values.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAll } from '../../gateway/plan/load.ts';
import { describes, POLICY, planOf, SEARCH } from './described-orders.ts';
import { NOW, workspace } from './workspace.ts';

describe('OAS-2: a value that only the description has', () => {
  it('is in force: dates and guide of the version, and those of an operation', async () => {
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

  it('has the position in the description', async () => {
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

  it('yields to the policy', async () => {
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

  it('that repeats a date of the API follows an extension in the policy', async () => {
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

  it('never takes requests from an operation of the policy, which has its own access', async () => {
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

  it('for a path with a parameter does not apply to a literal path', async () => {
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

  it('is not interpolated', async () => {
    const text = describes(SEARCH).replace('title: Orders', `title: "\${env:SECRET}"`);
    await using files = await workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': text });
    expect((await planOf(files)).problems).toEqual([]);
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

  it('differs for JSON with the same meaning', async () => {
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

it('an unchanged description is parsed once', async () => {
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
