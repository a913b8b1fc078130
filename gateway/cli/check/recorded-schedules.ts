// `check --store`: compares the files with the schedules in the store, as the next start will.
import type { LoadedPlan } from '../../plan/load.ts';
import type { Problem } from '../../plan/problems.ts';
import { comparePublished } from '../../plan/published/comparison.ts';
import { currentPoliciesOfViews } from '../../plan/published/current-policies.ts';
import type { PublishedEntry } from '../../plan/published/record.ts';
import type { FilesAt, ReadRecorded } from '../command-setting.ts';

export interface RecordedOptions extends FilesAt {
  /** Named policy files instead of all. An API that is missing among them has not vanished. */
  readonly files: readonly string[];
}

export interface ChangedSince {
  readonly problems: readonly Problem[];
  /** Why nothing was compared, although the store could be read. */
  readonly absent?: string;
}

export const NOTHING_CHANGED: ChangedSince = { problems: [] };

export async function changedSinceRecorded(
  { settings, policies, sources }: LoadedPlan,
  read: ReadRecorded,
  options: RecordedOptions,
): Promise<ChangedSince> {
  let recorded: readonly PublishedEntry[];
  try {
    recorded = await read(settings.store);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `cannot read the store: ${why}`;
    return { problems: [sources.gateway.problem(['store'], { rule: 'live-store', message })] };
  }
  if (recorded.length === 0) {
    const { store } = settings;
    const place = store.kind === 'embedded' ? store.folder : 'that Redis';
    const absent = `nothing is recorded in ${place} yet, so nothing was compared; a gateway records its policies once it has started`;
    return { problems: [], absent };
  }
  const today = currentPoliciesOfViews(policies.views, {
    complete: options.files.length === 0,
    public: settings.public,
  });
  return comparePublished({ recorded, files: policies.files, today }, options);
}
