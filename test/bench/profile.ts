// Computes the share of a thread's work in certain files from a profile.
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
 * Share (0 to 1) of the main thread's working time in files that `isCounted` and in what they call. Reads the
 * profile that `--cpu-prof` wrote to `folder`. `since`: a time of `process.hrtime.bigint()`.
 * @throws Error without exactly one profile
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

/** The nodes of counted files and all nodes below them. */
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
