// A service in a process that a test can kill, freeze and restart at the same ports.
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePorts } from './ports.ts';

export interface UpstreamProcess extends AsyncDisposable {
  readonly http1: string;
  readonly http2: string;
  /** SIGKILL; resolves after its end. */
  readonly kill: () => Promise<void>;
  /** SIGSTOP: its ports accept connections but do not answer. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** After a kill. */
  readonly comeBack: () => Promise<void>;
  readonly says: (line: string) => Promise<void>;
}

const PROGRAM = join(import.meta.dirname, 'upstream-program.ts');

export async function startUpstreamProcess(): Promise<UpstreamProcess> {
  const [http1 = 0, http2 = 0] = await freePorts(2);
  let child: ChildProcess | undefined;
  let said = '';

  const says = (line: string): Promise<void> =>
    vi.waitFor(
      () => {
        if (!said.includes(`${line}\n`)) throw new Error(`the upstream has not said ${line}:\n${said}`);
      },
      { timeout: 20_000, interval: 5 },
    );
  const comeBack = async (): Promise<void> => {
    said = '';
    child = spawn(process.execPath, [PROGRAM, String(http1), String(http2)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await says('ready');
  };
  const killNow = (): void => void child?.kill('SIGKILL');
  process.once('exit', killNow);
  const kill = async (): Promise<void> => {
    const killed = child;
    child = undefined;
    if (killed === undefined) return;
    const gone = new Promise((resolve) => killed.once('close', resolve));
    killed.kill('SIGKILL');
    await gone;
  };

  await comeBack();
  return {
    http1: `http://127.0.0.1:${http1}`,
    http2: `http://127.0.0.1:${http2}`,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    comeBack,
    says,
    [Symbol.asyncDispose]: async () => {
      process.removeListener('exit', killNow);
      await kill();
    },
  };
}
