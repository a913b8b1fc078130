// `sundial extend`: where the entry is written, for every form of a policy file.
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spliceExtension } from '../../../gateway/cli/extend/extension-splice.ts';
import { ORDERS, workspace } from '../../plan/workspace.ts';
import { fuzz } from '../../support/fuzz.ts';
import { BLOCK, date, ENTRY, extend, NEXT, read, withExtended } from './extended-orders.ts';

describe('an entry below a YAML anchor', () => {
  it.each([
    ['the version', 'versions:\n  v1: &a\n    sunset: 2027-01-15\n  v2: *a\n', 'versions.v1'],
    [
      'the list',
      'versions:\n  v1:\n    sunset: 2027-01-15\n    extended: &e\n      - { to: 2027-02-15 }\n  v2: { sunset: 2027-01-15, extended: *e }\n',
      'versions.v1.extended',
    ],
  ])('is refused if %s has an alias', (_what, text, where) =>
    expect(spliceExtension(text, 'v1', { to: '2027-04-15', announced: '2026-09-01', why: 'acme' })).toEqual({
      kind: 'refused',
      message: `${where} is not written out in the usual way: add the extension by hand`,
    }),
  );
});

describe('the entry is inserted', () => {
  it.each<readonly [string, string, string, string]>([
    [
      'as a new line below the sunset, aligned with the other values',
      BLOCK,
      '# as first published\n',
      `    extended:   [ ${ENTRY} ]\n`,
    ],
    [
      'as a new line without alignment',
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
      'into a file with a byte order mark and tabs in a comment',
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
      'after the last entry of a list in brackets',
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
      'in brackets with a comment after the last entry',
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
      'as several lines if the entry before has several',
      withExtended('    extended:\n      - to:        2027-04-15\n        announced: 2026-08-10 # by mail\n'),
      '# by mail\n',
      '      - to:        2027-08-15\n        announced: 2026-09-01\n        why:       acme still migrates\n',
    ],
    [
      'after a text of several lines',
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
    // No temporary file remains.
    expect(await readdir(join(files.folder, 'policies'))).toEqual(['orders.yaml']);
  });

  it('without changing any other byte, for any comments and line ends', async () => {
    const forms = [
      '',
      '    extended: [ { to: 2027-04-15, announced: 2026-08-10 } ]\n',
      '    extended:\n      - { to: 2027-04-15, announced: 2026-08-10 }\n',
      '    extended:\n      - to: 2027-04-15\n        announced: 2026-08-10\n',
    ];
    const comment = fc.stringMatching(/^[a-zA-Zäöü#\t{}[\]:,'"$ -]{0,20}$/).map((text) => `  # ${text}`);
    await using files = await workspace({ 'policies/orders.yaml': BLOCK });
    await fuzz(
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
      20,
    );
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
