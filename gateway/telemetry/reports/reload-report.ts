// Reports a reload: its outcome, and a log line for each problem.
import { countProblems, headline, type Problem } from '../../plan/problems.ts';
import type { Quarantined } from '../../plan/reload/settle.ts';
import type { MonotonicMs } from '../../policy/contract.ts';
import type { Telemetry } from '../telemetry.ts';

export interface ReloadReport {
  /** A load begins. One of the other functions reports its result. */
  readonly onBegun: () => void;
  /** `quarantined`: APIs whose refused files have the problems. */
  readonly onAccepted: (
    revision: string,
    problems: readonly Problem[],
    quarantined?: readonly Quarantined[],
  ) => void;
  /** Also called at the start. */
  readonly onQuarantined: (quarantined: readonly Quarantined[]) => void;
  readonly onRejected: (problems: readonly Problem[]) => void;
  readonly onUnchanged: () => void;
  readonly onRestartNeeded: () => void;
  readonly onFault: (error: unknown) => void;
}

const REJECTED = 'policies not reloaded';
const REFUSED = 'policy file refused';
const QUARANTINED =
  'policy quarantined: the file is refused, and the last accepted form of the API is served';
const LEFT_OUT = 'policy left out: the file is refused, and the API has no accepted form that can be served';
const SPARE = 'policy file left out: it is refused, and another file serves its API';
const MAX_LINES = 100;
const RESTART = 'the gateway file changed; restart to apply it';
const RESTORED = 'policy files match the plan in force again';

/** `tell`: prints a line for each outcome that the author of the files needs. `monotonic`: milliseconds. */
export function createReloadReport(
  { logger, metrics }: Pick<Telemetry, 'logger' | 'metrics'>,
  printLine: (line: string) => void = () => undefined,
  monotonic: () => MonotonicMs = () => performance.now(),
): ReloadReport {
  let failed = false;
  let begunAt = monotonic();
  const record = (result: 'success' | 'failure') => {
    failed = result === 'failure';
    metrics.reload(result, monotonic() - begunAt);
  };
  /** Bounded, because thousands of lines at once would delay all requests. */
  const logEach = (problems: readonly Problem[], log: (problem: Problem) => void) => {
    for (const problem of problems.slice(0, MAX_LINES)) log(problem);
    const left = problems.slice(MAX_LINES);
    if (left.length > 0) logger.warn(`${countProblems(left)} more; sundial check lists all`);
  };
  const onQuarantined: ReloadReport['onQuarantined'] = (quarantined) => {
    metrics.quarantine(quarantined);
    for (const { isServed, isSpare, ...refused } of quarantined)
      logger.error(isServed ? QUARANTINED : isSpare ? SPARE : LEFT_OUT, refused);
  };
  return {
    onBegun: () => {
      begunAt = monotonic();
    },
    onAccepted: (revision, problems, quarantined = []) => {
      record(quarantined.length === 0 ? 'success' : 'failure');
      logger.info(quarantined.length === 0 ? 'policies reloaded' : 'policies reloaded in part', { revision });
      const [errors, warnings] = bySeverity(problems);
      logEach(errors, (problem) => logger.error(`${REFUSED}: ${sentence(problem)}`, placeOf(problem)));
      logEach(warnings, (problem) =>
        logger.warn(`policies reloaded, with a warning: ${sentence(problem)}`, placeOf(problem)),
      );
      printLine(`policies reloaded${quarantined.length === 0 ? '' : ' in part'}${others(problems)}`);
      onQuarantined(quarantined);
    },
    onQuarantined,
    onRejected: (problems) => {
      record('failure');
      const [errors] = bySeverity(problems);
      logEach(errors, (problem) => logger.error(`${REJECTED}: ${sentence(problem)}`, placeOf(problem)));
      const [first, ...more] = errors;
      if (first !== undefined) printLine(`${REJECTED}: ${headline(first)}${others(more)}`);
    },
    onUnchanged: () => {
      // If a file failed and now matches the plan in use again, this ends the alarm.
      const wasFailed = failed;
      record('success');
      logger.info(wasFailed ? RESTORED : 'policy files unchanged, nothing to reload');
      if (wasFailed) printLine(RESTORED);
    },
    onRestartNeeded: () => {
      logger.warn(RESTART);
      printLine(RESTART);
    },
    onFault: (error) => {
      record('failure');
      logger.error(REJECTED, { error });
      printLine(`${REJECTED}; the log has the error`);
    },
  };
}

function bySeverity(problems: readonly Problem[]): readonly [readonly Problem[], readonly Problem[]] {
  const isError = ({ severity }: Problem) => severity === 'error';
  return [problems.filter(isError), problems.filter((problem) => !isError(problem))];
}

function sentence({ message, hint }: Problem): string {
  return hint === undefined ? message : `${message} (${hint})`;
}

function placeOf({ file, line, column }: Problem): Pick<Problem, 'file' | 'line' | 'column'> {
  return { file, line, column };
}

function others(problems: readonly Problem[]): string {
  return problems.length === 0 ? '' : ` (and ${countProblems(problems)}, see the log)`;
}
