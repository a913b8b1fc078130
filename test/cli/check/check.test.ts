// `sundial check` and `sundial schema`: output and exit codes.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CheckOptions, runCheck } from '../../../gateway/cli/check/check.ts';
import { runSchema } from '../../../gateway/cli/schema/command.ts';
import { NOW, ORDERS, workspace } from '../../plan/workspace.ts';

const project = join(import.meta.dirname, '../../..');
const check = (cwd: string, options: Partial<CheckOptions> = {}) =>
  runCheck({
    files: [],
    configFile: join(cwd, 'config/gateway.yaml'),
    format: 'text',
    strict: false,
    environment: {},
    now: NOW,
    colour: false,
    cwd,
    ...options,
  });

describe('check', () => {
  it('prints one line and exits with 0 for valid files', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    expect(await check(files.folder)).toEqual({
      exitCode: 0,
      text: 'config/gateway.yaml and 1 policy file: no problems (1 API, 2 versions)\n',
    });
  });

  it('counts no versions for an API without versions', async () => {
    const echo =
      'api: echo\nbase: /api/echo\naccess: public\nversions: none\nupstreams: { e: { targets: [http://127.0.0.1:4004] } }\n';
    await using files = await workspace({ 'policies/echo.yaml': echo });
    expect((await check(files.folder)).text).toBe(
      'config/gateway.yaml and 1 policy file: no problems (1 API)\n',
    );
  });

  it('prints problems and exits with 1', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS.replace('access:', 'acess:') });
    const { exitCode, text } = await check(files.folder);
    expect(exitCode).toBe(1);
    expect(text).toContain(`policies/orders.yaml:4:1: error: unknown key "acess"
     4 | acess: { identity: main, scopes: { read: [orders:read] } }
       | ^^^^^ did you mean "access"?
`);
    expect(text).toMatch(/2 errors\n$/);
  });

  it.each([
    ['config/nowhere.yaml', []],
    ['config/gateway.yaml', ['policies/nowhere.yaml']],
    ['config/gateway.yaml', ['policies']],
  ])('exits with 2 if a file cannot be read: %s %j', async (configFile, names) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { exitCode, text } = await check(files.folder, { configFile, files: names });
    expect(exitCode).toBe(2);
    expect(text).toContain('cannot read');
  });

  it('checks only the named files, against the same gateway file', async () => {
    await using files = await workspace({ 'policies/orders.yaml': 'nonsense', 'draft.yaml': ORDERS });
    expect((await check(files.folder, { files: ['draft.yaml'] })).exitCode).toBe(0);
  });

  it('exits with 1 for a warning only under --strict', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace('deprecated: 2026-01-15, ', ''),
    });
    expect((await check(files.folder)).exitCode).toBe(0);
    expect((await check(files.folder, { strict: true })).exitCode).toBe(1);
  });

  it('prints problems as JSON and as GitHub annotations', async () => {
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace('default: v2', 'default: v22'),
    });
    const json = await check(files.folder, { format: 'json' });
    expect(JSON.parse(json.text)).toEqual({
      problems: [
        {
          file: 'policies/orders.yaml',
          line: 3,
          column: 83,
          severity: 'error',
          rule: 'reference',
          message: 'no version is called "v22"',
          hint: 'did you mean "v2"?',
        },
      ],
    });
    const github = await check(files.folder, { format: 'github' });
    expect(github.text).toBe(
      '::error file=policies/orders.yaml,line=3,col=83,title=reference::no version is called "v22" (did you mean "v2"?)\n',
    );
  });
});

describe('an exception that ends soon', () => {
  const LEAVE = `exceptions: [{ consumer: acme, until: 2026-12-02, from: [limits, brownouts], why: x, by: y }]`;
  const POLICY = ORDERS.replace('successor: v2 }', `successor: v2, ${LEAVE} }`);
  const NOTICE =
    'policies/orders.yaml:9:162: notice: orders v1: "acme" has an exception from limits and brownouts until 2026-12-02: it ends in 12 days\n';
  const DAY = 86_400_000;

  it('is a notice in its last thirty days, and no finding even under --strict', async () => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY });
    const said = 'config/gateway.yaml and 1 policy file: no problems (1 API, 2 versions)\n';
    const notice = NOTICE.replace(':162:', `:${(POLICY.split('\n')[8] ?? '').indexOf('2026-12-02') + 1}:`);
    expect(await check(files.folder, { strict: true })).toEqual({ exitCode: 0, text: `${notice}${said}` });
    const { problems, notices } = JSON.parse((await check(files.folder, { format: 'json' })).text);
    expect({ problems, notices }).toMatchObject({
      problems: [],
      notices: [{ api: 'orders', version: 'v1', line: 9, rule: 'exception-ends' }],
    });
    expect((await check(files.folder, { format: 'github' })).text).toMatch(
      /^::notice file=policies\/orders\.yaml,line=9,col=\d+,title=exception-ends::orders v1: "acme" has an exception .*\n$/,
    );
    for (const [now, told] of [
      [NOW - 18 * DAY, 'it ends in 30 days'],
      [NOW - 19 * DAY, undefined],
      [NOW + 12 * DAY - 1, 'it ends in 0 days'],
      [NOW + 12 * DAY, undefined],
    ] as const) {
      const { text } = await check(files.folder, { now });
      expect(/it ends in \d+ days/.exec(text)?.[0]).toBe(told);
    }
  });

  it('is reported by the name of an API without versions, until the API has ended', async () => {
    const whole = `api: orders
base: /api/orders
versions: none
access: { identity: main, scopes: any }
upstreams: { main: { targets: [http://127.0.0.1:4001] } }
deprecated: 2026-01-15
sunset: 2027-01-15
guide: https://docs.example.com/end
${LEAVE}
`;
    await using files = await workspace({ 'policies/orders.yaml': whole });
    expect((await check(files.folder)).text).toContain(
      ': notice: orders: "acme" has an exception from limits',
    );
    const ended = whole.replaceAll('2027-01-15', '2026-12-02');
    await files.write('policies/orders.yaml', ended);
    expect((await check(files.folder, { now: NOW + 12 * DAY })).text).not.toContain(': notice:');
  });
});

describe('samples and editor schemas', () => {
  it('the samples have no problems under --strict', async () => {
    const { exitCode, text } = await check(project, { strict: true });
    expect(text).toMatch(
      /^config\/gateway\.yaml and \d+ policy files: no problems \(\d+ APIs, \d+ versions\)\n$/,
    );
    expect(exitCode).toBe(0);
  });

  it('schema prints one line if its folder cannot be written', async () =>
    expect(await runSchema({ folder: join(project, 'package.json/schema') })).toEqual({
      exitCode: 2,
      text: expect.stringMatching(/^sundial: cannot write the schemas: ENOTDIR[^\n]*\n$/),
    }));

  it('schema does not retry if the system reports an existing folder as missing', async () => {
    const ends = {
      exitCode: 2,
      text: expect.stringMatching(/^sundial: cannot write the schemas: [^\n]*\n$/),
    };
    for (const folder of ['/proc/sundial', '/proc/sundial/schema', ''])
      expect(await runSchema({ folder })).toEqual(ends);
  });

  it('the editor schemas in config/schema match the grammar', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sundial-schema-'));
    const { exitCode, text } = await runSchema({ folder });
    expect(exitCode).toBe(0);
    const written = text.trim().split('\n');
    expect(written).toHaveLength(2);
    for (const path of written) {
      const kept = join(project, 'config/schema', path.slice(folder.length + 1));
      expect(await readFile(kept, 'utf8')).toBe(await readFile(path, 'utf8'));
    }
    await rm(folder, { recursive: true });
  });
});
