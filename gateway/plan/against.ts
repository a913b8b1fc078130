// The policies as they are against an older folder of them: what was published and has been rewritten.
// Part of `check --against`; the older files are only read, what is wrong in them is not reported again.
import { resolve } from 'node:path';
import type { EpochMs } from '../policy/contract.ts';
import { type PolicyView, reporter } from './check/views.ts';
import { type Context, documentOf, readPolicies } from './load-documents.ts';
import type { Problem } from './problems.ts';
import { filesIn } from './read/files.ts';
import { checkPast, publishedOf } from './rules/past.ts';
import { switchedReport } from './rules/switch.ts';
import { apiRemoved } from './rules/version-removed.ts';

export interface Comparison {
  /** Folder with the policy files of an earlier day. */
  readonly folder: string;
  readonly views: readonly PolicyView[];
  /** Whether `views` are all policies there are: an API that is not among them has vanished. */
  readonly complete: boolean;
}

/** The policies of today, for the comparison of one older file after the other. */
export interface Today<View = PolicyView | undefined> {
  /** That of an API by its name. */
  readonly find: (api: string) => View;
  /** Whether an API that is not found has vanished. */
  readonly complete: boolean;
}

/** Never throws for what the folder holds: a folder or file that cannot be compared with is a problem. */
export async function compareWithPast(context: Context, comparison: Comparison): Promise<readonly Problem[]> {
  const { views, complete } = comparison;
  const folder = resolve(context.cwd, comparison.folder);
  const files = await filesIn(folder);
  if (files === undefined || files.length === 0) {
    const why = files === undefined ? 'this is no folder' : 'no policy file in this folder';
    return documentOf(context, folder, { kind: 'unreadable', why }).problems;
  }
  const unknown = { now: context.now, public: undefined, identities: undefined, listeners: [] };
  const older = await readPolicies(context, files, unknown);
  const problems = older.problems.filter(({ rule }) => rule === 'unreadable' || rule === 'syntax');
  return [...problems, ...allRewritten(older.views, todayOf(views, complete), context.now)];
}

/** A view without a name may be the very one that is missed, so that none is then called vanished. */
export function todayOf(views: readonly PolicyView[], complete: boolean): Today {
  const byName = new Map<string | undefined, PolicyView>();
  for (const view of views) if (!byName.has(view.parts.api)) byName.set(view.parts.api, view);
  return { find: (api) => byName.get(api), complete: complete && !byName.has(undefined) };
}

/** What of the older files, by the names of their APIs, was published before `now` and is not as it was. */
export function allRewritten(
  older: readonly PolicyView[],
  { find, complete }: Today,
  now: EpochMs,
): readonly Problem[] {
  return older.flatMap((past) => {
    const { api } = past.parts;
    return api === undefined ? [] : rewrittenSince(past, find(api), { complete, now });
  });
}

/** The same of one of them; `view` is its API as it is written today. */
export function rewrittenSince(
  past: PolicyView,
  view: PolicyView | undefined,
  { complete, now }: { readonly complete: boolean; readonly now: EpochMs },
): readonly Problem[] {
  const problems: Problem[] = [];
  if (view !== undefined) {
    const report = switchedReport(view.parts.rules, reporter(view.document, problems));
    checkPast(past.versions, view, now, report);
  } else if (complete) {
    const report = switchedReport(past.parts.rules, reporter(past.document, problems));
    apiRemoved(publishedOf(past.versions, now), report);
  }
  return problems;
}
