// Commands about an API as a whole: one without versions, and dates that apply to all versions.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../gateway/cli/check/check.ts';
import { runDiff } from '../../gateway/cli/diff/diff.ts';
import { runExplain } from '../../gateway/cli/explain/explain.ts';
import { runExtend } from '../../gateway/cli/extend/extend.ts';
import { runOpenapi } from '../../gateway/cli/openapi/openapi.ts';
import { runTimeline } from '../../gateway/cli/timeline/timeline.ts';
import { NOW, type Workspace, workspace } from '../plan/workspace.ts';

const HOOKS = `api: hooks
base: /hooks
access: public
deprecated: 2026-01-15
sunset: 2027-01-15 # told everybody
retired: 2027-07-15
forgotten: 2028-01-15
guide: https://docs.example.com/hooks
upstreams: { any: { targets: [http://127.0.0.1:4004] } }
versions: none
expect:
  - { request: GET /hooks, at: 2027-01-14, version: none, stage: deprecated }
  - { request: GET /hooks, at: 2027-08-01, stage: retired, status: 410 }
  - { request: GET /hooks, at: 2028-01-15, status: 404 }
`;
const ORDERS = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: public
deprecated: 2026-06-01
sunset: 2027-06-01
guide: https://docs.example.com/end
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v1: { released: 2024-06-01, deprecated: 2025-06-01, sunset: 2027-01-15 }
  v2: { released: 2025-06-01 }
`;
const policies = { 'policies/hooks.yaml': HOOKS, 'policies/orders.yaml': ORDERS };
const common = (files: Workspace) => ({
  configFile: files.configFile,
  environment: {},
  now: NOW,
  today: NOW,
  colour: false,
  cwd: files.folder,
});

describe('check', () => {
  it('runs the expectations of an API without versions', async () => {
    await using files = await workspace(policies);
    const check = { files: [], format: 'text', strict: true, against: undefined } as const;
    expect(await runCheck({ ...common(files), ...check })).toMatchObject({ exitCode: 0 });
    await files.write('policies/hooks.yaml', HOOKS.replace('status: 410', 'status: 404'));
    expect((await runCheck({ ...common(files), ...check })).text).toContain(
      'expected status 404, not 410: the request is answered 410 version_retired',
    );
  });
});

describe('explain', () => {
  const explain = async (request: string, now = NOW) => {
    await using files = await workspace(policies);
    const asked = { request, headers: [], as: undefined, scopes: undefined, paused: undefined };
    return (await runExplain({ ...common(files), ...asked, now, format: 'text' })).text.split('\n');
  };

  it('shows stage, dates and lines of an API without versions', async () => {
    const lines = await explain('GET /hooks/7');
    expect(lines.slice(2, 4).map((line) => line.replace(/ {2,}/g, '  '))).toEqual([
      'api  hooks  /hooks, deprecated  policies/hooks.yaml:2',
      'stage  deprecated  deprecated since 2026-01-15, sunset 2027-01-15, in 56 days  policies/hooks.yaml:4',
    ]);
    expect(
      lines.filter((line) => / {2}(sunset: 4|retired: |nothing)/.test(line)).map((line) => line.trim()),
    ).toEqual([
      'next      2027-01-15            sunset: 410 Gone, version_retired',
      '2027-07-15            retired: 410 Gone, version_retired',
      '2028-01-15            nothing answers: 404 Not Found, route_unknown',
    ]);
  });

  it('STAT-1: names the line that makes an API without versions forgotten', async () => {
    const refused = (await explain('GET /hooks/7', Date.UTC(2028, 0, 15))).find((line) =>
      /^refused/.test(line),
    );
    expect(refused).toMatch(
      /^refused +route_unknown +hooks forgotten since 2028-01-15 +policies\/hooks\.yaml:7$/,
    );
  });

  it('points at the line of the API for a date that a version inherits', async () => {
    const [, , api = '', , stage = ''] = await explain('GET /api/v2/orders', Date.UTC(2027, 5, 1));
    expect(api).toMatch(/^api +orders +\/api\/\{version\}\/orders, retired +policies\/orders.yaml:3$/);
    expect(stage).toMatch(/^stage +retired .*policies\/orders.yaml:6$/);
  });
});

describe('timeline', () => {
  it('draws an API without versions if it has dates, and shows the stage of each API', async () => {
    await using files = await workspace(policies);
    const options = { ...common(files), api: undefined, format: 'text', columns: 100 } as const;
    const lines = (await runTimeline(options)).text.split('\n').map((line) => line.trim());
    expect(lines).toContain('orders, deprecated');
    expect(lines).toContain('hooks, deprecated');
    expect(lines.join(' ')).toContain(
      'deprecated, deprecated 2026-01-15, sunset 2027-01-15 in 56 days (12 months of notice), retired 2027-07-15, forgotten 2028-01-15, then 410',
    );
    const before = await runTimeline({ ...options, now: Date.UTC(2026, 5, 1) - 1000 });
    expect(before.text).toContain('\norders, active\n');
  });
});

describe('extend', () => {
  const extend = (files: Workspace, api: string, version: string | undefined, now = Date.UTC(2026, 8, 1)) =>
    runExtend({
      ...common(files),
      now,
      api,
      version,
      to: { at: Date.UTC(2027, 9, 1), text: '2027-10-01' },
      why: 'acme still migrates',
      announced: undefined,
      dryRun: false,
    });

  it('extends the sunset of the API for every version without its own', async () => {
    await using files = await workspace(policies);
    const { exitCode, text } = await extend(files, 'orders', undefined);
    expect(exitCode).toBe(0);
    expect(text).toContain('orders v2: sunset 2027-06-01 -> 2027-10-01, +4 months\n');
    expect(text).not.toContain('orders v1');
    expect(await readFile(join(files.folder, 'policies/orders.yaml'), 'utf8')).toBe(
      ORDERS.replace(
        'sunset: 2027-06-01\n',
        'sunset: 2027-06-01\nextended: [ { to: 2027-10-01, announced: 2026-09-01, why: acme still migrates } ]\n',
      ),
    );
  });

  it.each([undefined, 'none'])(
    'extends the sunset of an API without versions if the version argument is %s',
    async (version) => {
      const text = HOOKS.replace(/retired[\s\S]*guide/, 'guide').replace(/expect[\s\S]*/, '');
      await using files = await workspace({ 'policies/hooks.yaml': text });
      expect((await extend(files, 'hooks', version)).text).toContain(
        'hooks: sunset 2027-01-15 -> 2027-10-01, +8 months 16 days\n',
      );
      expect(await readFile(join(files.folder, 'policies/hooks.yaml'), 'utf8')).toContain(
        'sunset: 2027-01-15 # told everybody\nextended: [ { to: 2027-10-01,',
      );
    },
  );

  it.each([
    ['orders', 'v2', 'orders.yaml:6:9: error: v2 has the sunset of the whole API'],
    ['orders', 'none', 'no version is called "none": there are v1, v2'],
    ['hooks', 'v1', 'hooks has no versions: leave "v1" out to extend the API'],
  ])('refuses %s %s', async (api, version, message) => {
    await using files = await workspace(policies);
    const { exitCode, text } = await extend(files, api, version);
    expect(exitCode).toBeGreaterThan(0);
    expect(text).toContain(message);
  });

  it('refuses an API whose versions all have their own end', async () => {
    const own = 'extended: [ { to: 2027-09-01, announced: 2026-09-01, why: first } ]';
    const text = ORDERS.replace('released: 2025-06-01', `released: 2025-06-01, ${own}`);
    await using files = await workspace({ 'policies/orders.yaml': text });
    const { exitCode, text: said } = await extend(files, 'orders', undefined);
    expect(exitCode).toBe(1);
    expect(said).toMatch(
      /orders.yaml:6:9: error: no version of orders would end later[\s\S]*name the version/,
    );
    expect(await readFile(join(files.folder, 'policies/orders.yaml'), 'utf8')).toBe(text);
  });

  it('extends a version that has its own extensions', async () => {
    const own = 'extended: [ { to: 2027-09-01, announced: 2026-09-01, why: first } ]';
    const text = ORDERS.replace('released: 2025-06-01', `released: 2025-06-01, ${own}`);
    await using files = await workspace({ 'policies/orders.yaml': text });
    expect((await extend(files, 'orders', 'v2')).text).toContain(
      'orders v2: sunset 2027-09-01 -> 2027-10-01, +1 month\n',
    );
  });

  it('refuses an API whose sunset has passed, or that has no sunset of its own', async () => {
    await using files = await workspace({
      ...policies,
      'policies/hooks.yaml': HOOKS.replace('sunset: 2027', 'sunset: 2026')
        .replace('deprecated: 2026', 'deprecated: 2025')
        .replace(/expect[\s\S]*/, ''),
    });
    expect((await extend(files, 'hooks', undefined)).text).toContain(
      'the sunset of hooks has passed: an API that has ended is not revived',
    );
    await files.write('policies/orders.yaml', ORDERS.replace('sunset: 2027-06-01\n', ''));
    expect((await extend(files, 'orders', undefined)).text).toMatch(
      /orders has no sunset that could be extended[\s\S]*name the version whose sunset it is/,
    );
  });
});

describe('openapi', () => {
  it('refuses an API without versions, because only a version names a description', async () => {
    await using files = await workspace(policies);
    const { exitCode, stderr } = await runOpenapi({
      ...common(files),
      api: 'hooks',
      version: 'none',
      write: false,
    });
    expect([exitCode, stderr]).toEqual([2, 'sundial: hooks has no versions, so it has no description\n']);
  });
});

describe('diff', () => {
  const diff = async (older: string, newer: string) => {
    await using files = await workspace({ 'old.yaml': older, 'new.yaml': newer });
    const sides = { older: 'old.yaml', newer: 'new.yaml', format: 'text', exitCode: false } as const;
    const { text } = await runDiff({ ...common(files), ...sides });
    return text.split('\n').filter((line) => /^(orders|hooks|no changes)/.test(line));
  };

  it('shows a changed date of the API at the versions that inherit it', async () => {
    const later = ORDERS.replace('sunset: 2027-06-01', 'sunset: 2027-09-01');
    expect(await diff(ORDERS, later)).toEqual(['orders v2: sunset 2027-06-01 -> 2027-09-01, +3 months']);
  });

  it('shows no change if a date only moves from the versions to the API', async () => {
    const shared = 'deprecated: 2026-06-01, sunset: 2027-06-01, guide: "https://docs.example.com/end"';
    const [, top = ''] = /(deprecated[\s\S]*?)upstreams/.exec(ORDERS) ?? [];
    const each = ORDERS.replace(top, '')
      .replace('sunset: 2027-01-15', 'sunset: 2027-01-15, guide: "https://docs.example.com/end"')
      .replace('released: 2025-06-01', `released: 2025-06-01, ${shared}`);
    expect(await diff(ORDERS, each)).toEqual([expect.stringMatching(/^no changes/)]);
  });

  it('shows changed dates and links of an API without versions', async () => {
    const newer = HOOKS.replace('sunset: 2027-01-15', 'sunset: 2027-02-15')
      .replace('/hooks\nupstreams', '/bye\nupstreams')
      .replace('forgotten: 2028-01-15\n', 'alternate: https://events.example.com/\n');
    expect(await diff(HOOKS, newer)).toEqual([
      'hooks: sunset 2027-01-15 -> 2027-02-15, +1 month',
      'hooks: forgotten 2028-01-15 removed',
      'hooks: guide https://docs.example.com/hooks -> https://docs.example.com/bye',
      'hooks: alternate https://events.example.com/ added',
    ]);
    const bare = HOOKS.replace(/deprecated[\s\S]*guide.*\n/, '').replace(/expect[\s\S]*/, '');
    expect(await diff(bare, bare.replace('versions: none', 'versions: none\nmode: enforce'))).toEqual([
      'no changes',
    ]);
  });
});
