// Messages and exit codes for wrong usage, without a process.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runConfigShow } from '../../gateway/cli/config/config-show.ts';
import { runExplain } from '../../gateway/cli/explain/explain.ts';
import { runProgram } from '../../gateway/cli/program.ts';
import { GATEWAY, NOW, ORDERS, workspace } from '../plan/workspace.ts';
import { operate } from '../support/command.ts';

/** No call here should print a result. If one does, the exit code is 99. */
const PRINTED = {
  environment: {},
  now: () => NOW,
  print: async (result: Promise<unknown>) => {
    await result;
    return 99;
  },
  confirm: () => undefined,
  openGateway: async () => expect.fail('no gateway is asked'),
  readRecorded: async () => [],
  restoreBackup: async () => expect.fail('nothing is restored'),
  unusableFolder: async () => undefined,
  unusableTracing: async () => undefined,
  actions: { run: async () => 99, demo: async () => 99, token: async () => 99 },
};

async function said(words: readonly string[]): Promise<{ exitCode: number; stderr: string }> {
  let stderr = '';
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    stderr += String(text);
    return true;
  });
  const exitCode = await runProgram(words, '0', PRINTED);
  return { exitCode, stderr };
}

afterEach(() => vi.restoreAllMocks());

describe('wrong usage', () => {
  it.each([
    [['diff'], "missing required argument 'old'", 'sundial diff old/orders.yaml policies/orders.yaml\n'],
    [['diff'], 'two files, or two folders', 'sundial diff old/ '],
    [['explain'], "missing required argument 'request'", 'sundial explain GET /api/v1/orders --as acme\n'],
    [['extend', 'orders'], "required option '--to <date>'", 'sundial extend orders v1 --to '],
    [['openapi', 'orders'], "missing required argument 'version'", 'sundial openapi orders v2 '],
    [['init'], 'name the service with --service', 'sundial init --service http://127.0.0.1:3000\n'],
    [['pause'], 'name an API to pause', 'sundial pause --list\n'],
    [['pin', 'show'], "missing required argument 'api'", 'sundial pin show payments acme\n'],
    [['chek'], "unknown command 'chek'\n(Did you mean check?)", '`sundial --help` all commands\n'],
    [['timeline', '--fromat', 'ics'], '(Did you mean --format?)', '`sundial <command> --help`'],
    [['usage', '--since', '30'], 'Write a length such as 30d, or a day', 'sundial usage --api orders '],
    [['timeline', '--at', 'tomorrow'], 'Write a date such as 2026-11-20', '`sundial <command> --help`'],
  ])('%j prints the mistake and a correct command', async (words, wrong, call) => {
    const { exitCode, stderr } = await said(words);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(wrong);
    expect(stderr).toContain(call);
  });
});

describe('repeated and empty options', () => {
  it.each([
    [['extend', 'orders', 'v1', '--to', '2027-04-15', '--to', '2027-05-15', '--why', 'x'], '--to <date>'],
    [['check', '-c', 'a.yaml', '--config', 'b.yaml'], '-c, --config <file>'],
    [['pin', 'show', 'a', 'b', '--format', 'json', '--format', 'text'], '--format <format>'],
  ])('a repeated option with a value is refused: %j', async (words, flags) => {
    const { exitCode, stderr } = await said(words);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`error: option '${flags}' is given twice\n`);
  });

  it.each([
    [['check', '--against', ''], '--against <folder>'],
    [['check', '-c', ''], '-c, --config <file>'],
    [['usage', '--erase='], '--erase <consumer>'],
    [['explain', 'GET', '/', '--as', ''], '--as <consumer>'],
  ])('an empty value, such as that of an unset variable, is refused: %j', async (words, flags) => {
    const { exitCode, stderr } = await said(words);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`error: option '${flags}' has an empty value\n`);
  });

  it('headers and switches may be repeated', async () => {
    const words = ['explain', 'GET', '/', '-H', 'A: 1', '-H', 'B: 2', '--format', 'json'];
    expect(await said(words)).toEqual({ exitCode: 99, stderr: '' });
    expect(await said(['check', '--strict', '--strict'])).toEqual({ exitCode: 99, stderr: '' });
  });
});

describe('a failed command with --format json', () => {
  const PROBLEMS = expect.arrayContaining([expect.objectContaining({ line: 1, rule: 'unknown-key' })]);

  it.each([
    [
      ['status', '--admin', 'http://127.0.0.1:1'],
      3,
      'no gateway answers at http://127.0.0.1:1: the connection was refused',
    ],
    [['reload', '--admin', 'http://127.0.0.1:1'], 2, expect.stringContaining('SUNDIAL_ADMIN_TOKEN')],
    [['pause', '--list', '--admin', 'http://127.0.0.1:1'], 3, expect.stringContaining('no gateway answers')],
    [
      ['pin', 'show', 'a', 'b', '--admin', 'http://127.0.0.1:1'],
      3,
      expect.stringContaining('no gateway answers'),
    ],
  ])('prints its error on stdout as well: %j', async (words, exitCode, error) => {
    const ended = await operate([...words, '--format', 'json']);
    expect(ended.exitCode).toBe(exitCode);
    expect(JSON.parse(ended.stdout)).toEqual({ error, problems: [] });
    expect(ended.stderr).toMatch(/^sundial: /);
  });

  it('prints the problems of the files without colour', async () => {
    await using files = await workspace({
      'config/gateway.yaml': `publik: x\n${GATEWAY}`,
      'policies/orders.yaml': ORDERS,
    });
    const around = { configFile: files.configFile, environment: {}, now: NOW, cwd: files.folder };
    const status = await operate(['status', '--format', 'json', '-c', files.configFile], {
      cwd: files.folder,
    });
    expect(JSON.parse(status.stdout)).toEqual({ error: 'problems in the files', problems: PROBLEMS });
    const show = { api: undefined, defaults: false, origin: false, format: 'json' } as const;
    expect(JSON.parse((await runConfigShow({ ...around, ...show })).stdout).problems).toEqual(PROBLEMS);
    const question = { request: 'GET /', headers: [], as: undefined, scopes: undefined, paused: undefined };
    const explained = await runExplain({ ...around, ...question, today: NOW, format: 'json', colour: true });
    expect(JSON.parse(explained.json ?? '').problems).toEqual(PROBLEMS);
  });

  it('prints an error without problems for an unknown API', async () => {
    await using files = await workspace({ 'policies/orders.yaml': ORDERS });
    const { exitCode, stdout } = await operate([
      'config',
      'show',
      'order',
      '--format',
      'json',
      '-c',
      files.configFile,
    ]);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toEqual({
      error: 'no API is called "order": did you mean "orders"?',
      problems: [],
    });
  });
});
