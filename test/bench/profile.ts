// What share of a thread's work was done in some of its files, by the sampling profiler: no second process is compared with it,
// so what others do on the machine meanwhile spoils both sides alike.
// Read by ledger.ts once the profiled gateway has ended.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  /** Microseconds of the machine's monotonic clock. */
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/**
 * Of all time in which a thread was at work, the part spent in files that `isCounted` or in what these called; from 0 to 1.
 * By the profile of the main thread that `--cpu-prof` has left in `folder`, from `since` on, a time of `process.hrtime.bigint()`.
 *
 * @throws Error where there is none
 */
export function shareOfThread(folder: string, isCounted: (url: string) => boolean, since: bigint): number {
  const [name, ...others] = readdirSync(folder).filter((each) => each.endsWith('.cpuprofile'));
  if (name === undefined || others.length > 0) throw new Error('the process has not left one profile');
  const profile = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Profile;
  const within = nodesWithin(profile.nodes, isCounted);
  const idle = profile.nodes.find(({ callFrame }) => callFrame.functionName === '(idle)')?.id;
  let [counted, all, at] = [0, 0, profile.startTime];
  for (const [index, sample] of profile.samples.entries()) {
    const micros = profile.timeDeltas[index] ?? 0;
    at += micros;
    if (sample === idle || at * 1_000 < since) continue;
    all += micros;
    if (within.has(sample)) counted += micros;
  }
  return counted / all;
}

/** Those of counted files and all below them. */
function nodesWithin(
  nodes: readonly ProfileNode[],
  isCounted: (url: string) => boolean,
): ReadonlySet<number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const within = new Set<number>();
  const open = nodes.filter(({ callFrame }) => isCounted(callFrame.url));
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (within.has(node.id)) continue;
    within.add(node.id);
    open.push(...(node.children ?? []).flatMap((id) => byId.get(id) ?? []));
  }
  return within;
}
