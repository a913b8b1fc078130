// Watches the policy files and replaces the plan when they change.
import { resolve } from 'node:path';
import { watch } from 'chokidar';
import { checkContextOf } from '../check/views.ts';
import type { ReadSummary } from '../loader-thread/reader-contract.ts';
import { createThreadReader } from '../loader-thread/thread-reader.ts';
import { type Problem, sortProblems } from '../problems.ts';
import { isAboutPublished } from '../published/comparison.ts';
import { folderOf } from '../read/file-pattern.ts';
import type { FirstPlan } from './first-plan.ts';
import { allProblems, makeNextPlan } from './next-plan.ts';
import { keepsFiles } from './pieces.ts';
import { judge, type LoadVerdict } from './verdict.ts';
import type { LastLoad, PolicyWatch, ReloadOutcome, WatchOptions } from './watch-contract.ts';

/** Milliseconds without events before a reload: editors write a file in several steps. */
const SETTLE_MS = 100;

export function watchPolicies(options: WatchOptions, first: FirstPlan): PolicyWatch {
  const { settings, history } = options;
  const cwd = options.cwd ?? process.cwd();
  let { revision, rewritten, pieces, quarantined } = first;
  let since = options.wallClock();
  let restartNeeded = false;
  let last: LastLoad | undefined;
  let closed = false;
  let reloadRequested = false;
  let running: Promise<ReloadOutcome> | undefined;
  let waiting: Promise<ReloadOutcome> | undefined;
  let queueEnd = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const open = options.openReader ?? createThreadReader;
  const reader = open({
    configFile: resolve(cwd, options.configFile),
    settingsRevision: settings.revision,
    patterns: settings.policies,
    checkContext: checkContextOf(settings),
    environment: options.environment,
    cwd,
  });

  const outcome = (kind: ReloadOutcome['kind'], problems: readonly Problem[] = []): ReloadOutcome => ({
    kind,
    revision,
    since,
    problems,
    restartNeeded,
    quarantined,
  });
  /** The reader takes one request at a time. */
  const enqueue = <T>(task: () => Promise<T>): Promise<T> => {
    const queued = queueEnd.then(task);
    queueEnd = queued.then(reader.endLoad, reader.endLoad);
    return queued;
  };
  const rejected = (problems: readonly Problem[]): ReloadOutcome => {
    if (!closed) options.onRejected(problems);
    return outcome('rejected', problems);
  };
  const read = async (): Promise<ReadSummary> => {
    const summary = await reader.read(options.now());
    if (closed) return summary;
    watcher.add([...summary.descriptions]);
    if (summary.restartNeeded && !restartNeeded) options.onRestartNeeded();
    restartNeeded = summary.restartNeeded;
    return summary;
  };
  const judged = (summary: ReadSummary): Promise<LoadVerdict> =>
    judge(reader, summary, {
      now: options.now(),
      history,
      standsIn: quarantined.length > 0,
      partial: settings.start === 'partial',
      isStart: false,
    });
  const load = async (onUnchanged: () => void): Promise<ReloadOutcome> => {
    const summary = await read();
    if (closed) return outcome('failed');
    const isSame = summary.revision === revision && quarantined.length === 0;
    if (isSame && !history.isBehind()) {
      const problems = await allProblems(reader, summary.problems);
      if (!closed) onUnchanged();
      return outcome('unchanged', sortProblems([...problems, ...rewritten]));
    }
    const verdict = await judged(summary);
    const { problems } = verdict;
    if (verdict.kind === 'refused') return rejected(problems);
    if (isSame) {
      rewritten = problems.filter(isAboutPublished);
      await history.record(summary, history.inForce(), verdict.former);
      if (!closed) onUnchanged();
      return outcome('unchanged', problems);
    }
    if (verdict.revision === revision && verdict.quarantined.length > 0) {
      // The plan in force has the accepted form of the refused file already.
      ({ quarantined } = verdict);
      if (!closed) options.onQuarantined(quarantined);
      return rejected(problems);
    }
    const next = await makeNextPlan(reader, verdict, pieces, { settings, keepsFiles: keepsFiles(settings) });
    if (closed) return outcome('failed');
    ({ pieces } = next);
    ({ revision } = next.plan);
    ({ quarantined } = verdict);
    rewritten = problems.filter(isAboutPublished);
    await options.onPlan(next.plan, problems, pieces, quarantined);
    since = options.wallClock();
    const files = pieces.flatMap((piece) => piece.files);
    await history.record(summary, files, verdict.former, verdict);
    return outcome('accepted', problems);
  };
  const start = (onUnchanged = options.onUnchanged): Promise<ReloadOutcome> => {
    if (closed) return Promise.resolve(outcome('failed'));
    options.onBegun();
    running = enqueue(() => load(onUnchanged))
      .catch((error: unknown) => {
        if (!closed) options.onFault(error);
        return outcome('failed');
      })
      .then((ended) => {
        last = { at: options.wallClock(), outcome: ended };
        return ended;
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const reload = (): Promise<ReloadOutcome> => {
    reloadRequested = true;
    if (running === undefined) return start();
    // The running load may have read a file before it changed. All callers that wait share one more load.
    waiting ??= running.then(() => {
      waiting = undefined;
      return start();
    });
    return waiting;
  };

  /**
   * Detects files saved between the first load and the start of the watcher. The thread of the reader takes 40 MB, so
   * it is not started for unchanged files. Reports an unchanged result only if a reload was requested meanwhile.
   */
  const checkForMissedChanges = async (): Promise<void> => {
    const { asRead } = first;
    if (asRead !== undefined) watcher.add([...asRead.descriptions]);
    const isCurrent = asRead !== undefined && (await enqueue(asRead.isCurrent));
    if (closed || reloadRequested) return;
    if (isCurrent) last = { at: options.wallClock(), outcome: outcome('unchanged', asRead.problems) };
    else await start(() => undefined);
  };

  const preview = (): Promise<readonly Problem[]> =>
    enqueue(async () => {
      if (closed) throw new Error('the watch of the policies is closed');
      return (await judged(await read())).problems;
    });

  const watcher = watch([...new Set(settings.policies.map(folderOf)), resolve(cwd, options.configFile)], {
    ignoreInitial: true,
  });
  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(() => void reload(), SETTLE_MS);
  });
  watcher.on('error', options.onFault);
  const ready = new Promise<void>((resolve) => {
    watcher.once('ready', () => {
      void (reloadRequested ? reload() : checkForMissedChanges());
      resolve();
    });
  });

  return {
    ready,
    reload,
    preview,
    last: () => last,
    quarantined: () => quarantined,
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await reader.close();
      await watcher.close();
      await waiting;
      await running;
      await queueEnd;
    },
  };
}
