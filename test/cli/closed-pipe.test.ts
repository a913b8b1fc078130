// Commands whose reader closes the pipe early, such as `sundial timeline | head -1`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The exit code, after all output that does not go into the pipe. */
function intoClosedPipe(words: string): string {
  const command = `{ "$NODE" gateway/sundial.js ${words}; echo $? >&3; } 3>&2 | true`;
  const env = { ...process.env, NODE: process.execPath };
  const cwd = join(import.meta.dirname, '../..');
  return spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' }).stderr;
}

it.each([
  ['stdout', '--help', '0\n'],
  ['stderr', '--nothing 2>&1', '2\n'],
])('prints nothing and keeps its exit code when the reader closes its %s', (_stream, words, said) => {
  expect(intoClosedPipe(words)).toBe(said);
});

it('prints one line and exits with 2 if its output cannot be written', () => {
  const env = { ...process.env, NODE: process.execPath };
  const cwd = join(import.meta.dirname, '../..');
  const command = '"$NODE" gateway/sundial.js --help > /dev/full';
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
  expect([status, stderr]).toEqual([2, 'sundial: cannot print: ENOSPC: no space left on device, write\n']);
});
