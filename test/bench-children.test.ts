// The children of a bench, when it ends in a way that nobody foresaw.
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

it('end with it', async () => {
  const bench = spawn(process.execPath, ['--input-type=module', '-e', FAILING], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  bench.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  // The child has the same output: this comes once it has ended as well.
  const [code] = await once(bench, 'close');
  expect({ code, said }).toEqual({ code: 1, said: '' });
});
