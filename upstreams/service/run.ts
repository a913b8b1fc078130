// Runs one sample service as a process: port from the environment, a `ready` line, a clean end. Used by each main.ts.
import { isUnwritable } from './database.ts';
import type { Service } from './listen.ts';

export interface RunOptions {
  readonly name: string;
  /** Name of the environment variable that moves the port. */
  readonly variable: string;
  readonly fallback: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly start: (options: { readonly port: number }) => Promise<Service>;
}

/**
 * Prints `ready <name> <url>` once the service answers. Ends with 0 on SIGTERM, SIGINT, or when the process that
 * started it is gone; with 2 for an unusable port number, with 3 when it cannot start.
 */
export async function runService({
  name,
  variable,
  fallback,
  environment,
  start,
}: RunOptions): Promise<void> {
  const service = await begin().catch((error: unknown) =>
    stopWith(error instanceof Misused ? 2 : 3, `${name}: ${messageOf(error)}`),
  );
  const end = () => {
    service.close().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  // The channel to the parent closes by itself when the parent is killed, so no service outlives the demo.
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

/** What the environment says cannot be used. */
class Misused extends Error {}

/** The port that the environment says. Throws a sentence for the operator when it is no port number. */
export function readPort(
  variable: string,
  fallback: number,
  environment: Readonly<Record<string, string | undefined>>,
): number {
  const written = environment[variable] ?? String(fallback);
  if (!/^\d{1,5}$/.test(written) || Number(written) > 65_535)
    throw new Misused(`${variable} must be a port number, not "${written}"`);
  return Number(written);
}

/** Whatever else keeps a sample from starting says itself what it is. */
function listenFailure(error: unknown, port: number, variable: string): unknown {
  const { code, syscall }: Partial<NodeJS.ErrnoException> = error instanceof Error ? error : {};
  if (syscall !== 'listen') return error;
  const what =
    code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not permitted' : `fails (${code})`;
  return new Error(`port ${port} ${what}; ${variable} moves it`);
}

/** One line, and the end once it is out: what still waits in a pipe is lost with the process. */
function stopWith(code: number, line: string): Promise<never> {
  return new Promise(() => process.stderr.write(`${line}\n`, () => process.exit(code)));
}

const FILE_CALLS = ['mkdir', 'open', 'chmod', 'rename', 'link', 'write'];

/** What cannot be written where it is to be kept is told with what moves it. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { syscall = '' }: NodeJS.ErrnoException = error;
  const isFile = FILE_CALLS.includes(syscall) || isUnwritable(error.cause);
  return isFile ? `${error.message}; SUNDIAL_DATA=<folder> says where else its files may be` : error.message;
}
