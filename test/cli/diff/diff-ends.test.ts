// `sundial diff`: exit codes, and output for files with errors and with secrets.
import { describe, expect, it } from 'vitest';
import { ORDERS, workspace } from '../../plan/workspace.ts';
import { diff } from '../../support/file-commands.ts';

describe('diff', () => {
  it('exits with 0 for changes, or with 1 under --exit-code', async () => {
    await using files = await workspace({
      'old.yaml': ORDERS,
      'new.yaml': ORDERS.replace('base:', 'echo: true\nbase:'),
    });
    expect(await diff(files)).toEqual({ exitCode: 0, text: 'orders: echo false -> true\n' });
    expect((await diff(files, { exitCode: true })).exitCode).toBe(1);
  });

  it('exits with 1 for an error in the newer file, and reports it once', async () => {
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

  it('does not report rewritten dates of a version that is not released yet', async () => {
    await using files = await workspace({
      'old.yaml': ORDERS,
      'new.yaml': ORDERS.replace('sunset: 2027-01-15', 'sunset: 2026-12-15'),
    });
    const { text } = await diff(files, { now: Date.UTC(2024, 0, 1) });
    expect(text).not.toContain('rewritten');
  });

  it('does not repeat a warning of the older file', async () => {
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
  ])('compares %s with %s and exits with %i', async (older, newer, code, said) => {
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

  it('shows no values of environment variables', async () => {
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

  it('compares with the policies of the gateway file if only one side is named', async () => {
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
