// The gateway process of the soak, with Node's inspector on loopback for measurements.
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';

export interface SoakGateway extends AsyncDisposable {
  readonly pid: number;
  readonly https: number;
  readonly http: number;
  readonly admin: number;
  /** URL of the inspector. */
  readonly inspector: string;
  /** Resolves with the exit code or the signal when the process ends, with or without `stop`. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Sends SIGTERM and resolves like `ended`. */
  readonly stop: () => Promise<number | NodeJS.Signals>;
}

const ROOT = join(import.meta.dirname, '../../..');
const STARTS_WITHIN_MS = 60_000;

/** Resolves when the gateway has printed its banner. Rejects with its stderr if it ends first or prints none in time. */
export async function startSoakGateway(
  configFile: string,
  logFile: string,
  environment: Readonly<Record<string, string>>,
): Promise<SoakGateway> {
  const child = spawn(
    process.execPath,
    ['--inspect=127.0.0.1:0', 'gateway/sundial.js', 'run', '-c', configFile],
    {
      cwd: ROOT,
      env: { ...process.env, NO_COLOR: '1', ...environment },
      stdio: ['ignore', openSync(logFile, 'w'), 'pipe'],
    },
  );
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  let stderr = '';
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 0)),
  );
  const capture = (pattern: RegExp): string => pattern.exec(stderr)?.[1] ?? '';
  await new Promise<void>((resolve, reject) => {
    const fail = (why: unknown) => reject(new Error(`the gateway did not start (${why}):\n${stderr}`));
    const timer = setTimeout(() => fail(`no banner within ${STARTS_WITHIN_MS} ms`), STARTS_WITHIN_MS);
    void ended.then((exit) => fail(`ended with ${exit}`));
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      if (!stderr.includes('Sundial is running') || !/^ +store/m.test(stderr)) return;
      clearTimeout(timer);
      resolve();
    });
  }).catch((error: unknown) => {
    kill();
    throw error;
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const exit = await ended;
    process.off('exit', kill);
    return exit;
  };
  return {
    pid: child.pid ?? 0,
    https: Number(capture(/^ +gateway +https:\/\/127\.0\.0\.1:(\d+)/m)),
    http: Number(capture(/^ +plain http +http:\/\/127\.0\.0\.1:(\d+)/m)),
    admin: Number(capture(/^ +admin +http:\/\/127\.0\.0\.1:(\d+)/m)),
    inspector: capture(/Debugger listening on (ws:\S+)/),
    ended,
    stop,
    [Symbol.asyncDispose]: async () => {
      kill();
      await ended;
      process.off('exit', kill);
    },
  };
}
