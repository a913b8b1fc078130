// What a command has to say, on the stream where it belongs, and what becomes of it where that stream fails.
// Used by main.ts alone; what is printed comes from the commands.
import type { ApartResult, CommandResult } from './check/check.ts';

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
  // Nobody is left who could be told.
  process.stderr.on('error', () => undefined);
}

/** The exit code of the process, once a command has ended with `exitCode`. */
export function endWith(exitCode: number): void {
  process.exitCode = isPrinted ? exitCode : exitCode || CANNOT_PRINT;
}

/** Findings are what was asked for: they go to stdout, whatever they are. */
export async function print(result: Promise<CommandResult>): Promise<number> {
  const { exitCode, text } = await result;
  process.stdout.write(text);
  return exitCode;
}

/** Of a command that has something to show or to write, all or nothing; machines are told why nothing. */
export async function printWhole(result: Promise<CommandResult>): Promise<number> {
  const { exitCode, text, json = '' } = await result;
  return printApart(
    Promise.resolve(
      exitCode === 0 ? { exitCode, stdout: text, stderr: '' } : { exitCode, stdout: json, stderr: text },
    ),
  );
}

/** What was asked for goes to stdout, why it came to nothing to stderr: a pipe gets only the former. */
export async function printApart(result: Promise<ApartResult>): Promise<number> {
  const { exitCode, stdout, stderr } = await result;
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  return exitCode;
}
