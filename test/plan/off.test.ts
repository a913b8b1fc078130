// Tests `off` in a policy, which stops inheritance, and hints for empty lists and similar values.
import { describe, expect, it } from 'vitest';
import type { VersionRules } from '../../gateway/plan/plan.ts';
import { workspace } from './workspace.ts';

const TOP = `announced: 2026-01-01
deprecated: 2026-01-15
sunset: 2027-01-15
extended: [ { to: 2027-05-15, announced: 2026-09-01 } ]
retired: 2027-08-01
forgotten: 2028-08-01
alternate: https://api.example.com/subscriptions
guide: https://docs.example.com/end
status: https://status.example.com/end
reason: nobody calls it
exceptions: [ { consumer: acme, until: 2027-07-01, from: [sunset], why: contract, by: team } ]
brownouts: [ { from: 2026-12-08T14:00:00Z, for: 15m, announced: 2026-11-01 } ]
maintenance: 2026-12-01
limits: { rate: 600/1m, deprecated: 50% }
`;
/** The exception ends with the first published sunset. */
const LENIENT = TOP.replace('2027-07-01, from: [sunset]', '2027-01-10, from: [brownouts]');
const api = (version: string, top = TOP) => `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: { identity: main, scopes: any }
${top}rules: { parallel-versions: off, extension-length: off }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v1: { released: 2024-06-01${version} }
  v2: { released: 2025-01-15 }
`;

async function compiled(version: string, top = TOP): Promise<VersionRules> {
  await using files = await workspace({ 'policies/api.yaml': api(version, top) });
  const { plan, problems } = await files.load();
  const v1 = plan?.apis[0]?.versions.get('v1');
  if (v1 === undefined) throw new Error(JSON.stringify(problems));
  return v1;
}

const said = async (version: string, top = TOP) => {
  await using files = await workspace({ 'policies/api.yaml': api(version, top) });
  return (await files.problems()).map((problem) => problem.replace('policies/api.yaml:', ''));
};

describe('off in a version', () => {
  it.each([
    ['extended', { schedule: { sunset: Date.UTC(2027, 0, 15) } }],
    ['retired', { schedule: { retired: undefined } }],
    ['forgotten', { schedule: { forgotten: undefined } }],
    ['alternate', { schedule: { alternate: undefined } }],
    ['reason', { schedule: { reason: undefined } }],
    ['brownouts', { brownouts: undefined }],
    ['exceptions', { exceptions: [] }],
    ['maintenance', { maintenance: undefined }],
    ['limits', { limits: undefined }],
  ])('%s: the version does not inherit it', async (key, expected) => {
    const without = await compiled(`, ${key}: off`, LENIENT);
    expect(without).toMatchObject(expected);
    expect(without.schedule.guide).toBe('https://docs.example.com/end');
    expect(await compiled('', LENIENT)).not.toMatchObject(expected);
    expect(await said(`, ${key}: off`, LENIENT)).toEqual([]);
  });

  it("sunset: nothing that depends on the API's sunset is inherited, and the version has no end", async () => {
    const { schedule, exceptions, brownouts } = await compiled(', deprecated: off, sunset: off');
    expect(schedule).toMatchObject({ deprecated: undefined, sunset: undefined, retired: undefined });
    expect([exceptions, brownouts]).toEqual([[], undefined]);
    expect(await said(', deprecated: off, sunset: off')).toEqual([]);
  });

  it('guide and status: no guide, and the status page of the gateway', async () => {
    const { schedule } = await compiled(', guide: off, status: off');
    expect(schedule).toMatchObject({
      guide: undefined,
      status: expect.stringContaining('/lifecycle/orders'),
    });
    expect(await said(', guide: off')).toEqual([expect.stringContaining('without a migration guide')]);
  });

  it('counts as missing for rules that need the value', async () => {
    expect(await said(', deprecated: 2026-01-15, sunset: off, retired: 2027-08-01')).toEqual([
      expect.stringContaining('retired needs a sunset'),
    ]);
    expect(await said(', deprecated: off, brownouts: []')).toEqual([
      expect.stringContaining('a sunset without deprecated'),
    ]);
  });

  it('is allowed in versions and operations only: an API inherits nothing', async () => {
    expect(await said('', 'sunset: off\n')).toEqual([
      expect.stringContaining('error: not a calendar date (YYYY-MM-DD) or an instant with its offset: "off"'),
    ]);
  });
});

describe('an empty list', () => {
  it.each(['brownouts', 'exceptions'])('of %s is empty too', async (key) => {
    expect(await said(`, ${key}: []`)).toEqual([]);
    const [empty, off] = [await compiled(`, ${key}: []`), await compiled(`, ${key}: off`)];
    expect([empty.brownouts?.planned, empty.exceptions.length]).toEqual([
      off.brownouts?.planned,
      off.exceptions.length,
    ]);
  });
});

describe('off in an operation', () => {
  const operation = (text: string) => `, operations: { GET /find: { ${text} } }`;
  const found = async (text: string) => (await compiled(operation(text))).operations?.list[0];

  it.each([
    ['brownouts', { brownouts: undefined }],
    ['maintenance', { maintenance: undefined }],
    ['limits', { limits: undefined }],
  ])('%s: the operation does not inherit it', async (key, expected) => {
    expect(await found(`${key}: off`)).toMatchObject(expected);
    expect(await found('max_body: 1MB')).not.toMatchObject(expected);
    expect(await said(operation(`${key}: off`))).toEqual([]);
  });

  it('limits of an operation need a rate if its version has none', async () => {
    const alone = (limits: string) => `, limits: off${operation(`limits: { ${limits} }`)}`;
    expect(await said(alone('rate: 10/1s'))).toEqual([]);
    expect(await said(alone('deprecated: 50%'))).toEqual([expect.stringContaining('a limit needs a rate')]);
    const { operations } = await compiled(alone('rate: 10/1s'));
    expect(operations?.list[0]?.limits?.each[0]?.active).toMatchObject({ units: 10, burst: 10 });
  });
});

describe('a value close to off', () => {
  it.each([
    [', extended: []', '«[]» error: the list is empty (add an entry, or leave the key out)'],
    [
      ', sunset: soon',
      '«soon» error: not a calendar date (YYYY-MM-DD) or an instant with its offset: "soon"',
    ],
    [
      ', maintenance: oof',
      '«oof» error: not a calendar date (YYYY-MM-DD) or an instant with its offset: "oof" (did you mean "off"?)',
    ],
    [', limits: 600/1m', '«600/1m» error: expected "off", a map or a list: "600/1m"'],
    [
      ', extended: { to: 2027-08-15, announced: 2026-12-01 }',
      'error: expected "off" or a list, not a map (write a list of one entry: [ … ])',
    ],
    [', brownouts: none', '«none» error: expected "off" or a list: "none"'],
  ])('%s', async (version, problem) => {
    expect(await said(version)).toEqual([expect.stringContaining(problem)]);
  });
});
