// A service in its own process, on a free port.
import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { freePorts } from '../../support/ports.ts';
import type { PathService } from './path-service.ts';

export interface Command {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const BUILT_WITHIN_MS = 300_000;
const STARTED_WITHIN_MS = 240_000;
const LOOKS_EVERY_MS = 50;
const ENDS_WITHIN_MS = 5_000;
/** Characters of the output in an error message. */
const SHOWN = 400;

/** Runs a command to its end. @throws Error with the end of its output */
export async function build({ command, arguments: list, environment = {} }: Command): Promise<string> {
  const child = spawn(command, list, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: BUILT_WITHIN_MS,
  });
  const said = printed(child);
  const code = await ended(child);
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${said().trim().slice(-SHOWN)}`);
  return said();
}

/** Resolves when the program accepts connections. */
export async function startProgram(of: (port: number) => Promise<Command> | Command): Promise<PathService> {
  const [port = 0] = await freePorts(1);
  const { command, arguments: list, environment = {} } = await of(port);
  const child = spawn(command, list, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = printed(child);
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const gone = ended(child).finally(() => process.removeListener('exit', kill));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const hard = setTimeout(kill, ENDS_WITHIN_MS);
    await gone.catch(() => undefined);
    clearTimeout(hard);
  };
  try {
    await Promise.race([
      accepts(port),
      gone.then((code) => {
        throw new Error(`${command} ended with ${code}: ${said().trim().slice(-SHOWN)}`);
      }),
    ]);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}

function printed(child: ChildProcess): () => string {
  let text = '';
  const keep = (chunk: Buffer): void => {
    text += chunk.toString();
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  return () => text;
}

function ended(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? new Error(`${child.spawnfile} is not on the PATH`) : error),
    );
    child.once('close', (code, signal) => resolve(code ?? signal ?? ''));
  });
}

async function accepts(port: number): Promise<void> {
  const until = performance.now() + STARTED_WITHIN_MS;
  while (!(await canConnect(port))) {
    if (performance.now() > until) throw new Error(`no connection within ${STARTED_WITHIN_MS / 1_000} s`);
    await new Promise((resolve) => setTimeout(resolve, LOOKS_EVERY_MS));
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
