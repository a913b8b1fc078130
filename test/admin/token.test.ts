// The admin token: made once, readable by its owner only, compared without revealing how close a guess is.
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTokenCheck, openAdminToken } from '../../gateway/admin/token.ts';
import { parseAdminToken } from '../../gateway/plan/grammar/listeners-section.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-token-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (dataFolder = folder) => openAdminToken({ configured: undefined, dataFolder });
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('the admin token', () => {
  it('is created if missing: 32 random bytes in a folder and a file that only its owner reads', async () => {
    const data = join(folder, 'data');
    const token = await open(data);
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(await readFile(join(data, 'admin-token'), 'utf8')).toBe(`${token}\n`);
    expect([await modeOf(data), await modeOf(join(data, 'admin-token'))]).toEqual([0o700, 0o600]);
    expect(await open(data)).toBe(token);
    expect(await open(join(folder, 'other'))).not.toBe(token);
  });

  it('is the same for all processes that start at once, which leave no other file', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => open()));
    expect(new Set(tokens).size).toBe(1);
    expect(await readdir(folder)).toEqual(['admin-token']);
  });

  it('gets mode 0600 if others could read it', async () => {
    const token = await open();
    await chmod(join(folder, 'admin-token'), 0o644);
    expect(await open()).toBe(token);
    expect(await modeOf(join(folder, 'admin-token'))).toBe(0o600);
  });

  it('is not created if the gateway file has one', async () => {
    const configured = 'x'.repeat(32);
    expect(await openAdminToken({ configured, dataFolder: join(folder, 'data') })).toBe(configured);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each(['', 'short', 'a token with spaces in it, long enough', `${'x'.repeat(40)}\n${'y'.repeat(40)}`])(
    'is refused if its file contains %j',
    async (text) => {
      await writeFile(join(folder, 'admin-token'), text);
      await expect(open()).rejects.toThrow(/admin-token has no valid token: remove it, and the next start/);
    },
  );

  it.each([
    ['is a folder', 'EISDIR', () => mkdir(join(folder, 'admin-token'))],
    [
      'is a symbolic link without a target',
      'ENOENT',
      () => symlink('/not/there', join(folder, 'admin-token')),
    ],
    ['has a file as its folder', 'ENOTDIR', () => writeFile(join(folder, 'data'), '')],
  ])('fails with the system error and a remedy if its path %s', async (_how, word, make) => {
    await make();
    const place = word === 'ENOTDIR' ? join(folder, 'data') : folder;
    await expect(open(place)).rejects.toThrow(
      new RegExp(`^there is no admin token: ${word}: .*; this user must be able to read and write`),
    );
  });
});

describe('the syntax of a token', () => {
  it.each([
    ['x'.repeat(32), true],
    ['x'.repeat(31), false],
    ['x'.repeat(513), false],
    ['AZaz09._~+/-AZaz09._~+/-AZaz09._~+/-==', true],
    [`${'x'.repeat(32)}===`, false],
    [`${'x'.repeat(32)}\n`, false],
    [`${'x'.repeat(32)}"`, false],
    [`${'x'.repeat(32)}é`, false],
  ])('%j is valid: %s', (text, good) => {
    expect(parseAdminToken(text)).toBe(good ? text : undefined);
  });
});

describe('the Authorization field', () => {
  const token = 'abcdefghijklmnopqrstuvwxyz012345';
  const check = createTokenCheck(token);

  it.each([
    [`Bearer ${token}`, true],
    [`bearer  ${token} `, true],
    [`Bearer ${token.toUpperCase()}`, false],
    [`Bearer ${token}=`, false],
    [`Bearer${token}`, false],
    [token, false],
    [`Basic ${token}`, false],
    [`Bearer ${token}, Bearer ${token}`, false],
    ['Bearer ', false],
    ['', false],
    [undefined, false],
  ])('%j is accepted: %s', (authorization, admitted) => {
    expect(check(authorization)).toBe(admitted);
  });
});
