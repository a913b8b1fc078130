// What was published, in the store: read before new policies are accepted, written once they are in force.
// gateway.ts asks it at start, reload.ts at every reload; a store that is away holds up neither.
import { StoreUnavailable } from '../policy/contract.ts';
import type { FormerVersion, PublishedEntry, PublishedFile, PublishedRecord } from './published-record.ts';

export interface PublishedHistory {
  /**
   * What `compare` makes of what was published; undefined where the store cannot say. `candidate` is whatever stands
   * for the policies that are compared.
   */
  readonly compared: <T>(
    candidate: object,
    compare: (recorded: readonly PublishedEntry[]) => Promise<T>,
  ) => Promise<T | undefined>;
  /**
   * Makes the files of a candidate the ones that were published: to be called once they are in force. `former` is what
   * the comparison found that they do not state any more.
   */
  readonly record: (
    candidate: object,
    files: readonly PublishedFile[],
    former: readonly FormerVersion[],
  ) => Promise<void>;
  /** The files behind the plan in force, as they were read for it; empty before the first is. */
  readonly inForce: () => readonly PublishedFile[];
}

export interface HistoryOptions {
  readonly published: PublishedRecord;
  /**
   * False where the lifecycle clock was moved: such a process is a rehearsal, and the dates it saw come to pass were
   * never published to anybody.
   */
  readonly records: boolean;
  /** Told why nothing was compared, or recorded. */
  readonly onSkipped: (what: 'compared' | 'recorded', reason: StoreUnavailable) => void;
}

/**
 * Where the comparison was skipped nothing is recorded either: what was published stays known, and the next load that
 * finds the store is compared with it.
 */
export function createPublishedHistory(options: HistoryOptions): PublishedHistory {
  const { published, onSkipped } = options;
  /** The candidate that the store let be compared last; only it may take its place. */
  let last: object | undefined;
  /** By this process: what an emptied store has forgotten. */
  let recorded: readonly PublishedEntry[] = [];
  let inForce: readonly PublishedFile[] = [];
  return {
    compared: async (candidate, compare) => {
      last = undefined;
      const stored = await orSkip(published.read(), (reason) => onSkipped('compared', reason));
      if (stored === undefined) return undefined;
      last = candidate;
      return compare(stored.length === 0 ? recorded : stored);
    },
    inForce: () => inForce,
    record: async (candidate, files, former) => {
      inForce = files;
      if (!options.records || candidate !== last) return;
      const write = async () => {
        const entries = [...files, ...former];
        await published.write(entries);
        recorded = entries;
      };
      await orSkip(write(), (reason) => onSkipped('recorded', reason));
    },
  };
}

async function orSkip<T>(
  answer: Promise<T>,
  skip: (reason: StoreUnavailable) => void,
): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    skip(error);
    return undefined;
  }
}
