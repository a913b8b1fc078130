// `sundial diff` and `sundial extend` as processes.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ORDERS, workspace } from '../plan/workspace.ts';
import { runCommand } from '../support/command.ts';

// The commands use the real day.
const LASTING = ORDERS.replace('sunset: 2027-01-15', 'sunset: 2097-01-15');

describe('commands as processes', () => {
  it('extend writes an extension; diff shows it and exits with 1 under --exit-code', async () => {
    await using files = await workspace({ 'policies/orders.yaml': LASTING, 'old.yaml': LASTING });
    const policy = join(files.folder, 'policies/orders.yaml');
    const words = ['extend', 'orders', 'v1', '--to', '2097-05-15', '--why', 'acme', '-c', files.configFile];
    const extended = await runCommand([...words, '--announced', '2026-10-01']);
    expect(extended).toMatchObject({ exitCode: 0, stderr: '' });
    expect(extended.stdout).toContain('orders v1: sunset 2097-01-15 -> 2097-05-15, +4 months\n');
    expect(await readFile(policy, 'utf8')).toContain(
      'sunset: 2097-01-15, extended: [ { to: 2097-05-15, announced: 2026-10-01, why: acme } ], guide',
    );
    const changed = await runCommand(['diff', join(files.folder, 'old.yaml'), policy, '--exit-code']);
    expect(changed.exitCode).toBe(1);
    expect(changed.stdout).toContain('orders v1: sunset 2097-01-15 -> 2097-05-15, +4 months\n');
  }, 30_000);

  it('a failed command prints its error on stderr only', async () => {
    await using files = await workspace({ 'policies/orders.yaml': LASTING });
    const ended = await runCommand(['timeline', '--api', 'order', '--format', 'ics', '-c', files.configFile]);
    const said = 'sundial: no API with dates is called "order": did you mean "orders"?\n';
    expect(ended).toMatchObject({ exitCode: 2, stdout: '', stderr: said });
  }, 30_000);

  it.each([
    [['diff']],
    [['extend', 'orders', 'v1', '--why', 'acme']],
    [['extend', 'orders', 'v1', '--to', '2097-02-30', '--why', 'acme']],
  ])(
    'wrong usage exits with 2: %j',
    async (words) => {
      expect((await runCommand(words)).exitCode).toBe(2);
    },
    30_000,
  );
});
