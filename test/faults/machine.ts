// Measures processes by /proc: memory, sockets, and the load of other processes.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';

/** The value of USER_HZ wherever Node runs. */
const TICKS_PER_SECOND = 100;

/** Starts a measurement. The result returns the share of all processors used by other processes. */
export function watchOthers(): () => number {
  const [all, own, from] = [allTicks(), ownTicks(process.pid), performance.now()];
  return () => {
    const there = ((performance.now() - from) / 1_000) * availableParallelism() * TICKS_PER_SECOND;
    return Math.max(0, (allTicks() - all - (ownTicks(process.pid) - own)) / there);
  };
}

/** Resolves after a second in which others used at most `share` of the processors, or after `limitMs`. */
export async function untilOthersRest(share: number, limitMs: number): Promise<void> {
  const from = performance.now();
  while (performance.now() - from < limitMs) {
    const others = watchOthers();
    await setTimeout(1_000);
    if (others() <= share) return;
  }
}

/** Resident memory, MB. */
export function residentMb(pid: number): number {
  return statusMb(pid, 'VmRSS');
}

/** Peak resident memory, MB; undefined if the process has ended. */
export function peakMb(pid: number): number | undefined {
  try {
    return statusMb(pid, 'VmHWM');
  } catch {
    return undefined; // the process has ended
  }
}

export function socketsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:');
    } catch {
      return false; // closed meanwhile
    }
  }).length;
}

function statusMb(pid: number, name: string): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1]);
  if (Number.isNaN(kilobytes)) throw new Error(`nothing is known of the memory of ${pid}`);
  return kilobytes / 1_024;
}

function allTicks(): number {
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, stolen = 0] = readFileSync(
    '/proc/stat',
    'utf8',
  )
    .slice('cpu '.length, 200)
    .trim()
    .split(/\s+/)
    .map(Number);
  return user + nice + system + irq + softIrq + stolen;
}

/** Ticks of a process and its children; ended children are counted by their parents. */
function ownTicks(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
    return children
      .split(' ')
      .reduce((sum, child) => sum + (child === '' ? 0 : ownTicks(Number(child))), own);
  } catch {
    return 0; // the process has ended
  }
}
