// What a path may lead to besides a small file of text: nothing of it may hang, fill the memory, or be read half.
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
});
afterAll(() => rm(folder, { recursive: true }));

describe('a document', () => {
  it.each([
    ['a pipe nobody writes to', 'pipe', 'not a file'],
    ['a folder', '.', 'not a file'],
    ['a device without end', '/dev/zero', 'not a file'],
    ['a device without anything', '/dev/null', 'not a file'],
    ['nothing', 'nothing', 'no such file'],
    ['a link to itself', 'round', 'the system refused'],
  ])('%s is refused at once', async (_what, path, why) => {
    expect(await tryRead(join(path.startsWith('/') ? '' : folder, path), readCapped)).toEqual({
      kind: 'unreadable',
      why,
    });
  });
});

describe('a secret', () => {
  it.each(['secret', 'link'])('is read from a %s', (path) => {
    expect(readSecret(join(folder, path))).toBe('hunter2\n');
  });

  it.each(['pipe', '.', '/dev/zero', '/dev/null', 'nothing', 'round', 'large'])(
    'is not read from %s',
    (path) => {
      expect(readSecret(join(path.startsWith('/') ? '' : folder, path))).toBeUndefined();
    },
  );
});
