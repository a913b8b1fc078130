// Decides whether policy files become a plan or are refused.
import type { EpochMs } from '../../policy/contract.ts';
import type { PolicyReader, ReadSummary } from '../loader-thread/reader-contract.ts';
import { type Problem, sortProblems } from '../problems.ts';
import type { PublishedHistory } from '../published/history.ts';
import type { FormerVersion, PublishedFile } from '../published/record.ts';
import { allFormer, allProblems, recallAll } from './next-plan.ts';
import type { Quarantined } from './settle.ts';

export type LoadVerdict =
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }
  | {
      readonly kind: 'plan';
      readonly revision: string;
      readonly digests: readonly string[];
      /** With errors if a file is quarantined. */
      readonly problems: readonly Problem[];
      readonly former: readonly FormerVersion[];
      readonly quarantined: readonly Quarantined[];
      readonly retained: readonly PublishedFile[];
    };

export interface JudgeOptions {
  readonly now: EpochMs;
  readonly history: PublishedHistory;
  /** Whether accepted forms stand in for refused files. If not, one error refuses all files. */
  readonly standsIn: boolean;
  /** Whether an API without an accepted form is left out. */
  readonly partial: boolean;
  /** Whether no plan is in force yet. */
  readonly isStart: boolean;
}

/**
 * If the store is unavailable, nothing is compared and no accepted form stands in: a partial start leaves out the API
 * of each refused file.
 */
export async function judge(
  reader: PolicyReader,
  summary: ReadSummary,
  { now, history, standsIn, partial, isStart }: JudgeOptions,
): Promise<LoadVerdict> {
  const { revision, digests } = summary;
  const compareWithRecord = <T>(ask: () => Promise<T>): Promise<T | undefined> =>
    history.compared(summary, async (recorded) => {
      await recallAll(reader, recorded);
      return ask();
    });
  let count = summary.problems;
  if (revision !== undefined) {
    const found = await compareWithRecord(() => reader.compare(now));
    count = found?.problems ?? count;
    if (found?.hasErrors !== true) {
      const problems = await allProblems(reader, count);
      const former = await allFormer(reader, found?.former ?? 0);
      return { kind: 'plan', revision, digests, problems, former, quarantined: [], retained: [] };
    }
  }
  const refused = await allProblems(reader, count);
  if (!standsIn) return { kind: 'refused', problems: refused };
  const compared = await compareWithRecord(() => reader.settle(now));
  // A reload without the store would drop the accepted forms that are served.
  const settled = compared ?? (partial && isStart ? await reader.settle(now) : undefined);
  if (settled === undefined) return { kind: 'refused', problems: refused };
  const unplaced = settled.unplaced.map(unknownRoutes);
  const problems = sortProblems([...refused, ...(await allProblems(reader, settled.problems)), ...unplaced]);
  const lacksOne = settled.quarantined.some(({ isServed, isSpare }) => !isServed && !isSpare);
  const { unplaced: _unplaced, hasRivals, ...accepted } = settled;
  if (settled.digests.length === 0 || hasRivals || unplaced.length > 0 || (!partial && lacksOne))
    return { kind: 'refused', problems };
  const former = await allFormer(reader, settled.former);
  return { kind: 'plan', ...accepted, problems, former };
}

function unknownRoutes(file: string): Problem {
  return {
    ...{ file, line: 1, column: 1, severity: 'error', rule: 'left-out' },
    message: 'the routes of this file are unknown: without it, another API could answer at them',
    hint: 'correct the file, or move it out of the folder',
  };
}
