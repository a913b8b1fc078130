// Pins processes to cores, and reads their CPU time and memory. Reports a missing taskset or /proc.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';

export interface Placement {
  /** Command words that pin a program to the core of the proxies. Empty without pinning. */
  readonly proxy: readonly string[];
  /** As `proxy`, for load, upstream and everything else. */
  readonly rest: readonly string[];
  /** One sentence for the report. */
  readonly said: string;
  /** Pins a running process to the cores of `rest`. */
  readonly moveToRest: (pid: number) => void;
}

/** One core for the proxies and the others for the rest, if there are two cores and `taskset`. */
export function placement(isWanted = true): Placement {
  const cores = allowedCores();
  const [first, ...others] = cores;
  const unpinned = (said: string): Placement => ({ proxy: [], rest: [], said, moveToRest: () => undefined });
  if (!isWanted) return unpinned('not pinned');
  if (first === undefined || others.length === 0)
    return unpinned('not pinned: fewer than two cores to choose from');
  if (!succeeds('taskset', ['-V'])) return unpinned('not pinned: no taskset here');
  const rest = others.join(',');
  return {
    proxy: ['taskset', '-c', String(first)],
    rest: ['taskset', '-c', rest],
    said: `pinned by taskset: each proxy on core ${first}; load, upstream and Redis on core ${rest}`,
    moveToRest: (pid) => {
      execFileSync('taskset', ['-a', '-c', '-p', rest, String(pid)], { stdio: 'ignore' });
    },
  };
}

/**
 * Microseconds of CPU time of a process and its children, from `/proc/<pid>/task/<tid>/schedstat`.
 * Undefined without /proc. Threads that have ended are not counted.
 */
export function cpuMicros(pid: number): number | undefined {
  const used = treeOf(pid).flatMap((each) =>
    threadsOf(each).map((thread) => readIfThere(`/proc/${each}/task/${thread}/schedstat`)),
  );
  if (used.length === 0 || used.includes(undefined)) return undefined;
  return sumOf(used);
}

/** MB of a process and its children. Undefined without /proc. */
export function residentMegabytes(pid: number): number | undefined {
  const kilobytes = treeOf(pid).map((each) =>
    Number(/^VmRSS:\s+(\d+) kB/m.exec(readIfThere(`/proc/${each}/status`) ?? '')?.[1]),
  );
  const sum = kilobytes.reduce((all, each) => all + each, 0);
  return sum > 0 ? sum / 1024 : undefined;
}

function treeOf(pid: number): readonly number[] {
  const children = threadsOf(pid).flatMap((thread) =>
    (readIfThere(`/proc/${pid}/task/${thread}/children`) ?? '').split(' ').filter((id) => id !== ''),
  );
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
}

/** As `cpuMicros`, for threads of one name. */
export function cpuMicrosOf(pid: number, thread: string): number {
  const named = threadsOf(pid).filter((id) => readIfThere(`/proc/${pid}/task/${id}/comm`)?.trim() === thread);
  if (named.length === 0) throw new Error(`process ${pid} has no thread ${thread}`);
  return sumOf(named.map((id) => readIfThere(`/proc/${pid}/task/${id}/schedstat`)));
}

function sumOf(schedstats: readonly (string | undefined)[]): number {
  return schedstats.reduce((sum, each) => sum + Number(each?.split(' ')[0]) / 1000, 0);
}

function threadsOf(pid: number): readonly string[] {
  return existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
}

function allowedCores(): readonly number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readIfThere('/proc/self/status') ?? '')?.[1];
  return (list ?? '').split(',').flatMap((range) => {
    const [from, to = from] = range.split('-').map(Number);
    if (from === undefined || to === undefined || range === '') return [];
    return Array.from({ length: to - from + 1 }, (_, at) => from + at);
  });
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined;
    throw error;
  }
}

function succeeds(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}
