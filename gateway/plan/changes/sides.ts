// Reads older and newer policies and compares them, for `sundial diff` and `check --against`.
import { dirname, resolve } from 'node:path';
import type { EpochMs } from '../../policy/contract.ts';
import type { PolicyView } from '../../sections/view.ts';
import { checkContextOfView } from '../check/views.ts';
import {
  type Context,
  contextOf,
  documentOf,
  type Policies,
  type PolicySource,
  readGateway,
  readPolicies,
} from '../load-documents.ts';
import { hasErrors, type Problem, sortProblems } from '../problems.ts';
import { type CurrentOptions, currentPoliciesOfViews } from '../published/current-policies.ts';
import { rewrittenSince } from '../published/rewritten-since.ts';
import { withoutOutside } from '../read/concealed.ts';
import { filesIn, findFiles } from '../read/files.ts';
import type { Environment } from '../read/interpolate.ts';
import { type Change, compareFacts } from './compare.ts';
import { factsOf } from './policy-facts.ts';

export interface SidesOptions {
  /** A file, or a folder with its subfolders. */
  readonly older: string;
  /** Undefined: the policies of the gateway file. */
  readonly newer: string | undefined;
  readonly configFile: string;
  readonly environment: Environment;
  /** Lifecycle time. Versions released by then were published. */
  readonly now: EpochMs;
  readonly cwd?: string;
}

export type Comparison =
  /** A side could not be read as a whole. Problems of both sides. */
  | { readonly kind: 'unread'; readonly problems: readonly Problem[] }
  | {
      readonly kind: 'compared';
      readonly changes: readonly Change[];
      /** Errors of the newer side, warnings that the older side does not have, and changes of published facts. */
      readonly findings: readonly Problem[];
      readonly newer: readonly PolicySource[];
    };

/** Does not throw for the contents of files. */
export async function comparePolicies(options: SidesOptions): Promise<Comparison> {
  const { configFile, environment, now, cwd } = options;
  const context = contextOf({ configFile, environment, now, ...(cwd !== undefined && { cwd }) });
  const newer =
    options.newer === undefined ? await policiesOfGateway(context) : await filesOf(context, options.newer);
  if ('problems' in newer) return { kind: 'unread', problems: newer.problems };
  const older = await filesOf(context, options.older);
  const [before, after] = [await readSide(context, older), await readSide(context, newer)];
  const unread = [...preventingErrors(before), ...preventingErrors(after)];
  if (unread.length > 0) return { kind: 'unread', problems: sortProblems(unread) };
  if (older.kind !== newer.kind) {
    const one = older.kind === 'file' ? older : newer;
    const why = 'the other side is a folder: compare two files, or two folders';
    return { kind: 'unread', problems: documentOf(context, one.at, { kind: 'unreadable', why }).problems };
  }
  const { view } = await readGateway(context);
  const rewritten = await rewrittenBy(after.views, before.views, now, {
    complete: true,
    public: view?.parts.public,
  });
  const known = new Set(before.problems.map(keyOf));
  const fresh = after.problems.filter(
    (problem) => problem.severity === 'error' || !known.has(keyOf(problem)),
  );
  return {
    kind: 'compared',
    changes: compareFacts(before.sources.map(factsOf), after.sources.map(factsOf)).map((change) => ({
      ...change,
      ...(change.from !== undefined && { from: withoutOutside(change.from, context.outside) }),
      ...(change.to !== undefined && { to: withoutOutside(change.to, context.outside) }),
    })),
    findings: sortProblems([...fresh, ...rewritten]),
    newer: after.sources,
  };
}

export interface AgainstOptions extends CurrentOptions {
  readonly folder: string;
  readonly views: readonly PolicyView[];
}

/**
 * Finds the published facts of an older folder that `views` change. Of the folder's own problems, it returns only
 * those that prevent the comparison.
 */
export async function compareWithFolder(
  context: Context,
  { folder, views, ...options }: AgainstOptions,
): Promise<readonly Problem[]> {
  const side = await filesOf(context, folder);
  if (side.kind === 'file')
    return documentOf(context, side.at, { kind: 'unreadable', why: 'this is not a folder' }).problems;
  const older = await readSide(context, side);
  return [
    ...older.problems.filter(isUnread),
    ...(await rewrittenBy(views, older.views, context.now, options)),
  ];
}

async function rewrittenBy(
  newer: readonly PolicyView[],
  older: readonly PolicyView[],
  now: EpochMs,
  options: CurrentOptions,
): Promise<readonly Problem[]> {
  const today = currentPoliciesOfViews(newer, options);
  const problems: Problem[] = [];
  for (const view of older) {
    const { api } = view.parts;
    if (api === undefined) continue;
    const rewritten = await rewrittenSince({ api, view, former: [] }, today, now);
    problems.push(...rewritten.problems);
  }
  return problems;
}

interface Side {
  readonly kind: 'file' | 'folder';
  /** Absolute. */
  readonly at: string;
  readonly files: readonly string[];
}

async function filesOf(context: Context, path: string): Promise<Side> {
  const at = resolve(context.cwd, path);
  const files = await filesIn(at);
  return files === undefined ? { kind: 'file', at, files: [at] } : { kind: 'folder', at, files };
}

/** The policies of the gateway file, or the errors that prevent finding them. */
async function policiesOfGateway(
  context: Context,
): Promise<Side | { readonly problems: readonly Problem[] }> {
  const { problems, view } = await readGateway(context);
  const pattern = view?.parts.policies;
  if (pattern === undefined) return { problems: problems.filter((problem) => hasErrors([problem])) };
  const { files } = await findFiles([resolve(dirname(context.configFile), pattern)]);
  return { kind: 'folder', at: context.configFile, files };
}

async function readSide(context: Context, { at, files }: Side): Promise<Policies> {
  if (files.length === 0) {
    const why = 'no policy file in this folder';
    const { problems } = documentOf(context, at, { kind: 'unreadable', why });
    return { problems, sources: [], views: [], files: [], descriptions: [] };
  }
  const checkContext = checkContextOfView(undefined, context.now);
  return readPolicies(context, files, checkContext);
}

/** The errors that prevent a comparison. Other errors do not. */
function preventingErrors({ problems, sources, views }: Policies): readonly Problem[] {
  return problems.some(isUnread) || sources.length < views.length
    ? problems.filter((problem) => hasErrors([problem]))
    : [];
}

function isUnread({ rule }: Problem): boolean {
  return rule === 'unreadable' || rule === 'syntax';
}

/** Without the position, which changes when lines are added above. */
function keyOf({ rule, message }: Problem): string {
  return `${rule}\n${message}`;
}
