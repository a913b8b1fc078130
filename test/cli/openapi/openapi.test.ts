// `sundial openapi`: prints or writes the description with the dates in force, and its errors.
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type OpenapiOptions, runOpenapi } from '../../../gateway/cli/openapi/openapi.ts';
import { NOW, ORDERS, type Workspace, workspace } from '../../plan/workspace.ts';

const POLICY = ORDERS.replace('successor: v2 }', 'successor: v2, openapi: ../api/v1.yaml }');
const DESCRIPTION = `openapi: 3.0.3
info: { title: Orders, version: 1.0.0 } # of v1
paths: {}
`;
const WRITTEN = `openapi: 3.0.3
info: { title: Orders, version: 1.0.0, x-lifecycle: { stage: deprecated, deprecation: { announced: "2026-01-15", sunset: "2027-01-15" }, migration-guide: "https://docs.example.com/v2" } } # of v1
paths: {}
`;

function run(files: Workspace, options: Partial<OpenapiOptions> = {}) {
  const where = { configFile: files.configFile, cwd: files.folder, environment: {}, colour: false };
  return runOpenapi({
    api: 'orders',
    version: 'v1',
    write: false,
    now: NOW,
    today: NOW,
    ...where,
    ...options,
  });
}

const sample = (description: string | Uint8Array = DESCRIPTION) =>
  workspace({ 'policies/orders.yaml': POLICY, 'api/v1.yaml': description });

it.each(['s3cret-marker', 's3cret-marker: "', '- s3cret-marker\n  x: [', '\u0007s3cret-marker'])(
  'check quotes no line of a file that is not an OpenAPI description: %j',
  async (text) => {
    await using files = await sample(`${text}\n`);
    const problems = await files.problems();
    expect(problems).not.toEqual([]);
    expect(JSON.stringify(problems)).not.toContain('s3cret-marker');
  },
);

describe('sundial openapi', () => {
  it('prints the description without changing the file', async () => {
    await using files = await sample();
    expect(await run(files)).toEqual({ exitCode: 0, stdout: WRITTEN, stderr: '' });
    expect(await readFile(join(files.folder, 'api/v1.yaml'), 'utf8')).toBe(DESCRIPTION);
  });

  it('--write replaces the file, keeps its mode, and changes nothing the second time', async () => {
    await using files = await sample();
    const path = join(files.folder, 'api/v1.yaml');
    await chmod(path, 0o640);
    expect(await run(files, { write: true })).toEqual({
      exitCode: 0,
      stdout: 'api/v1.yaml is written.\n',
      stderr: '',
    });
    expect(await readFile(path, 'utf8')).toBe(WRITTEN);
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect(await readdir(join(files.folder, 'api'))).toEqual(['v1.yaml']);
    expect((await run(files, { write: true })).stdout).toBe('api/v1.yaml is already up to date.\n');
    expect(await files.problems()).toEqual([]);
  });

  it.each([
    ['no info', 'openapi: 3.0.3\npaths: {}\n'],
    ['an empty info', 'openapi: 3.0.3\ninfo:\npaths: {}\n'],
  ])('a description with %s is refused', async (_what, description) => {
    await using files = await sample(description);
    expect(await run(files, { write: true })).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'sundial: api/v1.yaml has no `info` to write the lifecycle into: add one with a title and a version\n',
    });
  });

  it('writes the stage of the judged day', async () => {
    await using files = await sample();
    expect((await run(files, { now: Date.UTC(2025, 0, 1) })).stdout).toContain('stage: stable');
    expect((await run(files, { now: Date.UTC(2027, 0, 15) })).stdout).toContain('stage: retired');
  });

  it('DEP-8: writes no date before it is announced, and check agrees', async () => {
    const announced = POLICY.replace(
      'deprecated: 2026-01-15',
      'announced: 2026-12-01, deprecated: 2027-01-15',
    ).replace('sunset: 2027-01-15', 'sunset: 2028-01-15');
    await using files = await workspace({ 'policies/orders.yaml': announced, 'api/v1.yaml': WRITTEN });
    const early = (await files.problems()).filter((each) => each.includes('description'));
    expect(early).toEqual([
      expect.stringContaining(
        'the description publishes deprecation.announced 2026-01-15 before it is announced',
      ),
      expect.stringContaining(
        'the description publishes deprecation.sunset 2027-01-15 before it is announced',
      ),
    ]);
    await run(files, { write: true });
    const text = await readFile(join(files.folder, 'api/v1.yaml'), 'utf8');
    expect(text).toContain(
      'stage: stable, deprecation: { announced: null, sunset: null }, migration-guide: null }',
    );
    expect((await run(files, { write: true })).stdout).toBe('api/v1.yaml is already up to date.\n');
    expect(await files.problems()).not.toContainEqual(expect.stringContaining('description'));
    const onTheDay = await run(files, { now: Date.UTC(2026, 11, 1) });
    expect(onTheDay.stdout).toContain('deprecation: { announced: "2026-12-01", sunset: "2028-01-15" }');
  });

  it.each([
    ['sunset', 'guide: https://docs.example.com/v2'],
    ['guide', 'sunset: 2028-01-15'],
  ])('--write does not remove an unannounced %s that only the description has', async (key, other) => {
    const policy = POLICY.replace(
      /deprecated: .*, successor/,
      `announced: 2026-12-01, deprecated: 2027-01-15, ${other}, successor`,
    );
    const description = WRITTEN.replace('2027-01-15', '2028-01-15');
    await using files = await workspace({ 'policies/orders.yaml': policy, 'api/v1.yaml': description });
    expect(await run(files, { write: true })).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: `sundial: orders v1 is announced on 2026-12-01, and only api/v1.yaml has its ${key}: add \`${key}:\` to v1 in policies/orders.yaml\n`,
    });
    expect((await run(files)).stdout).toContain(
      'deprecation: { announced: null, sunset: null }, migration-guide: null',
    );
  });

  it('writes an extension from the day of its announcement, and check agrees', async () => {
    const extended = POLICY.replace(
      'sunset: 2027-01-15',
      'sunset: 2027-01-15, extended: [{ to: 2027-04-15, announced: 2026-12-01 }]',
    );
    await using files = await workspace({ 'policies/orders.yaml': extended, 'api/v1.yaml': WRITTEN });
    expect((await run(files, { write: true })).stdout).toBe('api/v1.yaml is already up to date.\n');
    expect(await files.problems()).not.toContainEqual(expect.stringContaining('description'));
    const onTheDay = await run(files, { now: Date.UTC(2026, 11, 1) });
    expect(onTheDay.stdout).toContain('sunset: "2027-04-15"');
  });

  it('keeps a byte order mark', async () => {
    await using files = await sample(`\ufeff${DESCRIPTION}`);
    expect((await run(files)).stdout).toBe(`\ufeff${WRITTEN}`);
  });

  it.each([
    [{ api: 'order' }, 2, 'sundial: no API is called "order": did you mean "orders"?\n'],
    [{ version: 'v3' }, 2, 'sundial: no version is called "v3": there are v1, v2\n'],
    [
      { version: 'v2' },
      2,
      'sundial: orders v2 has no description: add `openapi:` and its path to v2 in policies/orders.yaml\n',
    ],
  ])('refuses %j', async (options, exitCode, stderr) => {
    await using files = await sample();
    expect(await run(files, options)).toEqual({ exitCode, stdout: '', stderr });
  });

  it('reports an unreadable description on stderr only', async () => {
    await using files = await sample('swagger: "2.0"\n');
    expect(await run(files)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('api/v1.yaml:1:10: error: a Swagger 2.0 description'),
    });
  });

  it('refuses to write into a description that contradicts itself', async () => {
    const twofold = 'paths: { /orders: { get: { deprecated: true, x-lifecycle: { status: stable } } } }';
    await using files = await sample(DESCRIPTION.replace('paths: {}', twofold));
    expect(await run(files, { write: true })).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('[description-status]'),
    });
  });

  it('refuses to write if more than the lifecycle would change', async () => {
    await using files = await sample('openapi: 3.0.0\ninfo: { title: a, x-lifecycle: stable }\npaths: {}\n');
    expect(await run(files, { write: true })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        'sundial: api/v1.yaml cannot be written without changing more than the lifecycle',
      ),
    });
  });
});
