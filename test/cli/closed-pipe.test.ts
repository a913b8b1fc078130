// Commands whose reader closes the pipe early, such as `sundial timeline | head -1`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The output besides the pipe, and the exit code. */
function intoClosedPipe(words: string): string {
  const command = `{ "$NODE" gateway/sundial.js ${words}; echo $? >&3; } 3>&2 | true`;
  const env = { ...process.env, NODE: process.execPath };
  const cwd = join(import.meta.dirname, '../..');
  return spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' }).stderr;
}

it.each([
  ['stdout', '--help', '0\n'],
  ['stderr', '--nothing 2>&1', '2\n'],
])(
  'ends without a word, with its own exit code, when nobody reads its %s any more',
  (_stream, words, said) => {
    expect(intoClosedPipe(words)).toBe(said);
  },
);

it('says in one line that what it was to print could not be written, and ends with 2', () => {
  const env = { ...process.env, NODE: process.execPath };
  const cwd = join(import.meta.dirname, '../..');
  const command = '"$NODE" gateway/sundial.js --help > /dev/full';
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, 'sundial: cannot print: ENOSPC: no space left on device, write\n']);
});
