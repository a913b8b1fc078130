// The published files in the store: read before policies are accepted, written when they are in force.
import { StoreUnavailable } from '../../policy/contract.ts';
import { digest } from '../read/files.ts';
import {
  type AcceptedChange,
  type FormerVersion,
  isFile,
  type PublishedEntry,
  type PublishedFile,
  type PublishedRecord,
  type RecordRead,
  type SupersededFile,
} from './record.ts';

export interface PublishedHistory {
  /** The result of `compare`. Undefined if the store is unavailable. `candidate` identifies the compared policies. */
  readonly compared: <T>(
    candidate: object,
    compare: (recorded: readonly PublishedEntry[]) => Promise<T>,
  ) => Promise<T | undefined>;
  /** Call it when the files are in force. `former`: published dates that the files no longer have. */
  readonly record: (
    candidate: object,
    files: readonly PublishedFile[],
    former: readonly FormerVersion[],
    refused?: RefusedPart,
  ) => Promise<void>;
  /** Adds changes that an operator accepts. @throws StoreUnavailable; also if other gateways keep writing */
  readonly accept: (changes: readonly AcceptedChange[]) => Promise<void>;
  /** Whether the store was unavailable for the comparison or record of the plan in force. */
  readonly isBehind: () => boolean;
  /** The files of the plan in force. Empty before the first plan. */
  readonly inForce: () => readonly PublishedFile[];
  readonly records: boolean;
}

export interface RefusedPart {
  /** Their APIs. Accepted changes of these stay recorded until the file is accepted. */
  readonly quarantined: readonly { readonly api: string }[];
  readonly retained: readonly PublishedFile[];
}

const NOTHING_REFUSED: RefusedPart = { quarantined: [], retained: [] };

export interface HistoryOptions {
  readonly published: PublishedRecord;
  /** False if the lifecycle clock is offset: such a process is a rehearsal, and its dates were never published. */
  readonly records: boolean;
  /** Called with the reason when a comparison or a record was skipped. */
  readonly onSkipped: (what: 'compared' | 'recorded', reason: StoreUnavailable) => void;
  /** Another gateway has recorded other policies, since the comparison or before this start. Its record stays. */
  readonly onSuperseded: () => void;
  readonly isShared: boolean;
}

const MAX_TRIES = 5;
const MAX_SUPERSEDED = 500;

/** A skipped comparison also skips the record. The next load that reaches the store is compared with the old record. */
export function createPublishedHistory(options: HistoryOptions): PublishedHistory {
  const { published, records, onSkipped } = options;
  /** The last compared candidate and its record. Only that record may be replaced. */
  let last: { readonly candidate: object; readonly read: RecordRead } | undefined;
  /** Recorded by this process; used if the store was emptied. */
  let recorded: readonly PublishedEntry[] = [];
  let inForce: readonly PublishedFile[] = [];
  let isBehind = false;
  /** A superseded file is a rollback at a reload, but may be out of date at a start. */
  let isStart = true;
  const read = async (): Promise<RecordRead> => {
    const { entries, mark } = await published.read();
    return { entries: entries.length === 0 ? recorded : entries, mark };
  };
  const write = async (entries: readonly PublishedEntry[], mark: string): Promise<void> => {
    if (await published.write(entries, mark)) {
      recorded = entries;
      return;
    }
    // If another gateway recorded the same files, there is no conflict.
    const other = await published.read();
    if (isSameFiles(other.entries, entries)) recorded = other.entries;
    else options.onSuperseded();
  };
  return {
    records,
    compared: async (candidate, compare) => {
      last = undefined;
      const stored = await orSkip(read(), (reason) => onSkipped('compared', reason));
      if (stored === undefined) return undefined;
      last = { candidate, read: stored };
      return compare(stored.entries);
    },
    isBehind: () => isBehind,
    inForce: () => inForce,
    record: async (candidate, files, former, { quarantined, retained } = NOTHING_REFUSED) => {
      inForce = files;
      if (!records) return;
      isBehind = last?.candidate !== candidate;
      if (last === undefined || isBehind) return;
      const comesFirst = isStart;
      isStart = false;
      const { entries, mark } = last.read;
      const pending = entries.filter(
        (entry) => isAccepted(entry) && quarantined.some(({ api }) => api === entry.api),
      );
      const now = [...files, ...retained];
      const superseded = options.isShared ? supersededBy(now, entries) : NOTHING_SUPERSEDED;
      if (comesFirst && superseded.includesNow) return options.onSuperseded();
      const next = [...now, ...former, ...pending, ...superseded.files];
      await orSkip(write(next, mark), (reason) => {
        isBehind = true;
        onSkipped('recorded', reason);
      });
    },
    accept: async (changes) => {
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const { entries, mark } = await read();
        if (await published.write([...entries, ...changes], mark)) return;
      }
      throw new StoreUnavailable('other gateways write at the same time');
    },
  };
}

const NOTHING_SUPERSEDED = { files: [], includesNow: false };

/** Policy files of older records. `includesNow`: whether one of `files` was superseded. */
function supersededBy(files: readonly PublishedFile[], entries: readonly PublishedEntry[]) {
  const digests = digestsOf(files);
  const before = new Set(entries.flatMap((each) => (each.kind === 'superseded' ? each.digest : [])));
  const past = [...before.union(digestsOf(entries.filter(isFile))).difference(digests)];
  const kept = past
    .slice(-MAX_SUPERSEDED)
    .map((each): SupersededFile => ({ kind: 'superseded', digest: each }));
  return { files: kept, includesNow: !digests.isDisjointFrom(before) };
}

function digestsOf(files: readonly PublishedFile[]): ReadonlySet<string> {
  return new Set(files.flatMap(({ kind, text }) => (kind === 'policy' ? digest([text]) : [])));
}

export function isAccepted(entry: PublishedEntry): entry is AcceptedChange {
  return entry.kind === 'accepted';
}

function isSameFiles(some: readonly PublishedEntry[], others: readonly PublishedEntry[]): boolean {
  const textOf = (entries: readonly PublishedEntry[]) => JSON.stringify(entries.filter(isFile));
  return textOf(some) === textOf(others);
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
