// Compares the current policies with those published before, file by file.
import { isRuleName, type RuleName } from '../../sections/rules/grammar.ts';
import { contextOf, type LoadOptions, type Policies, shownPath } from '../load-documents.ts';
import { type NextCommand, nextCommand } from '../next-command.ts';
import type { Problem } from '../problems.ts';
import { type CurrentPolicies, currentPoliciesOfViews } from './current-policies.ts';
import { isAccepted, type PublishedHistory } from './history.ts';
import { withoutOldEntries } from './published-dates.ts';
import type { FormerVersion, PublishedChange, PublishedEntry, PublishedFile } from './record.ts';
import { readRecorded } from './recorded-files.ts';
import { type Rewritten, rewrittenSince } from './rewritten-since.ts';

const PUBLISHED_RULES: readonly string[] = [
  'sunset-rewritten',
  'dates-rewritten',
  'pins-rewritten',
  'version-removed',
  'urls-moved',
] satisfies readonly RuleName[];

/** Such a problem disappears when the current files are in force. */
export function isAboutPublished({ rule }: Problem): boolean {
  return PUBLISHED_RULES.includes(rule);
}

export interface Published {
  readonly recorded: readonly PublishedEntry[];
  readonly files: readonly PublishedFile[];
  readonly today: CurrentPolicies;
}

/** Keeps no reference to the documents of the policies. */
export async function rewrittenIn(
  { files, views }: Policies,
  history: PublishedHistory,
  options: LoadOptions & { readonly public: string },
): Promise<Rewritten> {
  const today = currentPoliciesOfViews(views, { complete: true, public: options.public });
  const found = await history.compared(files, (recorded) =>
    comparePublished({ recorded, files, today }, options),
  );
  return found ?? { problems: [], former: [] };
}

/** Compares one file at a time, so that thousands of documents are not in memory together. */
export async function comparePublished(
  { recorded, files, today }: Published,
  options: LoadOptions,
): Promise<Rewritten> {
  const { now } = options;
  const published = recorded.filter(isCompared);
  const accepted = recorded.filter(isAccepted);
  const formerByApi = Map.groupBy(
    recorded.filter((entry) => entry.kind === 'former'),
    ({ api }) => api,
  );
  const context = contextOf(options);
  const config = shownPath(context, context.configFile);
  const next = nextCommand({ config, environment: context.environment });
  const problems: Problem[] = [];
  const former: FormerVersion[] = [];
  const compare = async (past: Parameters<typeof rewrittenSince>[0]) => {
    const found = await rewrittenSince(past, today, now, accepted);
    problems.push(...found.problems);
    former.push(...found.former);
  };
  const descriptions = published.filter(({ kind }) => kind === 'description');
  const { changed, same } = splitByChange(published, files);
  for (const policy of changed) {
    const { views } = await readRecorded([policy, ...descriptions], context);
    for (const view of views) {
      const { api } = view.parts;
      if (api === undefined) continue;
      await compare({ api, view, former: formerByApi.get(api) ?? [] });
      formerByApi.delete(api);
    }
  }
  for (const [api, left] of formerByApi) {
    if (same.has(today.fileOf(api))) former.push(...left);
    else await compare({ api, view: undefined, former: left });
  }
  return {
    problems: problems.map((problem) => withSolution(problem, next)),
    former: withoutOldEntries(former, now),
  };
}

/** Guides are not compared: they have no dates. */
function isCompared(entry: PublishedEntry): entry is PublishedFile {
  return entry.kind === 'policy' || entry.kind === 'description';
}

/** Separates unchanged files, which need no comparison. A file counts as changed if any description changed. */
function splitByChange(recorded: readonly PublishedFile[], files: readonly PublishedFile[]) {
  const texts = new Map(files.map(({ name, text }) => [name, text]));
  const isSame = ({ name, text }: PublishedFile) => texts.get(name) === text;
  const policies = recorded.filter(({ kind }) => kind === 'policy');
  const sameDescriptions = recorded.every((file) => file.kind === 'policy' || isSame(file));
  const { same = [], changed = [] } = Object.groupBy(policies, (policy) =>
    sameDescriptions && isSame(policy) ? 'same' : 'changed',
  );
  return { changed, same: new Set<string | undefined>(same.map(({ name }) => name)) };
}

function withSolution(problem: Problem, next: NextCommand): Problem {
  const { rule, severity, hint, change } = problem;
  if (severity !== 'error' || !isRuleName(rule)) return problem;
  const solution =
    change === undefined
      ? `to publish the change all the same: rules: { ${rule}: warning }`
      : `to publish the change all the same: ${next('accept', ...acceptArguments(change), '--why', '"…"')}`;
  return { ...problem, hint: hint === undefined ? solution : `${hint}; ${solution}` };
}

/** An operation is accepted with its version. The label of an API without versions is its name. */
function acceptArguments({ api, label }: PublishedChange): readonly string[] {
  return label === api ? [api] : [api, label.split(' ', 1)[0] ?? label];
}
