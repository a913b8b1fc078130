// `sundial extend`: where the entry is written in every form a policy file may have, what is refused, what is printed.
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ExtendOptions, runExtend } from '../../gateway/cli/extend.ts';
import { spliceExtension } from '../../gateway/plan/extension-splice.ts';
import { ORDERS, type Workspace, workspace } from '../plan/workspace.ts';

const TODAY = Date.UTC(2026, 8, 1);
const BLOCK = ORDERS.replace(
  /^ {2}v1: \{ released.*\n/m,
  `  v1:
    released:   2024-06-01
    deprecated: 2026-01-15   # told everybody
    sunset:     2027-01-15   # as first published
    successor:  v2
    guide:      https://docs.example.com/v2
`,
);
const withExtended = (written: string) => BLOCK.replace('    successor:', `${written}    successor:`);

const date = (text: string) => ({ at: Date.parse(text), text });
const extend = (files: Workspace, options: Partial<ExtendOptions> = {}) =>
  runExtend({
    api: 'orders',
    version: 'v1',
    to: date('2027-04-15'),
    why: 'acme still migrates',
    announced: undefined,
    dryRun: false,
    configFile: files.configFile,
    environment: {},
    now: TODAY,
    colour: false,
    cwd: files.folder,
    ...options,
  });
const read = (files: Workspace) => readFile(join(files.folder, 'policies/orders.yaml'), 'utf8');

const ENTRY = '{ to: 2027-04-15, announced: 2026-09-01, why: acme still migrates }';
const NEXT = '{ to: 2027-08-15, announced: 2026-09-01, why: acme still migrates }';

describe('an entry that others would share', () => {
  it.each([
    ['the version', 'versions:\n  v1: &a\n    sunset: 2027-01-15\n  v2: *a\n', 'versions.v1'],
    [
      'the list',
      'versions:\n  v1:\n    sunset: 2027-01-15\n    extended: &e\n      - { to: 2027-02-15 }\n  v2: { sunset: 2027-01-15, extended: *e }\n',
      'versions.v1.extended',
    ],
  ])('is refused: %s stands for another one too', (_what, text, where) =>
    expect(spliceExtension(text, 'v1', { to: '2027-04-15', announced: '2026-09-01', why: 'acme' })).toEqual({
      kind: 'refused',
      message: `${where} is not written out in the usual way: add the extension by hand`,
    }),
  );
});

describe('one insertion, wherever the entry belongs', () => {
  it.each<readonly [string, string, string, string]>([
    [
      'a new line below the sunset, in the columns of the others',
      BLOCK,
      '# as first published\n',
      `    extended:   [ ${ENTRY} ]\n`,
    ],
    [
      'without a column to keep to',
      BLOCK.replace('sunset:     ', 'sunset: '),
      '# as first published\n',
      `    extended: [ ${ENTRY} ]\n`,
    ],
    ['inside a version on one line', ORDERS, 'sunset: 2027-01-15', `, extended: [ ${ENTRY} ]`],
    [
      'inside a version in braces over several lines',
      ORDERS.replace('sunset: 2027-01-15,', 'sunset: 2027-01-15, # soon\n    '),
      'sunset: 2027-01-15',
      `, extended: [ ${ENTRY} ]`,
    ],
    [
      'with Windows line ends',
      BLOCK.replaceAll('\n', '\r\n'),
      '# as first published\r\n',
      `    extended:   [ ${ENTRY} ]\r\n`,
    ],
    [
      'behind a byte order mark, beside tabs in a comment',
      `\ufeff${BLOCK.replace('# as first published', '#\tas\tfirst')}`,
      '#\tas\tfirst\n',
      `    extended:   [ ${ENTRY} ]\n`,
    ],
    [
      'at the end of a file without a line end',
      `${BLOCK.replace(/\n.*successor.*\n.*guide.*$/m, '')
        .replace(/(versions:\n)([\s\S]*?)( {2}v2: .*\n)/, '$1$3$2')
        .trimEnd()}`,
      '# as first published',
      `\n    extended:   [ ${ENTRY} ]`,
    ],
    [
      'behind the last of a list in brackets',
      withExtended('    extended:   [ { to: 2027-04-15, announced: 2026-08-10 } ] # more than once\n'),
      'announced: 2026-08-10 }',
      `, ${NEXT}`,
    ],
    [
      'in brackets over several lines',
      withExtended('    extended: [\n      { to: 2027-04-15, announced: 2026-08-10 },\n    ]\n'),
      'announced: 2026-08-10 }',
      `,\n      ${NEXT}`,
    ],
    [
      'in brackets with a comment behind the last',
      withExtended('    extended: [\n      { to: 2027-04-15, announced: 2026-08-10 } # acme\n    ]\n'),
      'announced: 2026-08-10 }',
      `, ${NEXT}`,
    ],
    [
      'in a list of dashes',
      withExtended(
        '    extended:\n      - { to: 2027-04-15, announced: 2026-08-10 } # acme\n      # no more\n',
      ),
      '# acme\n',
      `      - ${NEXT}\n`,
    ],
    [
      'in a list of dashes that is not indented',
      withExtended('    extended:\n    - { to: 2027-04-15, announced: 2026-08-10 }\n'),
      'announced: 2026-08-10 }\n',
      `    - ${NEXT}\n`,
    ],
    [
      'as lines of their own where the entry before has them',
      withExtended('    extended:\n      - to:        2027-04-15\n        announced: 2026-08-10 # by mail\n'),
      '# by mail\n',
      '      - to:        2027-08-15\n        announced: 2026-09-01\n        why:       acme still migrates\n',
    ],
    [
      'behind a text over several lines',
      withExtended(
        '    extended:\n      - to: 2027-04-15\n        announced: 2026-08-10\n        why: >-\n          acme\n          again\n',
      ),
      '          again\n',
      '      - to: 2027-08-15\n        announced: 2026-09-01\n        why: acme still migrates\n',
    ],
  ])('%s', async (_name, before, after, inserted) => {
    await using files = await workspace({ 'policies/orders.yaml': before });
    const to = before.includes('extended') ? '2027-08-15' : '2027-04-15';
    const result = await extend(files, { to: date(to) });
    expect(result).toMatchObject({ exitCode: 0 });
    const at = before.indexOf(after) + after.length;
    expect(await read(files)).toBe(before.slice(0, at) + inserted + before.slice(at));
    const { plan } = await files.load();
    expect(plan?.apis[0]?.versions.get('v1')?.schedule.sunset).toBe(Date.parse(to));
    // Nothing is left beside it.
    expect(await readdir(join(files.folder, 'policies'))).toEqual(['orders.yaml']);
  });

  it('no byte but the insertion changes, whatever the comments, line ends and spacing', async () => {
    const forms = [
      '',
      '    extended: [ { to: 2027-04-15, announced: 2026-08-10 } ]\n',
      '    extended:\n      - { to: 2027-04-15, announced: 2026-08-10 }\n',
      '    extended:\n      - to: 2027-04-15\n        announced: 2026-08-10\n',
    ];
    const comment = fc.stringMatching(/^[a-zA-Zäöü#\t{}[\]:,'"$ -]{0,20}$/).map((text) => `  # ${text}`);
    await using files = await workspace({ 'policies/orders.yaml': BLOCK });
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.constantFrom(...forms.map(withExtended)), fc.constant(ORDERS)),
        fc.array(fc.option(comment, { nil: '' }), { minLength: 24, maxLength: 24 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.stringMatching(/^[\x20-\x7eäöü]{1,60}$/).filter((why) => !why.includes('${')),
        async (form, comments, eol, ends, why) => {
          const lines = form.trimEnd().split('\n');
          const text =
            lines.map((line, index) => line + (comments[index] ?? '')).join(eol) + (ends ? eol : '');
          await files.write('policies/orders.yaml', text);
          const to = form.includes('extended') ? '2027-08-15' : '2027-04-15';
          const result = await extend(files, { to: date(to), why });
          expect(result).toMatchObject({ exitCode: 0 });
          const after = await read(files);
          const spliced = spliceExtension(text, 'v1', { to, announced: '2026-09-01', why });
          if (spliced.kind === 'refused') throw new Error(spliced.message);
          expect(after).toBe(spliced.text);
          const { at, inserted } = spliced;
          expect(after.slice(0, at) + after.slice(at + inserted.length)).toBe(text);
          const { plan, sources } = await files.load();
          expect(plan?.apis[0]?.versions.get('v1')?.schedule.sunset).toBe(Date.parse(to));
          const versions = sources?.policies[0]?.file.versions;
          const version = typeof versions === 'object' ? versions.v1 : undefined;
          expect(version?.extended?.at(-1)?.why).toBe(why);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('what it prints', () => {
  it('the line as a diff, and what follows from it', async () => {
    await using files = await workspace({ 'policies/orders.yaml': BLOCK });
    expect(await extend(files)).toEqual({
      exitCode: 0,
      text: `--- policies/orders.yaml
+++ policies/orders.yaml
@@ -10,6 +10,7 @@
     released:   2024-06-01
     deprecated: 2026-01-15   # told everybody
     sunset:     2027-01-15   # as first published
+    extended:   [ ${ENTRY} ]
     successor:  v2
     guide:      https://docs.example.com/v2
   v2: { released: 2026-01-15 }

orders v1: sunset 2027-01-15 -> 2027-04-15, +3 months
orders v1: extension to 2027-04-15, announced 2026-09-01 added
policies/orders.yaml is written.
`,
    });
  });

  it('the same for a dry run, which writes nothing', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { exitCode, text } = await extend(files, { dryRun: true });
    expect(exitCode).toBe(0);
    expect(text).toContain(
      `+  v1: { released: 2024-06-01, deprecated: 2026-01-15, sunset: 2027-01-15, extended: [ ${ENTRY} ]`,
    );
    expect(text).toMatch(/\nNothing is written: this is a dry run\.\n$/);
    expect(await read(files)).toBe(ORDERS);
  });

  it('expectations of the file that no longer hold', async () => {
    const expecting = `${ORDERS}expect: [ { request: GET /api/v1/orders, at: 2027-01-15, status: 410 } ]\n`;
    await using files = await workspace({ 'policies/orders.yaml': expecting });
    const { exitCode, text } = await extend(files);
    expect(exitCode).toBe(0);
    expect(text).toMatch(/policies\/orders\.yaml:11:\d+: error: /);
  });
});

describe('the rules judge before anything is written (RET-11)', () => {
  const untouched = async (files: Workspace, text: string) => expect(await read(files)).toBe(text);

  it.each<readonly [string, Partial<ExtendOptions>, string]>([
    ['an earlier sunset', { to: date('2027-01-10') }, '[sunset-only-later]'],
    ['the same sunset', { to: date('2027-01-15') }, '[sunset-only-later]'],
    [
      'an announcement after the sunset',
      { announced: date('2027-02-01') },
      'a version that is gone stays gone',
    ],
    ['a sunset that has passed', { now: Date.UTC(2027, 0, 15) }, 'a version that is gone stays gone'],
  ])('%s is refused with 1', async (_name, options, said) => {
    await using files = await workspace({ 'policies/orders.yaml': BLOCK });
    const { exitCode, text } = await extend(files, options);
    expect(exitCode).toBe(1);
    expect(text).toContain(said);
    expect(text).toMatch(/policies\/orders\.yaml:\d+:\d+: error: [\s\S]*Nothing is written\.\n$/);
    await untouched(files, BLOCK);
  });

  it.each<readonly [string, Partial<ExtendOptions>, string]>([
    ['shorter than 3 months', { to: date('2027-04-14') }, 'extension-length'],
    ['longer than 6 months', { to: date('2027-07-16') }, 'extension-length'],
    ['announced too late', { announced: date('2026-10-16') }, 'extension-announcement'],
  ])('%s: a warning is printed, and an error where the file says so', async (_name, options, rule) => {
    await using files = await workspace({ 'policies/orders.yaml': BLOCK });
    const lenient = await extend(files, { ...options, dryRun: true });
    expect(lenient.exitCode).toBe(0);
    expect(lenient.text).toMatch(new RegExp(`warning: .* \\[${rule}\\]`));
    const strict = `rules: { ${rule}: error }\n${BLOCK}`;
    await files.write('policies/orders.yaml', strict);
    const { exitCode, text } = await extend(files, options);
    expect(exitCode).toBe(1);
    expect(text).toMatch(new RegExp(`error: .* \\[${rule}\\]`));
    expect(text).toMatch(
      new RegExp(
        `\nNothing is written: policies/orders\\.yaml makes ${rule} an error\\. Choose --to and --announced that keep it, or set it to warning under "rules:"\\.\n$`,
      ),
    );
    await untouched(files, strict);
  });

  it.each([3, 6])('%i months, announced 3 months before, need no word', async (months) => {
    await using files = await workspace({ 'policies/orders.yaml': BLOCK });
    const to = months === 3 ? '2027-04-15' : '2027-07-15';
    const { text } = await extend(files, { to: date(to), announced: date('2026-10-15') });
    expect(text).not.toContain('warning');
  });

  it.each<readonly [string, string, Partial<ExtendOptions>, number, string]>([
    [
      'no such API',
      ORDERS,
      { api: 'order' },
      2,
      'sundial: no API is called "order": did you mean "orders"?\n',
    ],
    [
      'no such version',
      ORDERS,
      { version: 'v9' },
      2,
      'sundial: no version is called "v9": there are v1, v2\n',
    ],
    ['an inherited name', ORDERS, { version: 'constructor' }, 2, 'no version is called'],
    ['no gateway file', ORDERS, { configFile: 'nowhere.yaml' }, 2, 'cannot read'],
    ['no sunset', ORDERS, { version: 'v2' }, 1, 'policies/orders.yaml:10:7: error: v2 has no sunset'],
    ['a line end in the reason', ORDERS, { why: 'one\ntwo' }, 2, '--why is one line of 1 to 300 characters'],
    ['no reason', ORDERS, { why: '' }, 2, '--why is one line of 1 to 300 characters'],
    ['an interpolation in the reason', ORDERS, { why: `\${env:HOME}` }, 2, 'the reason cannot contain'],
    ['a file with errors', ORDERS.replace('default: v2', 'default: v3'), {}, 1, 'no version is called "v3"'],
    [
      'a version by reference',
      ORDERS.replace('  v1: { released', '  v1: &old { released')
        .replace('versions:\n', 'versions:\n  v0: *old\n')
        .replace(/(versions:\n)( {2}v0: .*\n)( {2}v1: .*\n)/, '$1$3$2')
        .replace('upstreams:\n', 'upstreams:\n  v0: { targets: [http://127.0.0.1:4000] }\n'),
      { version: 'v0' },
      1,
      'versions.v0 is not written out in the usual way: add the extension by hand',
    ],
  ])('%s', async (_name, text, options, code, said) => {
    await using files = await workspace({ 'policies/orders.yaml': text });
    const result = await extend(files, options);
    expect(result.text).toContain(said);
    expect(result.exitCode).toBe(code);
    await untouched(files, text);
  });
});

describe('the file', () => {
  it('keeps its mode, and a symbolic link stays one', async () => {
    await using files = await workspace({ 'elsewhere/real.yaml': ORDERS });
    await mkdir(join(files.folder, 'policies'));
    const link = join(files.folder, 'policies/orders.yaml');
    const real = join(files.folder, 'elsewhere/real.yaml');
    await chmod(real, 0o640);
    await symlink('../elsewhere/real.yaml', link);
    expect((await extend(files)).exitCode).toBe(0);
    expect((await lstat(link)).isSymbolicLink()).toBe(true);
    expect((await stat(real)).mode & 0o777).toBe(0o640);
    expect(await readFile(real, 'utf8')).toContain(ENTRY);
    expect(await readdir(join(files.folder, 'elsewhere'))).toEqual(['real.yaml']);
  });
});
