// Files to Settings and GatewayPlan: read, check everything at once, compile only when nothing is wrong.
// Called at start, by `check`, and by every reload.
import { dirname, resolve } from 'node:path';
import { compareWithPast } from './against.ts';
import { surroundingsOf, surroundingsOfView } from './check/views.ts';
import { compilePlan } from './compile/plan.ts';
import { compileSettings } from './compile/settings.ts';
import {
  contextOf,
  documentOf,
  type LoadOptions,
  nothingMatched,
  type Policies,
  type PolicySource,
  readGateway,
  readPolicies,
} from './load-documents.ts';
import type { GatewayPlan } from './plan.ts';
import { hasErrors, type Problem, sortProblems } from './problems.ts';
import type { SourceDocument } from './read/document.ts';
import { digest, findFiles, tryRead } from './read/files.ts';
import type { Settings } from './settings.ts';

export interface Loaded {
  /** By file and position. */
  readonly problems: readonly Problem[];
  /** All of these are present unless a problem is an error. */
  readonly settings?: Settings;
  readonly plan?: GatewayPlan;
  readonly sources?: Sources;
  /** To be compared with what was published before. */
  readonly policies?: Policies;
  /** Absolute paths of every document that was looked for. */
  readonly files: readonly string[];
}

/** Nothing is wrong with the files. */
export type Whole = Required<Loaded>;

export function isWhole(loaded: Loaded): loaded is Whole {
  return loaded.plan !== undefined;
}

/** The documents that a plan was made of: for who must say where something is written. No request needs them. */
export interface Sources {
  readonly gateway: SourceDocument;
  readonly policies: readonly PolicySource[];
}

export interface LoadedPlan {
  readonly problems: readonly Problem[];
  readonly plan?: GatewayPlan;
  /** Present with the plan. */
  readonly policies?: Policies;
  /** Absolute paths of the descriptions that the policies name. */
  readonly descriptions: readonly string[];
  /** The gateway file is not what the settings were made of. */
  readonly restartNeeded: boolean;
}

export interface LoadAllOptions extends LoadOptions {
  /** Instead of what the gateway file's pattern would find. */
  readonly policyFiles?: readonly string[];
  /** Folder of policies published earlier, to compare with. */
  readonly against?: string | undefined;
}

/** Everything from the files. */
export async function loadAll(options: LoadAllOptions): Promise<Loaded> {
  const context = contextOf(options);
  const gateway = await readGateway(context);
  const { view } = gateway;
  const pattern = view?.parts.policies;
  const patterns = pattern === undefined ? [] : [resolve(dirname(context.configFile), pattern)];
  const policyFiles =
    options.policyFiles?.map((file) => resolve(context.cwd, file)) ?? (await findFiles(patterns));
  const unmatched =
    view?.parts.policies === undefined || policyFiles.length > 0 ? [] : [nothingMatched(view.document)];
  const policies = await readPolicies(context, policyFiles, surroundingsOfView(view, options.now));
  const rewritten =
    options.against === undefined
      ? []
      : await compareWithPast(context, {
          folder: options.against,
          views: policies.views,
          complete: options.policyFiles === undefined,
        });
  const problems = sortProblems([...gateway.problems, ...unmatched, ...policies.problems, ...rewritten]);
  const files = [context.configFile, ...policyFiles];
  if (hasErrors(problems) || gateway.whole === undefined) return { problems, files };
  const settings = compileSettings(gateway.whole, { ...context, revision: gateway.revision });
  const sources = { gateway: gateway.document, policies: policies.sources };
  return { problems, files, settings, plan: planOf(settings, policies), sources, policies };
}

/** The plan alone, for settings that stay: what a reload does. */
export async function loadPlan(options: LoadOptions & { readonly settings: Settings }): Promise<LoadedPlan> {
  const { settings, now } = options;
  const context = contextOf(options);
  const gateway = await tryRead(context.configFile, context.readFile);
  const restartNeeded = gateway.kind === 'read' && digest([gateway.bytes]) !== settings.revision;
  const policyFiles = await findFiles(settings.policies);
  const unmatched =
    policyFiles.length > 0 ? [] : [nothingMatched(documentOf(context, context.configFile, gateway))];
  const policies = await readPolicies(context, policyFiles, surroundingsOf(settings, now));
  const problems = sortProblems([...unmatched, ...policies.problems]);
  const { descriptions } = policies;
  return hasErrors(problems)
    ? { problems, restartNeeded, descriptions }
    : { problems, restartNeeded, descriptions, plan: planOf(settings, policies), policies };
}

function planOf(settings: Settings, { sources, bytes }: Policies): GatewayPlan {
  return compilePlan({
    settings,
    policies: sources.map(({ file }) => file),
    revision: digest([settings.revision, ...bytes]),
  });
}
