// `sundial diff`: what counts as a change, how it is said, and how the command ends.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type DiffOptions, runDiff } from '../../gateway/cli/diff.ts';
import { NOW, ORDERS, type Workspace, workspace } from '../plan/workspace.ts';

const WIDE = `api: orders
base: /api/orders
resolve:
  - path: /api/{version}/orders
  - header: API-Version
  - default: v2
access: { identity: main, scopes: { read: [orders:read] } }
cors: { origins: [https://app.example.com] }
limits: { rate: 600/1m }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002], timeout: 3s }
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    successor: v2
    guide: https://docs.example.com/v2
    limits: { deprecated: 120/1m }
    brownouts:
      - { from: 2026-12-08T14:00:00Z, for: 15m, announced: 2026-11-01 }
    exceptions:
      - { consumer: acme, until: 2026-12-30, from: [limits], why: contract, by: api-team }
  v2:
    released: 2026-01-15
    operations:
      GET /search: { deprecated: 2026-06-01, sunset: 2027-06-15, successor: GET /, guide: https://docs.example.com/search }
`;

const diff = (files: Workspace, options: Partial<DiffOptions> = {}) =>
  runDiff({
    older: 'old.yaml',
    newer: 'new.yaml',
    configFile: files.configFile,
    format: 'text',
    exitCode: false,
    environment: {},
    now: NOW,
    colour: false,
    cwd: files.folder,
    ...options,
  });

/** The change lines alone, of `WIDE` after one edit. */
async function changed(edit: (text: string) => string): Promise<readonly string[]> {
  const text = edit(WIDE);
  if (text === WIDE) throw new Error('the edit changes nothing');
  await using files = await workspace({ 'old.yaml': WIDE, 'new.yaml': text });
  const { text: said } = await diff(files);
  return said.split('\n').filter((line) => line.startsWith('orders'));
}

const replacing = (from: string, to: string) => (text: string) => text.replace(from, () => to);

describe('what is said of a change', () => {
  it.each<readonly [string, string, string, ...string[]]>([
    [
      'an extension',
      '    successor: v2\n',
      '    extended: [ { to: 2027-04-15, announced: 2026-10-10 } ]\n    successor: v2\n',
      'orders v1: sunset 2027-01-15 -> 2027-04-15, +3 months',
      'orders v1: extension to 2027-04-15, announced 2026-10-10 added',
    ],
    [
      'what documents a version',
      'guide: https://docs.example.com/v2',
      'guide: https://docs.example.com/v2\n    service_doc: https://docs.example.com/orders\n    service_desc: https://docs.example.com/openapi',
      'orders v1: service_doc https://docs.example.com/orders added',
      'orders v1: service_desc https://docs.example.com/openapi added',
    ],
    [
      'an earlier date',
      'deprecated: 2026-01-15',
      'deprecated: 2025-12-10',
      'orders v1: deprecated 2026-01-15 -> 2025-12-10, -1 month 5 days',
    ],
    [
      'an hour',
      'sunset: 2027-01-15',
      'sunset: 2027-01-15T02:00:00Z',
      'orders v1: sunset 2027-01-15 -> 2027-01-15T02:00:00Z, +2 hours',
    ],
    [
      'a date that was not',
      'sunset: 2027-01-15',
      'sunset: 2027-01-15\n    retired: 2027-07-15\n    forgotten: 2028-01-15',
      'orders v1: retired 2027-07-15 added',
      'orders v1: forgotten 2028-01-15 added',
    ],
    ['a successor', '    successor: v2\n', '', 'orders v1: successor v2 removed'],
    [
      'a guide',
      'com/v2',
      'com/v1-to-v2',
      'orders v1: guide https://docs.example.com/v2 -> https://docs.example.com/v1-to-v2',
    ],
    [
      'a reason in words',
      '    successor: v2\n',
      '    successor: v2\n    reason: amounts become integers\n',
      'orders v1: reason "amounts become integers" added',
    ],
    [
      'what follows the sunset',
      '    successor: v2\n',
      '    after: { redirect: v2, unsafe: 410 }\n',
      'orders v1: after 410 -> redirect to v2, 410 for writes',
    ],
    ['a lower limit', '120/1m', '1/1s', 'orders v1: limit while deprecated 120/1m -> 1/1s, lowered'],
    [
      'a higher limit',
      'rate: 600/1m',
      'rate: 1200/1m, burst: 60',
      'orders: limit 600/1m -> 1200/1m, raised',
      'orders: limit burst 60 added',
    ],
    ['a share', '120/1m', '50%', 'orders v1: limit while deprecated 120/1m -> 50%'],
    [
      'a window moved',
      '2026-12-08T14',
      '2026-12-15T14',
      'orders v1: brownout window 2026-12-08T14:00Z for 15 minutes -> 2026-12-15T14:00Z for 15 minutes, +7 days',
    ],
    [
      'windows for a window',
      '{ from: 2026-12-08T14:00:00Z, for: 15m,',
      '{ cron: "0 14 * * 2", zone: UTC, for: 15m, from: 2026-12-08,',
      'orders v1: 5 brownout windows 2026-12-15T14:00Z to 2027-01-12T14:00Z each 15 minutes added',
    ],
    [
      'another answer in a window',
      'for: 15m,',
      'for: 15m, status: 503, percentage: 25%,',
      'orders v1: brownout window 2026-12-08T14:00Z for 15 minutes (410, announced 2026-11-01) -> (503 for 25%, announced 2026-11-01)',
    ],
    [
      'windows that follow the sunset',
      '{ from: 2026-12-08T14:00:00Z, for: 15m,',
      '{ before_sunset: 7d, for: 30m,',
      'orders v1: brownout window 2026-12-08T14:00Z for 15 minutes removed',
      'orders v1: brownout window 2027-01-08 for 30 minutes added',
    ],
    [
      'an exception',
      'until: 2026-12-30',
      'until: 2026-12-31',
      'orders v1: exception of "acme" from limits until 2026-12-30 -> of "acme" from limits until 2026-12-31',
    ],
    [
      'a second limit',
      'limits: { rate: 600/1m }',
      'limits: [ { rate: 600/1m }, { name: all, rate: 9000/1m, by: everyone, deprecated: 50%, shadow: true } ]',
      'orders: limit all 9000/1m added',
      'orders: limit all while deprecated 50% added',
      'orders: limit all by everyone added',
      'orders: limit all on_store_failure local added',
      'orders: limit all exact false added',
      'orders: limit all shadow true added',
    ],
    [
      'how an API counts',
      'limits: { rate: 600/1m }',
      'limits: { rate: 600/1m, algorithm: sliding-log }',
      'orders: limits exact false -> true',
      'orders: limits algorithm sliding-log added',
    ],
    [
      'how a version counts',
      'limits: { deprecated: 120/1m }',
      'limits: { deprecated: 120/1m, algorithm: sliding-log }',
      'orders v1: limits algorithm sliding-log added',
    ],
    [
      'what an operation costs',
      'GET /search: { ',
      'GET /search: { cost: 5, ',
      'orders v2 GET /search: cost 5 added',
    ],
    ['the mode', 'base:', 'mode: observe\nbase:', 'orders: mode enforce -> observe'],
    [
      'who may call',
      '{ identity: main, scopes: { read: [orders:read] } }',
      'public',
      'orders: access by main -> public',
      'orders: scope to read orders:read removed',
      'orders: limits by consumer -> address',
    ],
    ['a scope', '[orders:read]', '[orders:read, pii]', 'orders: scope to read pii added'],
    [
      'who may use a version',
      'brownouts:',
      'access: { identity: keys, anonymous: true, scopes: { read: any } }\n    brownouts:',
      'orders v1: access by keys added',
      'orders v1: anonymous true added',
      'orders v1: scope to read any added',
    ],
    [
      'a carrier',
      '  - header: API-Version\n',
      '  - query: version\n  - header: API-Version\n',
      'orders: carrier query version added',
    ],
    [
      'one carrier for another',
      'header: API-Version',
      'media_type: "application/vnd.acme+json; version={n}"',
      'orders: carrier header API-Version -> media type application/vnd.acme+json;version={version}',
    ],
    ['the default', 'default: v2', 'default: v1', 'orders: default v2 -> v1'],
    [
      'a date rule',
      '- header: API-Version',
      '- { header: API-Version, match: floor }',
      'orders: match floor added',
    ],
    [
      'a page',
      '[https://app.example.com]',
      '[https://app.example.com, https://b.example.com]',
      'orders: CORS origin https://b.example.com added',
    ],
    [
      'a target',
      ':4001',
      ':5001',
      'orders upstream v1: target http://127.0.0.1:4001 -> http://127.0.0.1:5001',
    ],
    [
      'a time-out',
      'timeout: 3s',
      'timeout: { headers: 3s, total: 2m }',
      'orders upstream v2: timeout total 1 minute -> 2 minutes',
    ],
    [
      'how an upstream learns the version',
      'timeout: 3s',
      'timeout: 3s, version_as: none',
      'orders upstream v2: version_as {"header":"API-Version"} -> none',
    ],
    [
      'a rule switched',
      'base:',
      'rules: { notice-period: "off" }\nbase:',
      'orders: rule notice-period warning -> off',
    ],
    [
      'any other key',
      'base:',
      'echo: true\ndeprecation_header: http-date\nupstream_wins: true\nbase:',
      'orders: echo false -> true',
      'orders: upstream_wins false -> true',
      'orders: deprecation_header http-date added',
    ],
    [
      'an operation',
      'sunset: 2027-06-15',
      'sunset: 2027-07-15',
      'orders v2 GET /search: sunset 2027-06-15 -> 2027-07-15, +1 month',
    ],
    [
      'where an operation leads',
      'successor: GET /,',
      'successor: v1 GET /find,',
      'orders v2 GET /search: successor GET / -> v1 GET /find',
    ],
    [
      'an operation that goes',
      / {4}operations:\n.*\n/.exec(WIDE)?.[0] ?? '',
      '',
      'orders v2 GET /search: operation (deprecated 2026-06-01, sunset 2027-06-15) removed',
    ],
    [
      'a version that comes',
      'versions:\n',
      'versions:\n  v3: { released: 2027-03-01 }\n',
      'orders v3: version (released 2027-03-01) added',
    ],
    [
      'a version that goes, with its upstream',
      WIDE.slice(WIDE.indexOf('  v2:\n    released')),
      '',
      'orders v2: version (released 2026-01-15) removed',
      'orders v2 GET /search: operation (deprecated 2026-06-01, sunset 2027-06-15) removed',
    ],
  ])('%s', async (_name, from, to, ...lines) => {
    expect(await changed(replacing(from, to))).toEqual(lines);
  });

  it('an API that comes or goes, in a folder', async () => {
    const more = ORDERS.replace('api: orders', 'api: more').replaceAll('/orders', '/more');
    await using files = await workspace({ 'old/a.yaml': ORDERS, 'old/b.yaml': more, 'new/c.yaml': ORDERS });
    expect((await diff(files, { older: 'old', newer: 'new' })).text).toMatch(
      /^more: API \(v1, v2\) removed\n/,
    );
    expect((await diff(files, { older: 'new', newer: 'old' })).text).toBe('more: API (v1, v2) added\n');
  });

  it('for machines', async () => {
    await using files = await workspace({
      'old.yaml': ORDERS,
      'new.yaml': ORDERS.replace('sunset: 2027-01-15', 'sunset: 2027-04-15'),
    });
    expect(JSON.parse((await diff(files, { format: 'json' })).text)).toEqual({
      changes: [
        {
          api: 'orders',
          subject: 'v1',
          what: 'sunset',
          from: '2027-01-15',
          to: '2027-04-15',
          by: '+3 months',
        },
      ],
      problems: [
        expect.objectContaining({
          file: 'new.yaml',
          line: 9,
          rule: 'dates-rewritten',
          severity: 'warning',
          hint: 'keep 2027-01-15 and write the new date under extended',
        }),
      ],
    });
  });
});

describe('what is no change', () => {
  const same = async (older: string, newer: string): Promise<void> => {
    await using files = await workspace({ 'old.yaml': older, 'new.yaml': newer });
    expect(await diff(files, { exitCode: true })).toEqual({ exitCode: 0, text: 'no changes\n' });
  };

  it('comments, order of keys and carriers, quotes, another notation of the same', async () => {
    await same(
      ORDERS,
      `# a comment
versions:
  v2: { released: "2026-01-15T01:00:00+01:00" }
  v1: { guide: https://docs.example.com/v2, successor: v2, released: 2024-06-01, sunset: 2027-01-15, deprecated: 2026-01-15 }
resolve:
  - default: v2
  - header: API-Version
  - path: "/api/{version}/orders"
upstreams:
  v2: { targets: [http://127.0.0.1:4002] }
  v1: { targets: [http://127.0.0.1:4001] }
access: { identity: main, scopes: { read: [orders:read] } }
base: /api/orders
api: orders
`,
    );
  });

  it('a default written out', async () => {
    await same(
      WIDE,
      WIDE.replace(
        'base:',
        'audience: public\nmode: enforce\necho: false\nwarning: true\nupstream_wins: false\nrules: { notice-period: warning }\nbase:',
      )
        .replace(
          'rate: 600/1m',
          'rate: 600/1m, burst: 600, by: consumer, on_store_failure: local, exact: false',
        )
        .replace(
          '    successor: v2\n',
          '    successor: v2\n    announced: 2026-01-15\n    after: gone\n    retired: 2027-01-15\n',
        )
        .replace(
          'timeout: 3s',
          'timeout: { headers: 3s, connect: 1s }, path: /api/orders, authorization: keep, version_as: { header: API-Version }',
        ),
    );
  });

  it('the defaults of a pin', async () => {
    const dated = (pin: string) =>
      ORDERS.replace('{ default: v2 }', `{ pin: ${pin} }`)
        .replaceAll(/\bv1:/g, '2024-06-01:')
        .replaceAll(/\bv2([: ])/g, '2026-01-15$1')
        .replaceAll(', guide: https://docs.example.com/2026-01-15 ', ', guide: https://docs.example.com/v2 ');
    await same(
      dated('{ created: account_created }'),
      dated('{ created: account_created, by: consumer, match: floor }'),
    );
    await using files = await workspace({ 'old.yaml': dated('{}'), 'new.yaml': dated('{ match: exact }') });
    expect((await diff(files)).text).toContain(
      'orders: carrier pin {"by":"consumer","match":"floor"} -> pin {"by":"consumer","match":"exact"}\n',
    );
  });

  it('the same windows by another rule', async () => {
    await same(
      WIDE,
      WIDE.replace(
        'from: 2026-12-08T14:00:00Z, for: 15m',
        'from: 2026-12-08T14:00:00Z, until: 2026-12-08T14:15:00Z',
      ),
    );
  });

  it('each sample policy written anew', async () => {
    const folder = join(import.meta.dirname, '../../policies');
    for (const name of (await readdir(folder)).filter((each) => each.endsWith('.yaml'))) {
      // Descriptions and guides stand beside their policy, and these do not.
      const written = await readFile(join(folder, name), 'utf8');
      const text = written.replace(/^ *(?:openapi: |guide: \.\/).*\n/gm, '');
      await same(text, stringify(parse(text, { version: '1.2' }), { indent: 4, defaultKeyType: 'PLAIN' }));
    }
  });
});

describe('how it ends', () => {
  it('0 with changes, 1 where the exit code was asked for', async () => {
    await using files = await workspace({
      'old.yaml': ORDERS,
      'new.yaml': ORDERS.replace('base:', 'echo: true\nbase:'),
    });
    expect(await diff(files)).toEqual({ exitCode: 0, text: 'orders: echo false -> true\n' });
    expect((await diff(files, { exitCode: true })).exitCode).toBe(1);
  });

  it('1 for an error of the newer side, said once and with its place', async () => {
    await using files = await workspace({
      'old.yaml': ORDERS,
      'new.yaml': ORDERS.replace('sunset: 2027-01-15', 'sunset: 2026-12-15'),
    });
    const { exitCode, text } = await diff(files);
    expect(exitCode).toBe(1);
    expect(text).toContain('orders v1: sunset 2027-01-15 -> 2026-12-15, -1 month\n');
    expect(text).toContain(
      'new.yaml:9:63: error: the sunset of v1 was published as 2027-01-15 and is now earlier [sunset-rewritten]',
    );
    expect(text).toMatch(/1 change, 1 error, 1 warning\n$/);
  });

  it('what had not been released by the day may still be rewritten', async () => {
    await using files = await workspace({
      'old.yaml': ORDERS,
      'new.yaml': ORDERS.replace('sunset: 2027-01-15', 'sunset: 2026-12-15'),
    });
    const { text } = await diff(files, { now: Date.UTC(2024, 0, 1) });
    expect(text).not.toContain('rewritten');
  });

  it('a warning that was there before is not said again', async () => {
    const short = ORDERS.replace('sunset: 2027-01-15', 'sunset: 2026-12-15');
    await using files = await workspace({ 'old.yaml': short, 'new.yaml': `# more\n${short}` });
    expect((await diff(files)).text).toBe('no changes\n');
  });

  it.each([
    ['nowhere.yaml', 'new.yaml', 2, 'nowhere.yaml:1:1: error: cannot read: no such file'],
    ['old.yaml', 'empty', 2, 'empty:1:1: error: cannot read: no policy file in this folder'],
    ['folder', 'new.yaml', 2, 'new.yaml:1:1: error: cannot read: the other side is a folder'],
    ['folder', 'nowhere', 2, 'nowhere:1:1: error: cannot read: no such file'],
    ['old.yaml', 'broken.yaml', 1, 'broken.yaml:2:1: error: '],
    ['shapeless.yaml', 'new.yaml', 1, 'shapeless.yaml:4:1: error: unknown key "acess"'],
  ])('%s against %s: %i', async (older, newer, code, said) => {
    await using files = await workspace({
      'old.yaml': ORDERS,
      'new.yaml': ORDERS,
      'folder/a.yaml': ORDERS,
      'empty/readme.txt': '',
      'broken.yaml': 'api: [\n',
      'shapeless.yaml': ORDERS.replace('access', 'acess'),
    });
    const { exitCode, text } = await diff(files, { older, newer });
    expect(exitCode).toBe(code);
    expect(text).toContain(said);
    expect(text).not.toContain('no changes');
  });

  it('what came from the environment is not shown', async () => {
    const withTarget = (target: string) => ORDERS.replace('http://127.0.0.1:4001', `"${target}"`);
    await using files = await workspace({
      'old.yaml': withTarget(`\${env:OLD}`),
      'new.yaml': withTarget(`\${env:NEW}`),
    });
    const environment = { OLD: 'http://secret-one:1', NEW: 'http://secret-two:2' };
    const { text } = await diff(files, { environment });
    expect(text).toBe('orders upstream v1: target [redacted] (from OLD) -> [redacted] (from NEW)\n');
    const json = await diff(files, { environment, format: 'json' });
    expect(json.text).not.toContain('secret');
  });

  it('compares with the policies of the gateway file where no newer side is named', async () => {
    const later = ORDERS.replace('sunset: 2027-01-15', 'sunset: 2027-02-15');
    await using files = await workspace({ 'old/orders.yaml': ORDERS, 'policies/orders.yaml': later });
    const { exitCode, text } = await diff(files, { older: 'old', newer: undefined });
    expect(exitCode).toBe(0);
    expect(text).toMatch(/^orders v1: sunset 2027-01-15 -> 2027-02-15, \+1 month\n/);
    expect(await diff(files, { older: 'old/orders.yaml', newer: undefined })).toMatchObject({ exitCode: 2 });
    const gone = await diff(files, { older: 'old', newer: undefined, configFile: 'config/no.yaml' });
    expect(gone).toMatchObject({ exitCode: 2, text: expect.stringContaining('cannot read') });
  });
});
