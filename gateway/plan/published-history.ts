// What was published, against what is loaded: the same comparison as `check --against`, with the store for a folder.
// gateway.ts asks it at start, reload.ts at every reload; a store that is away holds up neither.
import { resolve } from 'node:path';
import { type EpochMs, StoreUnavailable } from '../policy/contract.ts';
import { rewrittenSince } from './against.ts';
import { contextOf, type LoadOptions, type Policies, readPolicies } from './load-documents.ts';
import type { DescriptionCache } from './openapi/read-descriptions.ts';
import type { Problem } from './problems.ts';
import type { PublishedFile, PublishedRecord } from './published-record.ts';
import { isRuleName } from './rules/names.ts';

export interface PublishedHistory {
  /** What the policies rewrite of what was published; nothing where the store cannot say. */
  readonly rewritten: (policies: Policies) => Promise<readonly Problem[]>;
  /** Makes the policies the ones that were published: to be called once they are in force. */
  readonly record: (policies: Policies) => Promise<void>;
}

export interface HistoryOptions extends Omit<LoadOptions, 'now' | 'readFile' | 'descriptions'> {
  readonly published: PublishedRecord;
  /** The lifecycle clock: what it calls released was published. */
  readonly now: () => EpochMs;
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
  /** Those that the store let be compared last; only they may take its place. */
  let compared: Policies | undefined;
  /** By this process: what an emptied store has forgotten. */
  let recorded: readonly PublishedFile[] = [];
  const descriptions: DescriptionCache = new Map();
  return {
    rewritten: async (policies) => {
      compared = undefined;
      const stored = await orSkip(published.read(), (reason) => onSkipped('compared', reason));
      if (stored === undefined) return [];
      const files = stored.length === 0 ? recorded : stored;
      compared = policies;
      const now = options.now();
      const older = await readRecorded(files, { ...options, now, descriptions });
      const problems = rewrittenSince(older.views, { views: policies.views, complete: true }, now);
      return problems.map(withWayOut);
    },
    record: async (policies) => {
      if (!options.records || policies !== compared) return;
      const write = async () => {
        await published.write(policies.files);
        recorded = policies.files;
      };
      await orSkip(write(), (reason) => onSkipped('recorded', reason));
    },
  };
}

/** What is wrong in them was seen when they were accepted; what cannot be read by now is not compared with. */
function readRecorded(files: readonly PublishedFile[], options: LoadOptions): Promise<Policies> {
  const context = contextOf(options);
  const recorded = new Map(files.map(({ name, text }) => [resolve(context.cwd, name), text]));
  const readFile = async (path: string): Promise<Uint8Array> => {
    const text = recorded.get(path);
    if (text === undefined) throw new TypeError('not recorded');
    return new TextEncoder().encode(text);
  };
  const unknown = { now: context.now, public: undefined, identities: undefined, listeners: [] };
  const policies = files
    .filter(({ kind }) => kind === 'policy')
    .map(({ name }) => resolve(context.cwd, name));
  return readPolicies({ ...context, readFile }, policies, unknown);
}

function withWayOut(problem: Problem): Problem {
  const { rule, severity, hint } = problem;
  if (severity !== 'error' || !isRuleName(rule)) return problem;
  const wayOut = `to publish it all the same: rules: { ${rule}: warning }`;
  return { ...problem, hint: hint === undefined ? wayOut : `${hint}; ${wayOut}` };
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
