// What a command has to say, on the stream where it belongs, and what becomes of it where that stream fails.
import type { ApartResult } from './command-result.ts';

/** As for a file that cannot be written. */
const CANNOT_PRINT = 2;
/** Half of what was asked for may stand where it was to be printed. */
let isPrinted = true;

/** Who has read enough of what is printed (`| head`) is no failure: what was asked for is done all the same. */
export function watchStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    isPrinted = false;
    process.exitCode ||= CANNOT_PRINT;
    process.stderr.write(`sundial: cannot print: ${error.message}\n`);
  });
  // The reader of the stream is gone, so nothing can be reported.
  process.stderr.on('error', () => undefined);
}

export function endWith(exitCode: number): void {
  process.exitCode = isPrinted ? exitCode : exitCode || CANNOT_PRINT;
}

/** What was asked for goes to stdout, why it came to nothing to stderr: a pipe gets only the former. */
export async function print(result: Promise<ApartResult>): Promise<number> {
  const { exitCode, stdout, stderr } = await result;
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  return exitCode;
}

/** Asks at the terminal; undefined without a terminal. */
export function confirmOnTerminal(): ((question: string) => Promise<boolean>) | undefined {
  return process.stdin.isTTY ? askOnTerminal : undefined;
}

/** True for `y` and `yes` alone; the end of input is a no. The question goes to stderr, so that stdout stays the answer. */
async function askOnTerminal(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  // The terminal edits the line itself: no escape codes are written, and ^C ends the process as usual.
  using lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const { promise: closed, resolve: close } = Promise.withResolvers<undefined>();
  lines.once('close', () => close(undefined));
  const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
  if (answer === undefined) process.stderr.write('\n');
  return answer !== undefined && /^y(es)?$/i.test(answer.trim());
}
