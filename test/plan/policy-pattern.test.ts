// Tests `policies:` of the gateway file: every unusable pattern is a finding, never an exception.
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkContextOfView } from '../../gateway/plan/check/views.ts';
import { createPolicyReader } from '../../gateway/plan/loader-thread/policy-reader.ts';
import { GATEWAY, NOW, ORDERS, type Workspace, workspace } from './workspace.ts';

const withPattern = (pattern: string) =>
  GATEWAY.replace('policies: ../policies/*.yaml', `policies: ${JSON.stringify(pattern)}`);

async function prepared(): Promise<Workspace> {
  const files = await workspace({ 'policies/orders.yaml': ORDERS });
  await symlink('round', join(files.folder, 'round'));
  await mkdir(join(files.folder, 'empty'));
  return files;
}

describe('an unreadable pattern is a finding with the reason', () => {
  it.each([
    [
      'below a file',
      '../policies/orders.yaml/*.yaml',
      'cannot find policy files: a part of its path is a file, not a folder',
    ],
    ['below a link to itself', '../round/*.yaml', 'cannot find policy files: its symbolic links form a loop'],
    [
      'below a name that is too long',
      `../${'a'.repeat(300)}/*.yaml`,
      'cannot find policy files: its name is too long',
    ],
    ['that is too long', `../${'x'.repeat(70_000)}*`, 'cannot find policy files: pattern is too long'],
    [
      'over the whole disk',
      '/**/*',
      'cannot find policy files: the pattern covers more than 50,000 files and folders',
    ],
    ['below a missing folder', '../nothing/*.yaml', 'no policy file matches this pattern'],
    ['that matches nothing', '../empty/*.yaml', 'no policy file matches this pattern'],
    ['that ends in an open bracket', '../policies/[', 'no policy file matches this pattern'],
    ['that ends in an open brace', '../policies/{a', 'no policy file matches this pattern'],
    ['that is a folder', '../policies', 'cannot read: it is a folder'],
  ])('%s', async (_what, pattern, message) => {
    await using files = await prepared();
    await files.write('config/gateway.yaml', withPattern(pattern));
    const { problems, plan } = await files.load();
    expect(plan).toBeUndefined();
    expect(problems.map((problem) => problem.message)).toEqual([message]);
    expect(problems[0]?.hint).toBeDefined();
  });
});

it('is a finding of a reload too', async () => {
  await using files = await prepared();
  const { settings } = await files.load();
  const reader = createPolicyReader({
    configFile: files.configFile,
    settingsRevision: settings?.revision ?? '',
    patterns: [join(files.folder, 'policies/orders.yaml/*.yaml')],
    checkContext: checkContextOfView(undefined, NOW),
    environment: {},
    cwd: files.folder,
  });
  expect(await reader.read(NOW)).toMatchObject({ problems: 1, revision: undefined });
  expect((await reader.problems(0, 9)).map(({ message }) => message)).toEqual([
    'cannot find policy files: a part of its path is a file, not a folder',
  ]);
});

it('any pattern of glob characters is judged without a crash', async () => {
  await using files = await prepared();
  const piece = fc.constantFrom(
    ...[
      '*',
      '**',
      '?',
      '[',
      ']',
      '[a-',
      'z-a]',
      '{',
      '}',
      ',',
      '(',
      ')',
      '+(',
      '!(',
      '@(',
      '|',
      '\\',
      '/',
      '..',
      '.',
      '~',
      '$',
      '^',
    ],
    ...['orders', '.yaml', 'policies', 'round', '[[:alpha:]]', '[[:x:]]', '{1..3}', ' ', 'é', '%', ':'],
  );
  const property = fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
    await files.write('config/gateway.yaml', withPattern(`../${pieces.join('')}`));
    const { problems, plan } = await files.load();
    expect(problems.length > 0 || plan !== undefined).toBe(true);
    expect(JSON.stringify(problems)).not.toMatch(/ at .*\.ts:|SyntaxError|TypeError/);
  });
  await fc.assert(property, { numRuns: 300 });
}, 60_000);
