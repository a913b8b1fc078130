// Tests lifecycle keys of a whole API: inherited by versions, or all that an API without versions has.
import { describe, expect, it } from 'vitest';
import { type Workspace, workspace } from './workspace.ts';

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

const TOP = `deprecated: 2026-01-15
sunset: 2027-01-15
guide: https://docs.example.com/end
`;
const VERSIONS = `  v1: { released: 2024-06-01 }
  v2: { released: 2025-01-15 }
`;
const versioned = (top = TOP, versions = VERSIONS) => `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: { identity: main, scopes: any }
${top}upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
${versions}`;
const unversioned = (top = TOP, upstreams = '{ any: { targets: [http://127.0.0.1:4004] } }') => `api: hooks
base: /hooks
access: { identity: main, scopes: any }
${top}upstreams: ${upstreams}
versions: none
`;
const TOP_AT = 5;

const said = async (text: string) => {
  await using files = await workspace({ 'policies/api.yaml': text });
  return await files.problems();
};
const schedules = async (text: string) => {
  await using files = await workspace({ 'policies/api.yaml': text });
  const { plan, problems } = await files.load();
  if (plan === undefined) throw new Error(JSON.stringify(problems));
  return Object.fromEntries(
    plan.apis.flatMap(({ versions }) => [...versions].map(([label, { schedule }]) => [label, schedule])),
  );
};

describe('a key of the whole API', () => {
  it('applies to every version without its own', async () => {
    const expected = { deprecated: day('2026-01-15'), sunset: day('2027-01-15') };
    const { v1, v2 } = await schedules(versioned());
    for (const schedule of [v1, v2]) {
      expect(schedule).toMatchObject({ ...expected, guide: 'https://docs.example.com/end' });
    }
    expect(await said(versioned())).toEqual([]);
  });

  it('includes documentation and description, unless a version has its own', async () => {
    const top = `${TOP}service_doc: https://docs.example.com/orders\nservice_desc: https://docs.example.com/openapi\n`;
    const own = VERSIONS.replace('2025-01-15', '2025-01-15, service_doc: "https://docs.example.com/v2"');
    const { v1, v2 } = await schedules(versioned(top, own));
    const serviceDesc = 'https://docs.example.com/openapi';
    expect(v1).toMatchObject({ serviceDoc: 'https://docs.example.com/orders', serviceDesc });
    expect(v2).toMatchObject({ serviceDoc: 'https://docs.example.com/v2', serviceDesc });
    const { none } = await schedules(unversioned('service_doc: https://docs.example.com/hooks\n'));
    expect(none).toMatchObject({ serviceDoc: 'https://docs.example.com/hooks', serviceDesc: undefined });
  });

  it.each([
    ['service_doc', './orders.md'],
    ['service_desc', '"https://docs.example.com/<v1>"'],
    ['service_desc', 'http://docs.example.com/openapi.yaml'],
  ])('LNK-3: %s: %s is not allowed in a Link', async (key, value) => {
    const message = 'not an absolute https URL with everything else percent-encoded';
    expect(await said(versioned(`${TOP}${key}: ${value}\n`))).toEqual([
      expect.stringMatching(new RegExp(`^policies/api.yaml:${TOP_AT + 3} .* error: ${message}`)),
    ]);
    const own = VERSIONS.replace('2025-01-15', `2025-01-15, ${key}: ${value.replaceAll('"', "'")}`);
    expect(await said(versioned(TOP, own))).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    ['deprecated', '2026-02-01'],
    ['sunset', '2027-02-01'],
  ])('a version overrides its %s', async (key, date) => {
    const own = VERSIONS.replace('2025-01-15', `2025-01-15, ${key}: ${date}`);
    const { v1, v2 } = await schedules(versioned(TOP, own));
    expect(v2).toMatchObject({ [key]: day(date) });
    expect(v1).toMatchObject({ deprecated: day('2026-01-15'), sunset: day('2027-01-15') });
  });

  it("RET-11: with its own sunset, a version inherits nothing that depends on the API's sunset", async () => {
    const top = `${TOP}extended: [ { to: 2027-05-15, announced: 2026-09-01 } ]
retired: 2027-08-01
forgotten: 2028-08-01
exceptions: [ { consumer: acme, until: 2027-07-01, from: [sunset], why: contract, by: team } ]
brownouts: [ { from: 2026-12-08T14:00:00Z, for: 15m, announced: 2026-11-01 } ]
`;
    const own = VERSIONS.replace('2024-06-01', '2024-06-01, deprecated: 2025-02-01, sunset: 2026-06-01');
    await using files = await workspace({ 'policies/api.yaml': versioned(top, own) });
    const { plan, problems } = await files.load();
    expect(problems).toEqual([]);
    const [v1, v2] = ['v1', 'v2'].map((label) => plan?.apis[0]?.versions.get(label));
    expect(v1?.schedule).toMatchObject({
      sunset: day('2026-06-01'),
      retired: undefined,
      forgotten: undefined,
    });
    expect([v1?.exceptions, v1?.brownouts]).toEqual([[], undefined]);
    const dates = { sunset: day('2027-05-15'), retired: day('2027-08-01'), forgotten: day('2028-08-01') };
    expect(v2?.schedule).toMatchObject(dates);
    expect([v2?.exceptions.length, v2?.brownouts?.planned.length]).toEqual([1, 1]);
  });

  it('its announcement belongs to its deprecation', async () => {
    const top = TOP.replace('sunset', 'announced: 2025-10-01\nsunset').replace('2027-01-15', '2026-11-01');
    expect(await said(versioned(top))).toEqual([]);
    const own = VERSIONS.replace('2025-01-15', '2025-01-15, deprecated: 2026-02-01');
    expect(await said(versioned(top, own))).toEqual([
      expect.stringMatching(
        /:7 .*warning: v2 ends less than 12 months after it was deprecated \(2026-02-01\)/,
      ),
    ]);
  });

  it('alternate is not inherited by a version with a successor', async () => {
    const own = VERSIONS.replace('2024-06-01', '2024-06-01, sunset: 2026-06-01, successor: v2');
    const top = `${TOP}alternate: https://api.example.com/subscriptions\n`;
    const { v1, v2 } = await schedules(versioned(top, own));
    expect([v1?.alternate, v2?.alternate]).toEqual([undefined, 'https://api.example.com/subscriptions']);
  });

  it('an operation may still end earlier', async () => {
    const own = `${VERSIONS.replace('v2: { released: 2025-01-15 }', 'v2: { released: 2025-01-15, operations: { GET /search: { sunset: 2026-08-01 } } }')}`;
    await using files = await workspace({ 'policies/api.yaml': versioned(TOP, own) });
    const { plan } = await files.load();
    const [search] = plan?.apis[0]?.versions.get('v2')?.operations?.list ?? [];
    expect(search?.schedule).toMatchObject({ deprecated: day('2026-01-15'), sunset: day('2026-08-01') });
  });
});

describe('a problem of the whole API', () => {
  const at = (line: number) => `policies/api.yaml:${TOP_AT + line}`;

  it('is reported once for all versions, at its line', async () => {
    expect(await said(versioned(TOP.replace('2027-01-15', 'soon')))).toEqual([
      expect.stringMatching(`^${at(1)} «soon» error`),
    ]);
    const short = TOP.replace(
      '2027-01-15',
      '2027-01-15\nextended: [ { to: 2027-02-15, announced: 2026-09-01 } ]',
    );
    expect(await said(versioned(short))).toEqual([
      `${at(2)} «2027-02-15» warning: this extension moves the sunset (2027-01-15) by less than 3 months (write a date between 2027-04-15 and 2027-07-15)`,
    ]);
  });

  it("DEP-4: names the line of the API's date that conflicts with one of a version", async () => {
    const own = VERSIONS.replace('2024-06-01', '2024-06-01, sunset: 2026-01-10');
    expect(await said(versioned(TOP, own))).toContainEqual(
      expect.stringMatching(
        /«2026-01-10» error: sunset \(2026-01-10\) is before deprecated \(2026-01-15, that of the API at policies\/api.yaml:5\)$/,
      ),
    );
  });

  it.each([
    ['deprecated:\n', '«deprecated» error: there is no value behind "deprecated": add one, or remove it'],
    ['brownouts: [ ~ ]\n', '«~» error: expected a map, not nothing'],
    ['exceptions:\n  -\n', 'error: there is no value in this entry: add one, or remove it'],
  ])('an empty %s is reported once, in words', async (line, problem) => {
    const top = `${TOP}${line}`.replace(line.startsWith('deprecated') ? /deprecated: .*\n/ : /$^/, '');
    expect(await said(versioned(top))).toEqual([expect.stringContaining(problem)]);
    expect(await said(unversioned(top))).toEqual([expect.stringContaining(problem)]);
  });

  it('does not mention versions if the API has none', async () => {
    const late = `${TOP}extended: [ { to: 2027-06-15, announced: 2027-02-01 } ]\n`;
    expect((await said(unversioned(late))).join()).toContain('an API that has ended is not revived');
    expect((await said(versioned(late))).join()).toContain('a version that has ended is not revived');
    const alone = TOP.replace(/deprecated.*\n/, '');
    expect((await said(unversioned(alone))).join()).toContain(
      'before the API ends, callers get a Sunset header',
    );
    const leave = `${TOP}exceptions: [ { consumer: acme, until: 2027-05-01, from: [sunset], why: x, by: y } ]\n`;
    expect((await said(unversioned(leave))).join()).toContain('give the API a later retired');
  });

  it.each([
    [
      'after: { redirect: v2 }',
      'it belongs in a version, below "versions"',
      'only versions have this key, and this API has none; "alternate" names a replacement',
    ],
    [
      'released: 2024-01-01',
      'it belongs in a version, below "versions"',
      'only versions have this key, and this API has none',
    ],
    ['sunsett: 2024-01-01', 'did you mean "sunset"?', 'did you mean "sunset"?'],
  ])('a misplaced key gets a hint: %s', async (line, withVersions, without) => {
    expect(await said(versioned(`${TOP}${line}\n`))).toEqual([expect.stringContaining(`(${withVersions})`)]);
    expect(await said(unversioned(`${TOP}${line}\n`))).toEqual([expect.stringContaining(`(${without})`)]);
  });

  it('a key of the API in a version, and of a version in an operation, get hints', async () => {
    const own = (more: string) => VERSIONS.replace('2024-06-01', `2024-06-01, ${more}`);
    expect(await said(versioned(TOP, own('mode: observe')))).toEqual([
      expect.stringContaining('unknown key "mode" (it belongs at the top of the file)'),
    ]);
    expect(await said(versioned(TOP, own('operations: { GET /x: { retired: 2027-05-01 } }')))).toEqual([
      expect.stringContaining('unknown key "retired" (it belongs in the version, outside "operations")'),
    ]);
  });

  it('DEP-4: names the version with the conflict', async () => {
    expect(await said(versioned(TOP, VERSIONS.replace('2025-01-15', '2026-05-01')))).toEqual([
      `${at(0)} «2026-01-15» error: v2: deprecated (2026-01-15) is before released (2026-05-01)`,
    ]);
  });

  it.each([
    [
      'notice-period',
      TOP.replace('2027', '2026').replace('sunset: 2026-01', 'sunset: 2026-06'),
      /ends less than 12 months/,
    ],
    ['migration-guide', TOP.replace(/guide.*\n/, ''), /is deprecated without a migration guide/],
    [
      'extension-announcement',
      `${TOP}extended: [ { to: 2027-05-15, announced: 2026-12-01 } ]\n`,
      /announced less than 3 months before the sunset it moves/,
    ],
    [
      'sunset-only-later',
      `${TOP}extended: [ { to: 2027-01-15, announced: 2026-09-01 } ]\n`,
      /is not after the sunset/,
    ],
    [
      'brownout-announcement',
      `${TOP}brownouts: [ { from: 2026-12-08T14:00:00Z, for: 15m, announced: 2026-12-01 } ]\n`,
      /announced less than 14 days/,
    ],
    [
      'brownout-windows',
      `${TOP}brownouts: [ { from: 2027-02-08T14:00:00Z, for: 15m, announced: 2026-11-01 } ]\n`,
      /ends after the sunset/,
    ],
  ])('%s applies with and without versions, and can be switched off', async (rule, top, message) => {
    for (const text of [versioned(top), unversioned(top)]) {
      const problems = await said(text);
      expect(problems.length).toBeGreaterThan(0);
      for (const problem of problems) expect(problem).toMatch(message);
      expect(await said(`${text}rules: { ${rule}: off }\n`)).toEqual([]);
    }
  });

  it('parallel-versions has no finding for a version that ends with the whole API', async () => {
    expect(await said(versioned())).toEqual([]);
    const own = VERSIONS.replace('2025-01-15', '2025-01-15, deprecated: 2026-02-01');
    expect(await said(versioned(TOP, own))).toEqual([
      expect.stringMatching(/warning: v2 ends less than 12 months/),
    ]);
  });

  it('dates with missing partners are refused for an API too', async () => {
    const alone = 'announced: 2025-10-01\nretired: 2027-05-01\nforgotten: 2028-05-01\n';
    expect(await said(unversioned(alone))).toEqual([
      expect.stringMatching(/:4 .*announced needs deprecated/),
      expect.stringMatching(/:5 .*retired needs a sunset/),
      expect.stringMatching(/:6 .*forgotten needs a sunset/),
    ]);
  });
});

describe('an API without versions', () => {
  it('has the lifecycle of its file', async () => {
    const { none } = await schedules(unversioned());
    expect(none).toMatchObject({ deprecated: day('2026-01-15'), sunset: day('2027-01-15') });
  });

  it('needs no upstream after its sunset', async () => {
    const past = TOP.replace('2027', '2026')
      .replace('deprecated: 2026', 'deprecated: 2025')
      .replace('sunset: 2026-01', 'sunset: 2026-06');
    expect(await said(unversioned(past, '{}'))).toEqual([]);
    expect(await said(unversioned(TOP, '{}'))).toEqual([
      expect.stringContaining('an API with "versions: none" has exactly one upstream'),
    ]);
  });

  it.each([
    'deprecation_header: "true"',
    'upstream_wins: true',
    'warning: false',
    'limits: { rate: 10/1s, deprecated: 50% }',
  ])('may have keys about its deprecation once it is deprecated: %s', async (line) => {
    expect(await said(unversioned(`${TOP}${line}\n`))).toEqual([]);
    const problems = await said(unversioned(`${line}\n`));
    expect(problems).toEqual([expect.stringContaining('has no effect in an API')]);
  });

  it('has no version to redirect to and no version to request', async () => {
    for (const line of ['after: { redirect: v2 }', 'successor: v2', 'released: 2024-01-01'])
      expect(await said(unversioned(`${TOP}${line}\n`))).toEqual([expect.stringContaining('unknown key')]);
  });
});

describe('published dates', () => {
  const againstPast = async (now: string, before: string) => {
    const { runCheck } = await import('../../gateway/cli/check/check.ts');
    await using files: Workspace = await workspace({ 'policies/api.yaml': now, 'before/api.yaml': before });
    const options = { files: [], format: 'text', strict: false, colour: false, against: 'before' } as const;
    const today = Date.UTC(2026, 10, 20);
    const { configFile, folder: cwd } = files;
    return (await runCheck({ ...options, configFile, cwd, environment: {}, now: today })).text;
  };

  it.each([
    ['with versions', versioned],
    ['without', unversioned],
  ])('an earlier sunset of the whole API is an error at its line, %s', async (_how, text) => {
    const earlier = text(TOP.replace('2027-01-15', '2027-01-10').replace('2026-01-15', '2026-01-10'));
    const line = earlier.split('\n').findIndex((each) => each.startsWith('sunset')) + 1;
    expect(await againstPast(earlier, text())).toContain(
      `policies/api.yaml:${line}:9: error: the sunset of ${text === versioned ? 'v1' : 'hooks'} was published as 2027-01-15 and is now earlier [sunset-rewritten]`,
    );
  });

  it('dates may move between a version and its API', async () => {
    const each = VERSIONS.replaceAll(
      ' }',
      ', deprecated: 2026-01-15, sunset: 2027-01-15, guide: "https://docs.example.com/end" }',
    );
    expect(await againstPast(versioned(), versioned('', each))).not.toContain('rewritten');
    expect(await againstPast(versioned('', each), versioned())).not.toContain('rewritten');
  });

  it('an API with a published end must keep its dates, one without may be removed', async () => {
    expect(await againstPast(versioned(), unversioned())).toContain(
      'this API was published and no policy file describes it now [version-removed]',
    );
    expect(await againstPast(versioned(), unversioned(''))).not.toContain('version-removed');
  });
});
