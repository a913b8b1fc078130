// Caches policy files by path. Parses a file again if it changed or one of its dates has passed.
import type { EpochMs } from '../../policy/contract.ts';
import { SECTIONS } from '../../sections/list.ts';
import type { CheckContext, PolicyView } from '../../sections/view.ts';
import { type Context, documentOf, readPolicy, shownPath } from '../load-documents.ts';
import { digest, type FileRead, tryRead } from '../read/files.ts';
import type { Candidate } from '../reload/stand-ins.ts';
import { outlineOf } from '../rules/together.ts';

export interface CachedPolicy extends Candidate {
  readonly descriptions: readonly string[];
}

interface CacheEntry {
  readonly digest: string;
  /** The file includes or names others, so it is read again each time. */
  readonly bringsIn: boolean;
  /** The problems hold for from <= now < until: a version needs no upstream after its sunset. */
  readonly from: EpochMs;
  readonly until: EpochMs;
  readonly policy: CachedPolicy;
}

export interface PolicyCache {
  /** In the order of `files`. Drops all other files from the cache. */
  readonly read: (files: readonly string[], now: EpochMs) => Promise<readonly CachedPolicy[]>;
  /** Drops the views of the files that were just parsed. */
  readonly dropViews: () => void;
}

export function createPolicyCache(context: Context, checkContext: Omit<CheckContext, 'now'>): PolicyCache {
  let known = new Map<string, CacheEntry>();
  let views = new WeakMap<CachedPolicy, PolicyView>();

  async function parseEntry(file: string, read: FileRead, now: EpochMs): Promise<CacheEntry> {
    const again = () => readPolicy({ ...context, now }, file, read, { ...checkContext, now });
    const { problems, source, view, files, descriptions } = await again();
    const policy: CachedPolicy = {
      file: shownPath(context, file),
      problems,
      piece: source && { digest: source.digest, files, file: source.file },
      outlined: view && {
        outline: outlineOf(view, checkContext.public),
        document: () => documentOf(context, file, read),
      },
      descriptions,
      view: async () => views.get(policy) ?? (await again()).view,
    };
    if (view !== undefined) views.set(policy, view);
    return {
      digest: digestOf(read),
      bringsIn: descriptions.length > 0 || bringsInFiles(read),
      from: now,
      until: nextChange(view, now),
      policy,
    };
  }

  return {
    read: async (files, now) => {
      views = new WeakMap();
      const next = new Map<string, CacheEntry>();
      for (const file of files) {
        const read = await tryRead(file, context.readFile);
        const old = known.get(file);
        const isCurrent =
          old !== undefined &&
          !old.bringsIn &&
          old.digest === digestOf(read) &&
          old.from <= now &&
          now < old.until;
        next.set(file, isCurrent ? old : await parseEntry(file, read, now));
      }
      known = next;
      return [...next.values()].map(({ policy }) => policy);
    },
    dropViews: () => {
      views = new WeakMap();
    },
  };
}

function digestOf(read: FileRead): string {
  return read.kind === 'read' ? digest([read.bytes]) : `unreadable ${read.why}`;
}

/** Files behind `${file:}` may change. Environment variables do not change while the process runs. */
function bringsInFiles(read: FileRead): boolean {
  return read.kind === 'read' && Buffer.from(read.bytes).includes('${file:');
}

/** The next instant at which checks of the file may have another result. */
function nextChange(view: PolicyView | undefined, now: EpochMs): EpochMs {
  if (view === undefined) return Number.POSITIVE_INFINITY;
  const dates = SECTIONS.flatMap(({ checkedAgainAt }) => checkedAgainAt?.(view) ?? []);
  const ahead = dates.flatMap((date) => (date !== undefined && date > now ? date : []));
  return Math.min(Number.POSITIVE_INFINITY, ...ahead);
}
