// What the machine does besides, and what a process of it holds, by /proc. A timed figure that is broken while others keep
// the processors busy says nothing of the gateway; run.ts then measures again.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';

/** Of /proc, everywhere that Node runs. */
const TICKS_PER_SECOND = 100;

/** Starts to look; the result tells which share of all processors has been used by processes that are not ours. */
export function watchOthers(): () => number {
  const [all, own, from] = [allTicks(), ownTicks(process.pid), performance.now()];
  return () => {
    const there = ((performance.now() - from) / 1_000) * availableParallelism() * TICKS_PER_SECOND;
    return Math.max(0, (allTicks() - all - (ownTicks(process.pid) - own)) / there);
  };
}

/** Resolves once others have used no more than `share` of the processors for a second, at the latest after `limitMs`. */
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

/** The most it ever was, MB; undefined once the process has ended. */
export function peakMb(pid: number): number | undefined {
  try {
    return statusMb(pid, 'VmHWM');
  } catch {
    return undefined; // gone, or about to go
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

/** Of a process and its children; those that have ended are counted by their parents. */
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
    return 0; // it has just ended
  }
}
