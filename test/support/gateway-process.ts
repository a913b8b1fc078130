// Runs the command as a process, and watches its output and its end.
import { spawn } from 'node:child_process';
import { join, relative } from 'node:path';
import { env } from 'node:process';

export interface GatewayProcess extends AsyncDisposable {
  readonly pid: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly kill: (signal: NodeJS.Signals) => void;
  /** Ports from the banner. Rejects if the process ends without one. */
  readonly ready: Promise<{ readonly https: number; readonly admin: number }>;
}

const ROOT = join(import.meta.dirname, '../..');
const SOURCE = 'gateway/sundial.js';

/** The built package starts in half the time. The demo needs the samples beside the source. */
function programFor([command]: readonly string[], root: string): string {
  return root === ROOT && command !== 'demo' ? (env.PROGRAM_UNDER_TEST ?? SOURCE) : SOURCE;
}

/**
 * `arguments_`: after `sundial`. `environment`: in addition to that of this process. `prefix`: before the command.
 * `root`: folder of the gateway. `descriptors`: file descriptors from 3 on.
 */
export function startProcess(
  arguments_: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  prefix: readonly string[] = [],
  root = ROOT,
  descriptors: readonly number[] = [],
  cwd = root,
): GatewayProcess {
  const launcher = relative(cwd, join(root, programFor(arguments_, root)));
  const [command = '', ...rest] = [...prefix, process.execPath, launcher, ...arguments_];
  const child = spawn(command, rest, {
    cwd,
    // Without the variable that makes hints begin with npx, which npx sets for the tests.
    env: { ...process.env, npm_command: undefined, NO_COLOR: '1', ...environment },
    stdio: ['ignore', 'pipe', 'pipe', ...descriptors],
  });
  const { promise: ready, resolve, reject } = Promise.withResolvers<{ https: number; admin: number }>();
  const ended = new Promise<number | NodeJS.Signals>((done) => {
    child.once('close', (code, signal) => {
      done(code ?? signal ?? 0);
      reject(new Error(`ended by ${code ?? signal} before it was ready:\n${said.stdout}${said.stderr}`));
    });
  });
  const said = { stdout: '', stderr: '' };
  child.stderr?.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString();
    const https = /^ +gateway +https:\/\/127\.0\.0\.1:(\d+)/m.exec(said.stderr)?.[1];
    const admin = /^ +admin +http:\/\/127\.0\.0\.1:(\d+)/m.exec(said.stderr)?.[1];
    if (https !== undefined && admin !== undefined) resolve({ https: Number(https), admin: Number(admin) });
  });
  child.stdout?.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString();
  });
  // A process that is expected to end has no reader of `ready`.
  ready.catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    get stdout() {
      return said.stdout;
    },
    get stderr() {
      return said.stderr;
    },
    ended,
    kill: (signal) => void child.kill(signal),
    ready,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
