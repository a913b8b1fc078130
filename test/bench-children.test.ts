// The child processes of a benchmark end with it, even after an uncaught error.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const CHILDREN = join(import.meta.dirname, 'bench/children.ts');
const FAILING = `
  const { startChild } = await import(${JSON.stringify(CHILDREN)});
  const args = ['-e', 'setTimeout(() => process.stdout.write("outlived"), 5_000)'];
  await startChild(args, { output: 'inherit', environment: {}, prefix: [], announces: false });
  throw new Error('a reader has left');
`;

it('a child ends when its benchmark throws', async () => {
  const bench = spawn(process.execPath, ['--input-type=module', '-e', FAILING], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let printed = '';
  bench.stdout.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  // The child has the same stdout, so `close` comes after both have ended.
  const [code] = await once(bench, 'close');
  expect({ code, printed }).toEqual({ code: 1, printed: '' });
});
