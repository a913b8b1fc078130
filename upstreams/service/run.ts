// Runs one sample service as a process: port from the environment, a `ready` line, a clean end. Used by each main.ts.
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
  const port = readPort(name, variable, fallback, environment);
  const service = await start({ port }).catch((error: NodeJS.ErrnoException) => {
    // Whatever keeps a sample from starting is one line: the demo that started it says the rest.
    const { code, syscall, message } = error;
    if (syscall !== 'listen') return stopWith(3, `${name}: ${message}`);
    const what =
      code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'is not permitted' : `fails (${code})`;
    return stopWith(3, `${name}: port ${port} ${what}; ${variable} moves it`);
  });
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
}

/** The port that the environment says; ends the process with 2 when it is no port number. */
export function readPort(
  name: string,
  variable: string,
  fallback: number,
  environment: Readonly<Record<string, string | undefined>>,
): number {
  const written = environment[variable] ?? String(fallback);
  if (!/^\d{1,5}$/.test(written) || Number(written) > 65_535) {
    stopWith(2, `${name}: ${variable} must be a port number, not "${written}"`);
  }
  return Number(written);
}

function stopWith(code: number, line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(code);
}
