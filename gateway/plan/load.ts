// Files to Settings and GatewayPlan: read, check everything at once, compile only when nothing is wrong.
// Called at start, by `check`, and by every reload.
import { dirname, resolve } from 'node:path';
import { compilePlan } from './compile.ts';
import { digest, findFiles, tryRead } from './files.ts';
import {
  contextOf,
  documentOf,
  type LoadOptions,
  nothingMatched,
  type Policies,
  readGateway,
  readPolicies,
} from './load-documents.ts';
import type { GatewayPlan } from './plan.ts';
import { hasErrors, type Problem, sortProblems } from './problems.ts';
import type { Settings } from './settings.ts';
import { compileSettings } from './settings-compile.ts';
import { surroundingsOf, surroundingsOfView } from './views.ts';

export interface Loaded {
  /** By file and position. */
  readonly problems: readonly Problem[];
  /** Both present unless a problem is an error. */
  readonly settings?: Settings;
  readonly plan?: GatewayPlan;
  /** Absolute paths of every document that was looked for. */
  readonly files: readonly string[];
}

export interface LoadedPlan {
  readonly problems: readonly Problem[];
  readonly plan?: GatewayPlan;
  /** The gateway file is not what the settings were made of. */
  readonly restartNeeded: boolean;
}

/** Everything from the files. `policyFiles` replaces what the gateway file's pattern would find. */
export async function loadAll(
  options: LoadOptions & { readonly policyFiles?: readonly string[] },
): Promise<Loaded> {
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
  const problems = sortProblems([...gateway.problems, ...unmatched, ...policies.problems]);
  const files = [context.configFile, ...policyFiles];
  if (hasErrors(problems) || gateway.whole === undefined) return { problems, files };
  const settings = compileSettings(gateway.whole, { ...context, revision: gateway.revision });
  return { problems, files, settings, plan: planOf(settings, policies) };
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
  return hasErrors(problems)
    ? { problems, restartNeeded }
    : { problems, restartNeeded, plan: planOf(settings, policies) };
}

function planOf(settings: Settings, { wholes, bytes }: Policies): GatewayPlan {
  return compilePlan({ settings, policies: wholes, revision: digest([settings.revision, ...bytes]) });
}
