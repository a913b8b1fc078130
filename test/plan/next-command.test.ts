// Tests the commands in hints: an operator can copy them.
import { describe, expect, it } from 'vitest';
import { nextCommand } from '../../gateway/plan/next-command.ts';

describe('a suggested command', () => {
  it.each([
    ['the default file', { config: 'config/gateway.yaml', environment: {} }, ''],
    ['another file', { config: 'my gateway.yaml', environment: {} }, " -c 'my gateway.yaml'"],
    ['the file of SUNDIAL_CONFIG', { config: 'a.yaml', environment: { SUNDIAL_CONFIG: 'a.yaml' } }, ''],
    [
      'the default file if SUNDIAL_CONFIG names another',
      { config: 'config/gateway.yaml', environment: { SUNDIAL_CONFIG: 'a.yaml' } },
      ' -c config/gateway.yaml',
    ],
    ['an empty SUNDIAL_CONFIG', { config: 'config/gateway.yaml', environment: { SUNDIAL_CONFIG: '' } }, ''],
    [
      'an admin listener',
      { config: 'config/gateway.yaml', admin: 'http://10.0.0.7:9901', environment: {} },
      ' --admin http://10.0.0.7:9901',
    ],
  ])('repeats the options that name the gateway: %s', (_title, meant, options) => {
    expect(nextCommand(meant)('pause', '--list')).toBe(`sundial pause --list${options}`);
  });

  it('begins with npx where npx started the program', () => {
    const next = nextCommand({ config: 'config/gateway.yaml', environment: { npm_command: 'exec' } });
    expect(next('check')).toBe('npx sundial check');
  });

  it('quotes for the shell, but not placeholders', () => {
    const next = nextCommand({ config: 'config/gateway.yaml', environment: {} });
    expect(next('pin', 'roll-back', 'payments', "o'neill & co", '--why', '"…"')).toBe(
      `sundial pin roll-back payments 'o'\\''neill & co' --why "…"`,
    );
    expect(next('pause', '--end', '<id>')).toBe('sundial pause --end <id>');
  });
});
