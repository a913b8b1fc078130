// What operators learn of a reload: one log line for each thing wrong, and the metrics that say whether the last one held.
// Handed to the watcher of the policy files by gateway.ts.
import type { Problem } from '../plan/problems.ts';
import type { Telemetry } from './telemetry.ts';

export interface ReloadReport {
  readonly accepted: (revision: string) => void;
  /** The plan in force stays. */
  readonly onRejected: (problems: readonly Problem[]) => void;
  readonly onUnchanged: () => void;
  readonly onRestartNeeded: () => void;
  readonly onFault: (error: unknown) => void;
}

export function createReloadReport({ logger, metrics }: Pick<Telemetry, 'logger' | 'metrics'>): ReloadReport {
  return {
    accepted: (revision) => {
      metrics.reload('success');
      logger.info('policies reloaded', { revision });
    },
    onRejected: (problems) => {
      metrics.reload('failure');
      for (const { file, line, column, severity, message } of problems) {
        if (severity === 'error') logger.error(`policies not reloaded: ${message}`, { file, line, column });
      }
    },
    // Files that again say what is in force end the alarm that a bad version of them raised.
    onUnchanged: () => metrics.reload('success'),
    onRestartNeeded: () => logger.warn('the gateway file changed; restart to apply it'),
    onFault: (error) => {
      metrics.reload('failure');
      logger.error('policies not reloaded', { error });
    },
  };
}
