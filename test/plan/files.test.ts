// Tests paths to other things than small text files: reading must not hang, fill memory, or stop halfway.
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCapped, readSecret, tryRead } from '../../gateway/plan/read/files.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sundial-files-'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  await writeFile(join(folder, 'secret'), 'hunter2\n');
  await writeFile(join(folder, 'large'), 'x'.repeat(70_000));
  await symlink('secret', join(folder, 'link'));
  await symlink('round', join(folder, 'round'));
  await symlink('nowhere', join(folder, 'dangling'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a document', () => {
  it.each([
    ['a pipe without a writer', 'pipe', 'it is not a regular file'],
    ['a folder', '.', 'it is a folder'],
    ['an endless device', '/dev/zero', 'it is not a regular file'],
    ['an empty device', '/dev/null', 'it is not a regular file'],
    ['a missing file', 'nothing', 'no such file'],
    ['a link to itself', 'round', 'its symbolic links form a loop'],
    ['a link to nothing', 'dangling', 'it is a link to nowhere, which does not exist'],
  ])('%s is refused immediately', async (_what, path, why) => {
    expect(await tryRead(join(path.startsWith('/') ? '' : folder, path), readCapped)).toEqual({
      kind: 'unreadable',
      why,
    });
  });
});

describe('a secret', () => {
  it.each(['secret', 'link'])('is read from a %s', (path) => {
    expect(readSecret(join(folder, path))).toEqual({ kind: 'read', text: 'hunter2\n' });
  });

  it.each([
    ['pipe', 'it is not a regular file'],
    ['.', 'it is a folder'],
    ['/dev/zero', 'it is not a regular file'],
    ['/dev/null', 'it is not a regular file'],
    ['nothing', 'no such file'],
    ['dangling', 'it is a link to nowhere, which does not exist'],
    ['round', 'its symbolic links form a loop'],
    ['large', 'it is larger than 64 KiB'],
  ])('is not read from %s: %s', (path, why) => {
    const read = readSecret(join(path.startsWith('/') ? '' : folder, path));
    expect(read).toEqual({ kind: 'unreadable', why });
  });
});
