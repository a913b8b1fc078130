// Prints the result of a command, and handles streams that fail.
import type { ApartResult } from './command-result.ts';

/** Same exit code as for a file that cannot be written. */
const CANNOT_PRINT = 2;
/** False if the output may be incomplete. */
let isPrinted = true;

/** A closed pipe (`| head`) is not an error. */
export function watchStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    isPrinted = false;
    process.exitCode ||= CANNOT_PRINT;
    process.stderr.write(`sundial: cannot print: ${error.message}\n`);
  });
  // The reader closed the stream, so nothing can be reported.
  process.stderr.on('error', () => undefined);
}

export function endWith(exitCode: number): void {
  process.exitCode = isPrinted ? exitCode : exitCode || CANNOT_PRINT;
}

export async function print(result: Promise<ApartResult>): Promise<number> {
  const { exitCode, stdout, stderr } = await result;
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  return exitCode;
}

export function confirmOnTerminal(): ((question: string) => Promise<boolean>) | undefined {
  return process.stdin.isTTY ? askOnTerminal : undefined;
}

/** True only for `y` and `yes`. The question goes to stderr, because stdout is for the result. */
async function askOnTerminal(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  // With `terminal: false` the terminal itself edits the line: no escape codes are written, and ^C ends the process.
  using lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const { promise: closed, resolve: close } = Promise.withResolvers<undefined>();
  lines.once('close', () => close(undefined));
  const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
  if (answer === undefined) process.stderr.write('\n');
  return answer !== undefined && /^y(es)?$/i.test(answer.trim());
}
