// `check --against <folder>`: what the comparison with an older folder of policies says beyond the single rules.
// The rules themselves are shown in rules.test.ts.
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../../gateway/cli/check.ts';
import { NOW, ORDERS, type Workspace, workspace } from '../workspace.ts';

const against = (files: Workspace, folder: string, names: readonly string[] = []) =>
  runCheck({
    files: names,
    configFile: files.configFile,
    format: 'text',
    strict: false,
    environment: {},
    now: NOW,
    colour: false,
    cwd: files.folder,
    against: folder,
  });

const MORE = ORDERS.replace('api: orders', 'api: more').replaceAll('/orders', '/more');

describe('check against an older folder', () => {
  it('the same files have nothing rewritten, whatever rules they break', async () => {
    const text = ORDERS.replace('sunset: 2027-01-15', 'sunset: 2026-12-01');
    await using files = await workspace({ 'policies/orders.yaml': text, 'before/deep/orders.yml': text });
    const { exitCode, text: said } = await against(files, 'before');
    expect(exitCode).toBe(0);
    expect(said).toContain('[notice-period]');
    expect(said).toMatch(/1 warning \(1 API, 2 versions\)\n$/);
  });

  it('a later announcement hides dates that were published', async () => {
    const text = ORDERS.replace(
      'deprecated: 2026-01-15, sunset: 2027-01-15',
      'deprecated: 2027-01-15, sunset: 2028-01-15',
    );
    await using files = await workspace({
      'policies/orders.yaml': text.replace('deprecated:', 'announced: 2026-12-10, deprecated:'),
      'before/orders.yaml': text,
    });
    expect((await against(files, 'before')).text).toContain(
      'warning: deprecated and sunset of v1 were published and are hidden until 2026-12-10 [dates-rewritten]',
    );
    await files.write(
      'before/orders.yaml',
      text.replace('deprecated:', 'announced: 2026-11-21, deprecated:'),
    );
    expect((await against(files, 'before')).text).not.toContain('dates-rewritten');
  });

  it('an API that has vanished is said where it stood', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS,
      'before/a.yaml': ORDERS,
      'before/b.yaml': MORE,
    });
    const { exitCode, text } = await against(files, 'before');
    expect(exitCode).toBe(0);
    expect(text).toContain(
      'before/b.yaml:1:6: warning: this API was published (v1, v2) and no policy file describes it any more [version-removed]',
    );
  });

  it('an API without dates that has vanished has left its callers, unless another answers there', async () => {
    const hooks =
      'api: hooks\nbase: /hooks\naccess: public\nupstreams: { any: { targets: [http://127.0.0.1:4001] } }\nversions: none\n';
    await using files = await workspace({ 'policies/orders.yaml': ORDERS, 'before/hooks.yaml': hooks });
    expect((await against(files, 'before')).text).toContain(
      'before/hooks.yaml:2:7: warning: /hooks was published and leads to no API any more: its callers get 404 [urls-moved]',
    );
    await files.write('policies/calls.yaml', hooks.replace('api: hooks', 'api: calls'));
    expect((await against(files, 'before')).text).not.toContain('urls-moved');
  });

  it('an API that has left its place to an API around it is said to lead there', async () => {
    const inner =
      'api: inner\nbase: /hooks/secure\naccess: public\nupstreams: { any: { targets: [http://127.0.0.1:4001] } }\nversions: none\n';
    const outer = inner.replace('api: inner', 'api: outer').replace('/hooks/secure', '/hooks');
    await using files = await workspace({ 'policies/outer.yaml': outer, 'before/inner.yaml': inner });
    const leads =
      'was published and leads to the API outer now: its callers are judged by the access rules of that API';
    expect((await against(files, 'before')).text).toContain(
      `inner.yaml:2:7: warning: /hooks/secure ${leads}`,
    );
    await files.write('policies/outer.yaml', outer.replace('base: /hooks', 'base: /'));
    expect((await against(files, 'before')).text).toContain(leads);
    await files.write('policies/inner.yaml', inner.replace('/hooks/secure', '/elsewhere'));
    expect((await against(files, 'before')).text).toContain(
      `inner.yaml:2:7: warning: /hooks/secure ${leads}`,
    );
    await files.write('policies/outer.yaml', outer.replace('base: /hooks', 'base: /hooks/sec'));
    expect((await against(files, 'before')).text).toContain('leads to no API any more');
  });

  it('an API is not missed where only some files are named, or the name of one cannot be read', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS,
      'before/a.yaml': ORDERS,
      'before/b.yaml': MORE,
    });
    expect((await against(files, 'before', ['policies/orders.yaml'])).text).not.toContain('version-removed');
    await files.write('policies/orders.yaml', ORDERS.replace('api: orders', 'api: 7'));
    expect((await against(files, 'before')).text).not.toContain('version-removed');
  });

  it('what was only planned may change; a malformed date is reported once', async () => {
    const planned = ORDERS.replace('v2: { released: 2026-01-15', 'v2: { released: 2027-01-01').replace(
      ', successor: v2',
      '',
    );
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace('sunset: 2027-01-15', 'sunset: 2027-02-30'),
      'before/orders.yaml': planned,
    });
    const { text } = await against(files, 'before');
    expect(text).toContain('not a calendar date');
    expect(text).not.toContain('rewritten');
  });

  it('what is wrong in the older files is not reported again, unless they cannot be read', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS,
      'before/orders.yaml': ORDERS.replace('access:', 'acces:'),
    });
    expect(await against(files, 'before')).toMatchObject({ exitCode: 0 });
    await files.write('before/orders.yaml', 'api: [');
    const { exitCode, text } = await against(files, 'before');
    expect(exitCode).toBe(1);
    expect(text).toContain('before/orders.yaml:');
  });

  it('the sunset of an operation is not moved to an earlier day either; a later one needs no extension', async () => {
    const until = (day: string) =>
      ORDERS.replace(
        'v2: { released',
        `v2: { operations: { GET /search: { deprecated: 2026-02-01, sunset: ${day}, guide: "https://docs.example.com/search" } }, released`,
      );
    await using files = await workspace({
      'policies/orders.yaml': until('2027-03-01'),
      'before/orders.yaml': until('2027-06-01'),
    });
    const { exitCode, text } = await against(files, 'before');
    expect(exitCode).toBe(1);
    expect(text).toContain(
      'error: the sunset of v2 GET /search was published as 2027-06-01 and is now earlier [sunset-rewritten]',
    );
    await files.write('policies/orders.yaml', until('2027-09-01'));
    expect((await against(files, 'before')).text).not.toContain('rewritten');
  });

  describe('an API that gets versions, or gives them up', () => {
    const whole = (dates: string) => `api: orders
base: /api/orders
access: { identity: main, scopes: { read: [orders:read] } }
rules: { notice-period: "off", migration-guide: "off", parallel-versions: "off", successor-exists: "off" }
${dates}upstreams: { any: { targets: [http://127.0.0.1:4001] } }
versions: none
`;
    const versioned = (resolve: string, versions: string) =>
      `${whole('').split('upstreams', 1)}resolve: [ { path: "/api/{version}/orders" }, { header: API-Version }${resolve} ]
upstreams: { v1: { targets: [http://127.0.0.1:4001] }, v2: { targets: [http://127.0.0.1:4001] } }
versions:
${versions}`;
    const DATES = 'deprecated: 2026-01-15\nsunset: 2027-04-15\n';
    const v1 = (sunset: string, deprecated = '2026-01-15') =>
      `  v1: { released: 2024-06-01, deprecated: ${deprecated}, sunset: ${sunset} }\n`;
    const v2 = '  v2: { released: 2026-01-15 }\n';
    const BY_DEFAULT = ', { default: v1 }';
    const BY_PIN = ', { pin: {} }, { default: v2 }';
    const EARLIER = 'the sunset of orders was published as 2027-04-15 and is now earlier';
    const NO_DEFAULT =
      'orders was published without versions, and requests that name none are refused by now';

    it.each<readonly [string, string, string, readonly string[]]>([
      ['the same dates under a name', whole(DATES), versioned(BY_DEFAULT, v1('2027-04-15') + v2), []],
      [
        'an earlier sunset of the version they get',
        whole(DATES),
        versioned(BY_DEFAULT, v1('2027-01-15') + v2),
        [`8:63: error: ${EARLIER}`],
      ],
      ['a later one', whole(DATES), versioned(BY_DEFAULT, v1('2027-05-15') + v2), []],
      [
        'an earlier sunset of a version they do not get',
        whole(DATES),
        versioned(', { default: v2 }', v1('2027-01-15') + v2),
        [],
      ],
      [
        'of any version that an account may be pinned to',
        whole(DATES),
        versioned(BY_PIN, v1('2027-01-15') + v2),
        [`8:63: error: ${EARLIER}`],
      ],
      [
        'no version without being asked for, and none that lasts',
        whole(DATES),
        versioned('', v1('2027-01-15')),
        [`5:1: warning: ${NO_DEFAULT}`, `8:63: error: ${EARLIER}`],
      ],
      [
        'no version without being asked for, and one that lasts',
        whole(DATES),
        versioned('', v1('2027-01-15') + v2),
        [`5:1: warning: ${NO_DEFAULT}`],
      ],
      [
        'other dates of the only version',
        whole(DATES),
        versioned(BY_DEFAULT, v1('2027-04-15', '2026-02-15')),
        ['8:43: warning: deprecated of orders was published as 2026-01-15 and has been changed'],
      ],
      ['nothing that was promised', whole(''), versioned('', v1('2026-12-01')), []],
      [
        'versions given up for an earlier sunset',
        versioned(BY_DEFAULT, v1('2027-04-15') + v2),
        whole(DATES.replace('2027-04-15', '2027-01-15')),
        ['6:9: error: the sunset of v1 was published as 2027-04-15 and is now earlier'],
      ],
      [
        'versions given up for the same sunset, or for none',
        versioned(BY_DEFAULT, v1('2027-04-15') + v2),
        whole(DATES),
        [],
      ],
      [
        'versions given up that had ended before',
        versioned(BY_DEFAULT, v1('2026-11-01', '2025-10-01') + v2),
        whole(DATES),
        [],
      ],
    ])('%s', async (_name, before, after, found) => {
      await using files = await workspace({ 'policies/orders.yaml': after, 'before/orders.yaml': before });
      const { text } = await against(files, 'before');
      const rewritten =
        /^policies\/orders\.yaml:(.*) \[(?:sunset-rewritten|dates-rewritten|version-removed)\]$/gm;
      const problems = [...text.matchAll(rewritten)].map(([, line = '']) => line);
      expect(problems.filter((line) => !line.includes('is not declared any more'))).toEqual(found);
    });
  });

  it.each([
    ['nowhere', 'this is no folder'],
    ['config/empty', 'no policy file in this folder'],
  ])('ends with 2 when there is nothing to compare with: %s', async (folder, why) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS, 'config/empty/README': '' });
    const { exitCode, text } = await against(files, folder);
    expect(exitCode).toBe(2);
    expect(text).toContain(`${folder}:1:1: error: cannot read: ${why}`);
  });
});
