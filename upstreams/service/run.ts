// Runs a sample service as a process: port from the environment, a `ready` line, a clean exit.
import { isUnwritable } from './database.ts';
import type { Service } from './listen.ts';

export interface RunOptions {
  readonly name: string;
  readonly variable: string;
  readonly fallback: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly start: (options: { readonly port: number }) => Promise<Service>;
}

/**
 * Prints `ready <name> <url>` once the service answers. Exits with 0 on SIGTERM, SIGINT or the end of the parent process; with 2
 * for an invalid port number; with 3 if it cannot start.
 */
export async function runService({
  name,
  variable,
  fallback,
  environment,
  start,
}: RunOptions): Promise<void> {
  const service = await begin().catch((error: unknown) =>
    stopWith(error instanceof UsageError ? 2 : 3, `${name}: ${messageOf(error)}`),
  );
  const end = () => {
    service.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  // The channel to the parent closes when the parent is killed, so no service outlives the demo.
  process.once('disconnect', end);
  if (process.send !== undefined && !process.connected) end();
  process.stdout.write(`ready ${name} ${service.url}\n`);

  async function begin(): Promise<Service> {
    const port = readPort(variable, fallback, environment);
    return start({ port }).catch((error: unknown) => {
      throw listenFailure(error, port, variable);
    });
  }
}

class UsageError extends Error {}

/** The port in the environment. @throws Error with a sentence for the operator if it is not a port number */
export function readPort(
  variable: string,
  fallback: number,
  environment: Readonly<Record<string, string | undefined>>,
): number {
  const written = environment[variable] ?? String(fallback);
  if (!/^\d{1,5}$/.test(written) || Number(written) > 65_535)
    throw new UsageError(`${variable} must be a port number, not "${written}"`);
  return Number(written);
}

function listenFailure(error: unknown, port: number, variable: string): unknown {
  const { code, syscall }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (syscall !== 'listen') return error;
  const what =
    code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not permitted' : `fails (${code})`;
  return new Error(`port ${port} ${what}; ${variable} moves it`);
}

/** Exits after the line is written: process.exit discards text that waits in a pipe. */
function stopWith(code: number, line: string): Promise<never> {
  return new Promise(() => process.stderr.write(`${line}\n`, () => process.exit(code)));
}

const FILE_CALLS = ['mkdir', 'open', 'chmod', 'rename', 'link', 'write'];

/** For files that cannot be written, the message names the setting that moves them. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall = '' }: NodeJS.ErrnoException = error;
  const isFile = FILE_CALLS.includes(syscall) || isUnwritable(error.cause);
  return isFile ? `${error.message}; set SUNDIAL_DATA to a folder for its files` : error.message;
}
