// A process of test:webhooks that can be killed and restarted with the same arguments.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';

export interface KilledProcess {
  /** Resolves when it has printed its ready line. */
  readonly start: () => Promise<void>;
  /** SIGKILL. */
  readonly kill: () => Promise<void>;
}

export interface KilledProcessOptions {
  /** A file that Node runs, and its arguments. */
  readonly program: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Gets its standard error. */
  readonly logFile: string;
}

export function createKilledProcess({ program, environment, logFile }: KilledProcessOptions): KilledProcess {
  const log = openSync(logFile, 'a');
  let child: ChildProcess | undefined;
  process.once('exit', () => child?.kill('SIGKILL'));
  return {
    start: async () => {
      child = spawn(process.execPath, [...program], {
        stdio: ['ignore', 'pipe', log],
        env: { ...process.env, ...environment },
      });
      if (child.stdout !== null) await once(child.stdout, 'data');
    },
    kill: async () => {
      const killed = child;
      child = undefined;
      if (killed === undefined || killed.exitCode !== null) return;
      const gone = once(killed, 'close');
      killed.kill('SIGKILL');
      await gone;
    },
  };
}
