// Tests a description that disagrees with its policy: the values in force and the findings.
import { describe, expect, it } from 'vitest';
import { describes, POLICY, planOf, SEARCH } from './described-orders.ts';
import { workspace } from './workspace.ts';

describe('OAS-2: a value of the whole API in the policy', () => {
  const top = 'deprecated: 2026-01-15\nsunset: 2027-06-15\nguide: https://docs.example.com/orders/v2\n';
  const policy = POLICY.replace('upstreams:', `${top}upstreams:`);

  it('overrides the description of a version; a difference is reported at the line of the API', async () => {
    await using files = await workspace({ 'policies/orders.yaml': policy, 'api/v1.yaml': describes(SEARCH) });
    const { version } = await planOf(files);
    expect(version?.schedule).toMatchObject({
      deprecated: Date.UTC(2026, 0, 15),
      sunset: Date.UTC(2027, 5, 15),
      guide: 'https://docs.example.com/orders/v2',
    });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:6 «2027-06-15» warning: deprecation.sunset is 2027-01-15 in the description (api/v1.yaml:6:53; `sundial openapi orders v1 --write` updates the description)',
    ]);
  });
});

describe('OAS-2: a date that the policy switches off', () => {
  it('is not in force, and a day in the description is reported', async () => {
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

describe('OAS-2: off in the policy or null in the description', () => {
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
      ['«true» warning: GET /search is deprecated without a date'],
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
