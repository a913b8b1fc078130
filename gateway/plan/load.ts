// Loads Settings and GatewayPlan from the files: reads and checks everything, compiles only without errors.
import { dirname, resolve } from 'node:path';
import { atOnce } from '../system/time-slices.ts';
import { compareWithFolder } from './changes/sides.ts';
import { checkContextOfView } from './check/views.ts';
import { compileApi, planSteps } from './compile/plan.ts';
import { compileSettings } from './compile/settings.ts';
import {
  contextOf,
  type LoadOptions,
  type Policies,
  type PolicySource,
  type ReadGateway,
  readGateway,
  readPolicies,
} from './load-documents.ts';
import type { GatewayPlan } from './plan.ts';
import { hasErrors, type Problem, sortProblems } from './problems.ts';
import type { SourceDocument } from './read/document.ts';
import { digest, findFiles, type ReadFile, readAtOnce, readCapped, tryRead } from './read/files.ts';
import { nothingMatched } from './read/unreadable.ts';
import { keepsFiles, type PlanPiece, revisionOf } from './reload/pieces.ts';
import type { Settings } from './settings.ts';

export interface Loaded {
  readonly problems: readonly Problem[];
  /** `settings` and `gateway` are present if the gateway file has no errors. */
  readonly settings?: Settings;
  readonly gateway?: ReadGateway;
  /** `plan`, `pieces`, `sources` and `policies` are present if no problem is an error. */
  readonly plan?: GatewayPlan;
  readonly pieces?: readonly PlanPiece[];
  readonly sources?: PlanSources;
  readonly policies?: Policies;
  /** Absolute paths of the gateway file and the policy files. */
  readonly files: readonly string[];
  /** Whether the files are unchanged since they were read. Call it at most once. */
  readonly isCurrent: () => Promise<boolean>;
}

/** No file has errors. */
export type LoadedPlan = Required<Loaded>;

/** The gateway file has no errors. Policies may have some. */
export type LoadedSettings = Loaded & Required<Pick<Loaded, 'settings' | 'gateway'>>;

export function hasSettings(loaded: Loaded): loaded is LoadedSettings {
  return loaded.settings !== undefined;
}

export function hasPlan(loaded: Loaded): loaded is LoadedPlan {
  return loaded.plan !== undefined;
}

/** The documents of a plan, for messages with positions. No request uses them. */
export interface PlanSources {
  readonly gateway: SourceDocument;
  readonly policies: readonly PolicySource[];
}

export interface LoadAllOptions extends LoadOptions {
  /** Replaces the pattern of the gateway file. */
  readonly policyFiles?: readonly string[];
  /** Folder of the policies published earlier, to compare with. */
  readonly against?: string | undefined;
}

export async function loadAll(options: LoadAllOptions): Promise<Loaded> {
  const reads = rememberReads(options.readFile ?? readAtOnce);
  const context = contextOf({ ...options, readFile: reads.readFile });
  const gateway = await readGateway(context);
  const { view } = gateway;
  const pattern = view?.parts.policies;
  const patterns = pattern === undefined ? [] : [resolve(dirname(context.configFile), pattern)];
  const { files: policyFiles, why } =
    options.policyFiles === undefined
      ? await findFiles(patterns)
      : { files: options.policyFiles.map((file) => resolve(context.cwd, file)), why: undefined };
  const unmatched =
    view?.parts.policies === undefined || policyFiles.length > 0
      ? []
      : [nothingMatched(context, view.document, why)];
  const policies = await readPolicies(context, policyFiles, checkContextOfView(view, options.now));
  const rewritten =
    options.against === undefined
      ? []
      : await compareWithFolder(context, {
          folder: options.against,
          views: policies.views,
          complete: options.policyFiles === undefined,
          public: view?.parts.public,
        });
  const problems = sortProblems([...gateway.problems, ...unmatched, ...policies.problems, ...rewritten]);
  const files = [context.configFile, ...policyFiles];
  const isCurrent = () => reads.stillHold(patterns);
  if (hasErrors(gateway.problems) || gateway.whole === undefined) return { problems, files, isCurrent };
  const settings = compileSettings(gateway.whole, { ...context, revision: gateway.revision });
  if (hasErrors(problems)) return { problems, files, isCurrent, settings, gateway };
  const sources = { gateway: gateway.document, policies: policies.sources };
  const pieces = policies.sources.map(
    ({ file, digest, files }): PlanPiece => ({
      digest,
      files,
      api: compileApi(file, settings),
      file: keepsFiles(settings) ? file : undefined,
    }),
  );
  const plan = atOnce(
    planSteps({
      settings,
      apis: pieces.map(({ api }) => api),
      revision: revisionOf(
        settings.revision,
        pieces.map((piece) => piece.digest),
      ),
    }),
  );
  return { problems, files, isCurrent, settings, gateway, plan, pieces, sources, policies };
}

interface ReadState {
  readonly mostBytes: number | undefined;
  readonly digest: string | undefined;
}

/** Records digests of what is read, to detect changes later without parsing. */
function rememberReads(readFile: ReadFile) {
  const known = new Map<string, ReadState>();
  // Asynchronous reads: requests are served meanwhile.
  const digestOf = async (path: string, mostBytes?: number): Promise<string | undefined> => {
    const read = await tryRead(path, readCapped, mostBytes);
    return read.kind === 'read' ? digest([read.bytes]) : undefined;
  };
  return {
    readFile: async (path: string, mostBytes?: number): Promise<Uint8Array> => {
      known.set(path, { mostBytes, digest: undefined });
      const bytes = await readFile(path, mostBytes);
      known.set(path, { mostBytes, digest: digest([bytes]) });
      return bytes;
    },
    /** Whether every file is unchanged and `patterns` match no other file. Call it at most once. */
    stillHold: async (patterns: readonly string[]): Promise<boolean> => {
      const { files } = await findFiles(patterns);
      if (!files.every((file) => known.has(file))) return false;
      for (const [path, found] of known)
        if ((await digestOf(path, found.mostBytes)) !== found.digest) return false;
      known.clear();
      return true;
    },
  };
}
