// Prints `sundial <words> --help` without starting a process.
import { runProgram } from '../../gateway/cli/program.ts';
import type { Ran } from './readme-demo.ts';

/** Nothing else in the process may print in the meantime. */
export async function printHelp(words: readonly string[]): Promise<Ran> {
  const { stdout } = process;
  const { write } = stdout;
  let printed = '';
  stdout.write = (text: string | Uint8Array) => {
    printed += String(text);
    return true;
  };
  try {
    // Help runs no command.
    const nothing = {} as Parameters<typeof runProgram>[2];
    const code = await runProgram([...words, '--help'], '0.0.0', nothing);
    return { code, stdout: printed, stderr: '' };
  } finally {
    stdout.write = write;
  }
}
