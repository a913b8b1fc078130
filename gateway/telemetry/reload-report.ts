// What operators learn of a reload: its outcome, one log line for each problem, and whether the last one held.
// Handed to the watcher of the policy files by gateway.ts.
import type { Problem } from '../plan/problems.ts';
import type { Telemetry } from './telemetry.ts';

export interface ReloadReport {
  readonly onAccepted: (revision: string, warnings: readonly Problem[]) => void;
  /** The plan in force stays. */
  readonly onRejected: (problems: readonly Problem[]) => void;
  readonly onUnchanged: () => void;
  readonly onRestartNeeded: () => void;
  readonly onFault: (error: unknown) => void;
}

export function createReloadReport({ logger, metrics }: Pick<Telemetry, 'logger' | 'metrics'>): ReloadReport {
  return {
    onAccepted: (revision, warnings) => {
      metrics.reload('success');
      logger.info('policies reloaded', { revision });
      for (const { file, line, column, message } of warnings) {
        logger.warn(`policies reloaded, with a warning: ${message}`, { file, line, column });
      }
    },
    onRejected: (problems) => {
      metrics.reload('failure');
      for (const { file, line, column, severity, message } of problems) {
        if (severity === 'error') logger.error(`policies not reloaded: ${message}`, { file, line, column });
      }
    },
    onUnchanged: () => {
      // Files that again say what is in force end the alarm that a bad version of them raised.
      metrics.reload('success');
      logger.info('policies read again: nothing changed');
    },
    onRestartNeeded: () => logger.warn('the gateway file changed; restart to apply it'),
    onFault: (error) => {
      metrics.reload('failure');
      logger.error('policies not reloaded', { error });
    },
  };
}
