// `check --against <folder>`: what the comparison with an older folder of policies says beyond the single rules.
// The rules themselves are shown in rules.test.ts.
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../gateway/cli/check.ts';
import { NOW, ORDERS, type Workspace, workspace } from './workspace.ts';

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

  it.each([
    ['nowhere', 'no such folder'],
    ['config/empty', 'no policy file in this folder'],
  ])('ends with 2 when there is nothing to compare with: %s', async (folder, why) => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS, 'config/empty/README': '' });
    const { exitCode, text } = await against(files, folder);
    expect(exitCode).toBe(2);
    expect(text).toContain(`${folder}:1:1: error: cannot read: ${why}`);
  });
});
