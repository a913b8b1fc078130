// Compares the policies with an older folder of them, for `check --against`.
// Problems of the older files themselves are not reported.
import { resolve } from 'node:path';
import type { EpochMs } from '../../policy/contract.ts';
import { type PolicyView, surroundingsOfView } from '../check/views.ts';
import { type Context, documentOf, readPolicies } from '../load-documents.ts';
import type { Problem } from '../problems.ts';
import { filesIn } from '../read/files.ts';
import { rewrittenSince } from './rewritten-since.ts';
import { type Today, type TodayOptions, todayOfViews } from './today.ts';

export interface Comparison extends TodayOptions {
  /** Folder with the policy files of an earlier day. */
  readonly folder: string;
  readonly views: readonly PolicyView[];
}

/** Never throws for what the folder holds: a folder or file that cannot be compared with is a problem. */
export async function compareWithPast(context: Context, comparison: Comparison): Promise<readonly Problem[]> {
  const folder = resolve(context.cwd, comparison.folder);
  const files = await filesIn(folder);
  if (files === undefined || files.length === 0) {
    const why = files === undefined ? 'this is no folder' : 'no policy file in this folder';
    return documentOf(context, folder, { kind: 'unreadable', why }).problems;
  }
  const unknown = surroundingsOfView(undefined, context.now);
  const older = await readPolicies(context, files, unknown);
  const problems = older.problems.filter(({ rule }) => rule === 'unreadable' || rule === 'syntax');
  const today = todayOfViews(comparison.views, comparison);
  return [...problems, ...(await allRewritten(older.views, today, context.now))];
}

/** What of the older files, by their APIs, was published before `now` and is not as it was. */
export async function allRewritten(
  older: readonly PolicyView[],
  today: Today,
  now: EpochMs,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  for (const view of older) {
    const { api } = view.parts;
    if (api === undefined) continue;
    const rewritten = await rewrittenSince({ api, view, former: [] }, today, now);
    problems.push(...rewritten.problems);
  }
  return problems;
}
