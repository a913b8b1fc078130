// `sundial extend`: output, and the checks of an extension before it is written.
import { describe, expect, it } from 'vitest';
import type { ExtendOptions } from '../../../gateway/cli/extend/extend.ts';
import { ORDERS, type Workspace, workspace } from '../../plan/workspace.ts';
import { BLOCK, date, ENTRY, extend, read } from './extended-orders.ts';

const REASON = '--why must be a single line of 1 to 300 printable characters';

describe('the output of extend', () => {
  it('has the new line as a diff, and the changes that follow', async () => {
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

  it('is the same for a dry run, which writes nothing', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { exitCode, text } = await extend(files, { dryRun: true });
    expect(exitCode).toBe(0);
    expect(text).toContain(
      `+  v1: { released: 2024-06-01, deprecated: 2026-01-15, sunset: 2027-01-15, extended: [ ${ENTRY} ]`,
    );
    expect(text).toMatch(/\nNothing is written: this is a dry run\.\n$/);
    expect(await read(files)).toBe(ORDERS);
  });

  it('lists expectations of the file that no longer hold', async () => {
    const expecting = `${ORDERS}expect: [ { request: GET /api/v1/orders, at: 2027-01-15, status: 410 } ]\n`;
    await using files = await workspace({ 'policies/orders.yaml': expecting });
    const { exitCode, text } = await extend(files);
    expect(exitCode).toBe(0);
    expect(text).toMatch(/policies\/orders\.yaml:11:\d+: error: /);
  });
});

describe('rules are checked before the file is written (RET-11)', () => {
  const untouched = async (files: Workspace, text: string) => expect(await read(files)).toBe(text);

  it.each<readonly [string, Partial<ExtendOptions>, string]>([
    ['an earlier sunset', { to: date('2027-01-10') }, '[sunset-only-later]'],
    ['the same sunset', { to: date('2027-01-15') }, '[sunset-only-later]'],
    [
      'an announcement after the sunset',
      { announced: date('2027-02-01') },
      'a version that has ended is not revived',
    ],
    ['a sunset that has passed', { now: Date.UTC(2027, 0, 15) }, 'a version that has ended is not revived'],
  ])('%s is refused with 1', async (_name, options, said) => {
    await using files = await workspace({ 'policies/orders.yaml': BLOCK });
    const { exitCode, text } = await extend(files, options);
    expect(exitCode).toBe(1);
    expect(text).toContain(said);
    expect(text).toMatch(/policies\/orders\.yaml:\d+:\d+: error: [\s\S]*Nothing is written\.\n$/);
    await untouched(files, BLOCK);
  });

  it('a rule that is an error by default is not called a choice of the file', async () => {
    const redirecting = BLOCK.replace('    successor:  v2\n', '    after: { redirect: v2 }\n').replace(
      'v2: { released: 2026-01-15 }',
      'v2: { released: 2026-01-15, deprecated: 2026-01-15, sunset: 2027-04-01 }',
    );
    await using files = await workspace({ 'policies/orders.yaml': redirecting });
    const { exitCode, text } = await extend(files);
    expect(exitCode).toBe(1);
    expect(text).toMatch(/error: .* \[successor-outlives\]/);
    expect(text).toMatch(/\nNothing is written\.\n$/);
    await untouched(files, redirecting);
  });

  it.each<readonly [string, Partial<ExtendOptions>, string]>([
    ['shorter than 3 months', { to: date('2027-04-14') }, 'extension-length'],
    ['longer than 6 months', { to: date('2027-07-16') }, 'extension-length'],
    ['announced too late', { announced: date('2026-10-16') }, 'extension-announcement'],
  ])('an extension %s gets a warning, or an error if the file says so', async (_name, options, rule) => {
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

  it.each([3, 6])('an extension by %i months, announced 3 months before, gets no warning', async (months) => {
    await using files = await workspace({ 'policies/orders.yaml': BLOCK });
    const to = months === 3 ? '2027-04-15' : '2027-07-15';
    const { text } = await extend(files, { to: date(to), announced: date('2026-10-15') });
    expect(text).not.toContain('warning');
  });

  it.each<readonly [string, string, Partial<ExtendOptions>, number, string]>([
    [
      'an unknown API',
      ORDERS,
      { api: 'order' },
      2,
      'sundial: no API is called "order": did you mean "orders"?\n',
    ],
    [
      'an unknown version',
      ORDERS,
      { version: 'v9' },
      2,
      'sundial: no version is called "v9": there are v1, v2\n',
    ],
    ['an inherited property name', ORDERS, { version: 'constructor' }, 2, 'no version is called'],
    ['a missing gateway file', ORDERS, { configFile: 'nowhere.yaml' }, 2, 'cannot read'],
    [
      'a version without a sunset',
      ORDERS,
      { version: 'v2' },
      1,
      'policies/orders.yaml:10:7: error: v2 has no sunset',
    ],
    ['a line end in the reason', ORDERS, { why: 'one\ntwo' }, 2, REASON],
    ['an empty reason', ORDERS, { why: '' }, 2, REASON],
    ['an interpolation in the reason', ORDERS, { why: `\${env:HOME}` }, 2, 'the reason cannot contain'],
    ['a file with errors', ORDERS.replace('default: v2', 'default: v3'), {}, 1, 'no version is called "v3"'],
    [
      'a version that is a YAML alias',
      ORDERS.replace('  v1: { released', '  v1: &old { released')
        .replace('versions:\n', 'versions:\n  v0: *old\n')
        .replace(/(versions:\n)( {2}v0: .*\n)( {2}v1: .*\n)/, '$1$3$2')
        .replace('upstreams:\n', 'upstreams:\n  v0: { targets: [http://127.0.0.1:4000] }\n'),
      { version: 'v0' },
      1,
      'versions.v0 is not written out in the usual way: add the extension by hand',
    ],
  ])('%s is refused', async (_name, text, options, code, said) => {
    await using files = await workspace({ 'policies/orders.yaml': text });
    const result = await extend(files, options);
    expect(result.text).toContain(said);
    expect(result.exitCode).toBe(code);
    await untouched(files, text);
  });
});
