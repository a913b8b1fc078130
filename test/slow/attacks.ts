// The attacks of test:slow: slow heads and bodies by slowhttptest, and HTTP/2 resets. Each ends by itself.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { installed } from '../bench/children.ts';

export interface Attack {
  readonly name: string;
  /** The program that must be installed. */
  readonly program?: string;
  /** Bound of the probe's p99. Undefined: only printed, because many resets keep all cores busy. */
  readonly mostP99Ms?: number;
  /** Resolves when the attack has ended. */
  readonly run: (port: number) => Promise<void>;
}

const CONNECTIONS = 1_000;
const SECONDS = 20;
const RESETS = 10_000;
const PROGRAM = 'slowhttptest';

function slowhttptest(mode: '-H' | '-B', port: number): Promise<void> {
  const url = `https://127.0.0.1:${port}/api/slow`;
  const given = ['-c', CONNECTIONS, '-r', 500, '-i', 2, '-l', SECONDS, '-x', 10, '-p', 5, '-u', url, mode];
  const words = [...given.map(String), ...(mode === '-B' ? ['-s', '100000'] : [])];
  const child = spawn(installed(PROGRAM) ?? PROGRAM, words, { stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
}

/** Runs in its own process, like slowhttptest, so that it does not delay the probe. */
function resets(port: number): Promise<void> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'resets.ts'), String(port), String(RESETS)],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`the attacker exited with ${code}`)),
    );
  });
}

export const attacks: readonly Attack[] = [
  {
    name: `${CONNECTIONS} slow header sections`,
    program: PROGRAM,
    mostP99Ms: 100,
    run: (port) => slowhttptest('-H', port),
  },
  {
    name: `${CONNECTIONS} slow bodies`,
    program: PROGRAM,
    mostP99Ms: 100,
    run: (port) => slowhttptest('-B', port),
  },
  { name: `${RESETS} HTTP/2 resets`, run: resets },
];
