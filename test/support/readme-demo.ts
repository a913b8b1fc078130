// The demo as a new user starts it, on free ports and with files of its own: config and policies are copies.
// Everything it makes lies in its folder and goes with it.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePorts } from './ports.ts';
import { ROOT } from './readme-text.ts';

const LAUNCHER = join(ROOT, 'gateway/sundial.js');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Workspace extends AsyncDisposable {
  /** Holds `config/` and `policies/`. */
  readonly folder: string;
  /** Runs `sundial <words>` here to its end. */
  readonly sundial: (...words: readonly string[]) => Ran;
}

export interface Demo {
  readonly child: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when it and every child that shares its output has ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Processes of the sample services by name. */
  readonly services: ReadonlyMap<string, number>;
  /** Runs a shell command as a person beside it would, in the project. @throws Error when it fails */
  readonly shell: (command: string) => string;
}

export async function openWorkspace(): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'sundial-readme-'));
  for (const part of ['config', 'policies'])
    await cp(join(ROOT, part), join(folder, part), { recursive: true });
  return {
    folder,
    sundial: (...words) => {
      const options = { cwd: folder, env: cleanEnvironment(), encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, ...words], options);
      return { code: status, stdout, stderr };
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** A free port for each variable. */
export async function movePorts(variables: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const ports = await freePorts(variables.length);
  return new Map(variables.map((variable, index) => [variable, ports[index] ?? 0]));
}

/** Starts it and waits for its banner. @throws Error with all it said when it ends before */
export async function startDemo(folder: string, ports: ReadonlyMap<string, number>): Promise<Demo> {
  const moved = Array.from(ports, ([variable, port]) => [variable, String(port)]);
  const env = { ...cleanEnvironment(), ...Object.fromEntries(moved), SUNDIAL_DATA: join(folder, 'data') };
  const child = spawn(process.execPath, [LAUNCHER, 'demo'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    said.stdout += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said.stderr += chunk.toString();
  });
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const banner = vi.waitUntil(() => said.stdout.includes('Ctrl-C stops everything.'), {
    timeout: 25_000,
    interval: 50,
  });
  const early = ended.then(() => Promise.reject(new Error('it ended')));
  await Promise.race([banner, early]).catch((cause: unknown) => {
    child.kill('SIGKILL');
    throw new Error(`the demo shows no banner:\n${said.stdout}${said.stderr}`, { cause });
  });
  const rows = said.stdout.matchAll(/^ {2}(\S+) +http:\S+ +pid (\d+)$/gm);
  return {
    child,
    get stdout() {
      return said.stdout;
    },
    get stderr() {
      return said.stderr;
    },
    ended,
    services: new Map(Array.from(rows, ([, name = '', pid]) => [name, Number(pid)])),
    shell: (command) => {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
        cwd: ROOT,
        env,
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`${command}: exit ${status}: ${stderr}`);
      return stdout.trimEnd();
    },
  };
}

/** The system's own, less what would move Sundial. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith('SUNDIAL_'));
  return { ...Object.fromEntries(entries), NO_COLOR: '1' };
}
