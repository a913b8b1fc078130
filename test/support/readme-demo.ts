// Starts the demo like a new user, on free ports, in a copy of the project.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cp, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { freePorts } from './ports.ts';
import { ROOT } from './readme-text.ts';

const LAUNCHER = 'gateway/sundial.js';
/** The folders that commands on files read. */
export const FILES = ['config', 'policies', 'upstreams'];
const PROJECT = ['package.json', 'gateway', ...FILES];

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Workspace extends AsyncDisposable {
  readonly folder: string;
  /** Runs `sundial <words>` in it to its end. */
  readonly sundial: (...words: readonly string[]) => Ran;
}

export interface Demo {
  readonly child: ChildProcess;
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves when it and all children with the same output have ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly services: ReadonlyMap<string, number>;
  /** Runs a shell command in the project. @throws Error if it fails */
  readonly shell: (command: string) => string;
}

/** `parts`: the parts of this project to copy. */
export async function openWorkspace(parts: readonly string[] = PROJECT): Promise<Workspace> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sundial-project-')));
  for (const part of parts) await cp(join(ROOT, part), join(folder, part), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    sundial: (...words) => {
      const options = { cwd: folder, env: cleanEnvironment(), encoding: 'utf8' } as const;
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [join(folder, LAUNCHER), ...words],
        options,
      );
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

/** Environment variables of a demo. */
export type Moved = ReadonlyMap<string, string | number>;

/**
 * Starts the demo of the project `folder` and waits for its banner. `from`: working directory (`folder`).
 * @throws Error with its output if it ends before
 */
export async function startDemo(folder: string, moved: Moved, from = folder): Promise<Demo> {
  const env = environmentWith(moved);
  const child = spawn(process.execPath, [join(folder, LAUNCHER), 'demo'], {
    cwd: from,
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
    timeout: 50_000,
    interval: 50,
  });
  const early = ended.then(() => Promise.reject(new Error('it ended')));
  await Promise.race([banner, early]).catch((cause: unknown) => {
    child.kill('SIGKILL');
    throw new Error(`the demo shows no banner:\n${said.stdout}${said.stderr}`, { cause });
  });
  const rows = said.stdout.matchAll(/^ {2}(\S+) +https?:\S+ +pid (\d+)$/gm);
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
        cwd: from,
        env,
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`${command}: exit ${status}: ${stderr}`);
      return stdout.trimEnd();
    },
  };
}

export function failDemo(folder: string, moved: Moved): Ran {
  const options = { cwd: folder, env: environmentWith(moved), encoding: 'utf8', timeout: 55_000 } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, 'demo'], options);
  return { code: status, stdout, stderr };
}

function environmentWith(moved: Moved): NodeJS.ProcessEnv {
  const values = Array.from(moved, ([variable, value]) => [variable, String(value)]);
  return { ...cleanEnvironment(), ...Object.fromEntries(values) };
}

/** Without variables of Sundial. The compile cache is beside the packages, as for users. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(([name]) => !/^(SUNDIAL|NODE_COMPILE_CACHE)/.test(name));
  return { ...Object.fromEntries(entries), NO_COLOR: '1' };
}
