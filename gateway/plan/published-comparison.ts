// The policies of today against those published before, file by file: what was promised and is no longer so.
// Asked at start by gateway.ts and by the reader of a reload; nothing is kept here.
import { rewrittenSince, type Today, todayOf } from './against.ts';
import type { PolicyView } from './check/views.ts';
import type { LoadOptions, Policies } from './load-documents.ts';
import type { Problem } from './problems.ts';
import type { PublishedHistory } from './published-history.ts';
import type { PublishedFile } from './published-record.ts';
import { readRecorded } from './recorded-files.ts';
import { isRuleName, type RuleName } from './rules/names.ts';

const OF_PUBLISHED: readonly string[] = [
  'sunset-rewritten',
  'dates-rewritten',
  'pins-rewritten',
  'version-removed',
] satisfies readonly RuleName[];

/** Whether a comparison with what was published found it: once that is in force, the next one finds it no more. */
export function isOfPublished({ rule }: Problem): boolean {
  return OF_PUBLISHED.includes(rule);
}

export interface Published {
  /** What was published before. */
  readonly recorded: readonly PublishedFile[];
  /** What would be now. */
  readonly files: readonly PublishedFile[];
  readonly today: Today<PolicyView | undefined | Promise<PolicyView | undefined>>;
}

/** What policies that were just loaded rewrite of what the history knows; keeps hold of none of their documents. */
export async function rewrittenIn(
  { files, views }: Policies,
  history: PublishedHistory,
  options: LoadOptions,
): Promise<readonly Problem[]> {
  const today = todayOf(views, true);
  const found = await history.compared(files, (recorded) =>
    comparePublished({ recorded, files, today }, options),
  );
  return found ?? [];
}

/** One file at a time, so that the documents of thousands never stand in memory together. */
export async function comparePublished(
  { recorded, files, today }: Published,
  options: LoadOptions,
): Promise<readonly Problem[]> {
  const problems: Problem[] = [];
  const reading = { ...options, descriptions: options.descriptions ?? new Map() };
  const descriptions = recorded.filter(({ kind }) => kind === 'description');
  for (const policy of worthComparing(recorded, files)) {
    const { views } = await readRecorded([policy, ...descriptions], reading);
    for (const past of views) {
      const { api } = past.parts;
      if (api === undefined) continue;
      const { complete } = today;
      problems.push(...rewrittenSince(past, await today.find(api), { complete, now: options.now }));
    }
  }
  return problems.map(withWayOut);
}

/** A file that is as it was rewrites nothing, as long as what it borrows from descriptions is as it was too. */
function worthComparing(
  recorded: readonly PublishedFile[],
  files: readonly PublishedFile[],
): readonly PublishedFile[] {
  const texts = new Map(files.map(({ name, text }) => [name, text]));
  const isSame = ({ name, text }: PublishedFile) => texts.get(name) === text;
  const policies = recorded.filter(({ kind }) => kind === 'policy');
  const sameDescriptions = recorded.every((file) => file.kind === 'policy' || isSame(file));
  return sameDescriptions ? policies.filter((policy) => !isSame(policy)) : policies;
}

function withWayOut(problem: Problem): Problem {
  const { rule, severity, hint } = problem;
  if (severity !== 'error' || !isRuleName(rule)) return problem;
  const wayOut = `to publish it all the same: rules: { ${rule}: warning }`;
  return { ...problem, hint: hint === undefined ? wayOut : `${hint}; ${wayOut}` };
}
