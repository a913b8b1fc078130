// Watches the policy files and builds a new plan from them; whoever holds the current plan is told only of whole ones.
// One load runs at a time; what changes meanwhile causes exactly one more.
import { dirname, resolve } from 'node:path';
import { watch } from 'chokidar';
import type { EpochMs } from '../policy/contract.ts';
import { loadPlan } from './load.ts';
import type { Policies } from './load-documents.ts';
import type { DescriptionCache } from './openapi/read-descriptions.ts';
import type { GatewayPlan } from './plan.ts';
import { hasErrors, type Problem, sortProblems } from './problems.ts';
import type { PublishedHistory } from './published-history.ts';
import type { ReadFile } from './read/files.ts';
import type { Environment } from './read/interpolate.ts';
import type { Settings } from './settings.ts';

export interface WatchOptions {
  readonly settings: Settings;
  /** Revision of the plan in force. */
  readonly revision: string;
  readonly configFile: string;
  readonly environment: Environment;
  /** The lifecycle clock. */
  readonly now: () => EpochMs;
  readonly history: PublishedHistory;
  /** Waited for: what was published is recorded once the plan is in force. */
  readonly onPlan: (
    plan: GatewayPlan,
    warnings: readonly Problem[],
    policies: Policies,
  ) => Promise<void> | void;
  /** The plan in force stays. */
  readonly onRejected: (problems: readonly Problem[]) => void;
  readonly onUnchanged: () => void;
  /** `gateway.yaml` differs from what the settings were made of; said once per change. */
  readonly onRestartNeeded: () => void;
  /** The watch or a load failed by other than the documents' fault; the plan in force stays. */
  readonly onFault: (error: unknown) => void;
  readonly cwd?: string;
  readonly readFile?: ReadFile;
}

export interface PolicyWatch {
  /** Resolves once changes of files are noticed. */
  readonly ready: Promise<void>;
  /** Loads now; resolves when a load that began after this call has ended. */
  readonly reload: () => Promise<void>;
  /** Ends the watch; resolves when no load runs any more, and nothing is told afterwards. */
  readonly close: () => Promise<void>;
}

/** Editors write a file in several steps, and several files in a row. */
const SETTLE_MS = 100;

export function watchPolicies(options: WatchOptions): PolicyWatch {
  let revision = options.revision;
  let restartNeeded = false;
  let closed = false;
  let asked = false;
  let running: Promise<void> | undefined;
  let waiting: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  const descriptions: DescriptionCache = new Map();

  const load = async (onUnchanged: () => void): Promise<void> => {
    const loaded = await loadPlan({ ...options, now: options.now(), descriptions });
    if (closed) return;
    watcher.add([...loaded.descriptions]);
    if (loaded.restartNeeded && !restartNeeded) options.onRestartNeeded();
    restartNeeded = loaded.restartNeeded;
    const { plan, policies } = loaded;
    if (plan === undefined || policies === undefined) return options.onRejected(loaded.problems);
    if (plan.revision === revision) return onUnchanged();
    const rewritten = await options.history.rewritten(policies);
    if (closed) return;
    const problems = sortProblems([...loaded.problems, ...rewritten]);
    if (hasErrors(problems)) return options.onRejected(problems);
    revision = plan.revision;
    await options.onPlan(plan, problems, policies);
    await options.history.record(policies);
  };
  const start = (onUnchanged = options.onUnchanged): Promise<void> => {
    if (closed) return Promise.resolve();
    running = load(onUnchanged)
      .catch(options.onFault)
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const reload = (): Promise<void> => {
    asked = true;
    if (running === undefined) return start();
    // A load under way may have read a file before it changed: one more, shared by all who ask meanwhile.
    waiting ??= running.then(() => {
      waiting = undefined;
      return start();
    });
    return waiting;
  };

  const watcher = watch(
    [...new Set(options.settings.policies.map(folderOf)), resolve(options.cwd ?? '.', options.configFile)],
    {
      ignoreInitial: true,
    },
  );
  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void reload(), SETTLE_MS);
  });
  watcher.on('error', options.onFault);
  const ready = new Promise<void>((resolve) => {
    watcher.once('ready', () => {
      // What was saved between the first load and now made no event; that nothing was is no news, unless a load
      // meanwhile said otherwise.
      void (asked ? reload() : start(() => undefined));
      resolve();
    });
  });

  return {
    ready,
    reload,
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await watcher.close();
      await waiting;
      await running;
    },
  };
}

/** The folder a pattern lies in, up to its first wildcard. */
function folderOf(pattern: string): string {
  let folder = pattern;
  while (/[*?[\]{}!]/.test(folder) || folder === pattern) folder = dirname(folder);
  return folder;
}
