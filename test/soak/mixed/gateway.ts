// The gateway process of the soak, with Node's inspector on loopback for measurements.
import { spawn } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';

export interface SoakedGateway extends AsyncDisposable {
  readonly pid: number;
  readonly https: number;
  readonly http: number;
  readonly admin: number;
  /** URL of the inspector. */
  readonly inspector: string;
  /** Rejects if the process ends by itself. */
  readonly ended: Promise<number | NodeJS.Signals>;
  /** Sends SIGTERM and resolves with the exit. */
  readonly stop: () => Promise<number | NodeJS.Signals>;
}

const ROOT = join(import.meta.dirname, '../../..');
const STARTS_WITHIN_MS = 60_000;

/** @throws Error with the output if the gateway ends or prints nothing instead of starting */
export async function startSoaked(
  configFile: string,
  logFile: string,
  environment: Readonly<Record<string, string>>,
): Promise<SoakedGateway> {
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
  let said = '';
  const ended = new Promise<number | NodeJS.Signals>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal ?? 0)),
  );
  const found = (pattern: RegExp): string => pattern.exec(said)?.[1] ?? '';
  await new Promise<void>((resolve, reject) => {
    const fail = (how: unknown) => reject(new Error(`the gateway did not start (${how}):\n${said}`));
    const timer = setTimeout(() => fail('no word'), STARTS_WITHIN_MS);
    void ended.then(fail);
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.includes('Sundial is running') || !/^ +store/m.test(said)) return;
      clearTimeout(timer);
      resolve();
    });
  }).catch((error: unknown) => {
    kill();
    throw error;
  });
  const stop = async () => {
    child.kill('SIGTERM');
    const how = await ended;
    process.off('exit', kill);
    return how;
  };
  return {
    pid: child.pid ?? 0,
    https: Number(found(/^ +gateway +https:\/\/127\.0\.0\.1:(\d+)/m)),
    http: Number(found(/^ +plain http +http:\/\/127\.0\.0\.1:(\d+)/m)),
    admin: Number(found(/^ +admin +http:\/\/127\.0\.0\.1:(\d+)/m)),
    inspector: found(/Debugger listening on (ws:\S+)/),
    ended,
    stop,
    [Symbol.asyncDispose]: async () => {
      kill();
      await ended;
      process.off('exit', kill);
    },
  };
}
