// Tests each rule with a good and a bad file in rules/. UPDATE_GOLDEN=1 rewrites outputs: review them.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../gateway/cli/check/check.ts';
import { loadAll } from '../../gateway/plan/load.ts';
import { RULES, type RuleName } from '../../gateway/sections/rules/grammar.ts';
import { readPage, tablesOf } from '../support/readme-text.ts';
import { NOW, ORDERS, workspace } from './workspace.ts';

const folder = join(import.meta.dirname, 'rules');
const names = Object.keys(RULES) as RuleName[];

const read = (name: string, kind: string) => readFile(join(folder, `${name}.${kind}.yaml`), 'utf8');

/** With `<rule>.before.yaml`, `<rule>.beside.yaml` and `<rule>.<kind>.openapi.yaml` if they exist. */
async function filesOf(name: string, text: string, now: number) {
  const past = existsSync(join(folder, `${name}.before.yaml`));
  const described: Record<string, string> = {};
  for (const kind of ['good', 'bad']) {
    const file = join(folder, `${name}.${kind}.openapi.yaml`);
    if (existsSync(file)) described[`api/${kind}.openapi.yaml`] = await readFile(file, 'utf8');
  }
  const files = await workspace({
    'policies/orders.yaml': text,
    ...(past && { 'before/orders.yaml': await read(name, 'before') }),
    ...(existsSync(join(folder, `${name}.beside.yaml`)) && {
      'policies/beside.yaml': await read(name, 'beside'),
    }),
    ...described,
  });
  const options = {
    configFile: files.configFile,
    environment: {},
    now,
    cwd: files.folder,
    ...(past && { against: 'before' }),
  };
  return { options, [Symbol.asyncDispose]: files[Symbol.asyncDispose] };
}

/** The output of `check`, without findings about announcements after that day. */
async function printed(name: string, text: string): Promise<string> {
  await using files = await filesOf(name, text, NOW);
  const how = { files: [], format: 'text', strict: false, colour: false } as const;
  return (await runCheck({ ...files.options, ...how })).text.replaceAll(/^.*: notice: .*\n/gm, '');
}

/** The violated rules of the file with their severities. */
async function judge(name: string, text: string, now = NOW) {
  await using files = await filesOf(name, text, now);
  const { problems } = await loadAll(files.options);
  const found = problems.filter(({ rule }) => rule !== 'quote');
  return { rules: found.map(({ rule }) => rule), severities: found.map(({ severity }) => severity) };
}

/** Adds `rules: { <name>: <severity> }` to a file. */
const switched = (text: string, name: string, severity: string) => `${text}rules: { ${name}: ${severity} }\n`;

describe.each(names)('RET-11, OAS-2: %s', (name) => {
  it('has no findings for its good file', async () => {
    expect(await printed(name, await read(name, 'good'))).toMatch(
      /^config\/gateway.yaml and [12] policy files?: no problems/,
    );
  });

  it('marks the mistake in its bad file, with its name and a solution', async () => {
    const bad = await read(name, 'bad');
    const { rules } = await judge(name, bad);
    expect(new Set(rules)).toEqual(new Set([name]));
    const text = await printed(name, bad);
    const golden = join(folder, `${name}.bad.txt`);
    if (process.env.UPDATE_GOLDEN === '1') await writeFile(golden, text);
    expect(text).toBe(await readFile(golden, 'utf8'));
  });

  it.each(['error', 'warning'])('uses the chosen severity: %s', async (severity) => {
    const { severities } = await judge(name, switched(await read(name, 'bad'), name, severity));
    expect(new Set(severities)).toEqual(new Set([severity]));
  });

  it('has no findings when it is off', async () => {
    const { rules } = await judge(name, switched(await read(name, 'bad'), name, 'off'));
    expect(rules).toEqual([]);
  });

  it('has the same findings for an unchanged file at any time', async () => {
    for (const kind of ['good', 'bad']) {
      const text = await read(name, kind);
      const later = Temporal.Instant.fromEpochMilliseconds(NOW).add({ hours: 24 * 400 }).epochMilliseconds;
      const [today, then] = [await judge(name, text), await judge(name, text, later)];
      // After its release, a changed plan counts as rewritten. That needs a changed file.
      if (!existsSync(join(folder, `${name}.before.yaml`))) expect(then.rules).toEqual(today.rules);
      if (kind === 'good') expect(then.severities).not.toContain('error');
    }
  });
});

describe('rules of a file', () => {
  it('equal those of docs/reference/rules.md, with their severities', () => {
    const rows = tablesOf(readPage('docs/reference/rules.md').split('\n')).get('rule') ?? [];
    const named = rows.map(([name = '', severity]) => [name.replaceAll('`', ''), severity]);
    const known = Object.entries(RULES).map(([name, { severity }]) => [name, severity]);
    expect(named.sort()).toEqual(known.sort());
  });

  it('an unknown rule is an error with a suggestion', async () => {
    const text = await read('notice-period', 'good');
    await using files = await workspace({
      'policies/orders.yaml': `${text}rules: { notice-perod: off, migration-guide: eror }\n`,
    });
    expect(await files.problems()).toEqual([
      'policies/orders.yaml:19 «notice-perod» error: unknown key "notice-perod" (did you mean "notice-period"?)',
      'policies/orders.yaml:19 «eror» error: expected "error", "warning" or "off": "eror" (did you mean "error"?)',
    ]);
  });

  it('Versioning 6: an internal API needs six months of notice', async () => {
    const text = (await read('notice-period', 'bad')).replace(
      'api: orders',
      'api: orders\naudience: internal',
    );
    expect((await judge('notice-period', text)).rules).toEqual([]);
    const short = text.replace('sunset: 2027-01-14', 'sunset: 2026-07-14');
    expect(await printed('notice-period', short)).toContain('sunset 2026-07-15 or later');
  });

  it.each([
    ['deprecated: 9999-02-01, sunset: 9999-06-01', 'deprecated 9998-06-01 or earlier'],
    ['announced: 9999-02-01, deprecated: 9999-03-01, sunset: 9999-06-01', 'announced 9998-06-01 or earlier'],
    [
      'deprecated: 2026-01-15, sunset: 9999-11-01, extended: [ { to: 9999-12-01, announced: 2026-02-01 } ]',
      'remove it',
    ],
    [
      'deprecated: 2026-01-15, sunset: 9999-08-01, extended: [ { to: 9999-09-01, announced: 2026-02-01 } ]',
      'write a date between 9999-11-01 and 9999-12-31',
    ],
  ])('a hint names no date after the last possible one: %s', async (dates, hint) => {
    const versions = `  v1: { released: 2024-06-01, ${dates}, guide: https://docs.example.com/v2, successor: v2 }\n`;
    await using files = await workspace({
      'policies/orders.yaml': ORDERS.replace(/ {2}v1: \{ released.*\n/, versions),
    });
    const [found = '', ...more] = await files.problems();
    expect(more).toEqual([]);
    expect(found).toContain(`(${hint})`);
  });

  it('announced needs deprecated, and must not be after it', async () => {
    const text = await read('notice-period', 'good');
    await using files = await workspace({
      'policies/orders.yaml': text.replace('announced: 2026-01-15', 'announced: 2027-01-16'),
    });
    expect(await files.problems()).toContainEqual(
      expect.stringContaining('error: announced (2027-01-16) is after deprecated (2026-02-15)'),
    );
    await files.write('policies/orders.yaml', text.replace('    deprecated: 2026-02-15\n', ''));
    expect(await files.problems()).toContainEqual(
      expect.stringContaining('error: announced needs deprecated'),
    );
  });

  it('warnings alone exit with 0, and with 1 in strict mode', async () => {
    await using files = await workspace({ 'policies/orders.yaml': await read('migration-guide', 'bad') });
    const options = {
      files: [],
      configFile: files.configFile,
      format: 'text',
      environment: {},
      now: NOW,
      colour: false,
      cwd: files.folder,
    } as const;
    expect((await runCheck({ ...options, strict: false })).exitCode).toBe(0);
    expect((await runCheck({ ...options, strict: true })).exitCode).toBe(1);
  });
});
