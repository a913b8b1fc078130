// The `log_level` key of gateway.yaml: which messages stand in the log.
import { z } from 'zod';

/** From the most lines to the fewest. */
export const LOG_LEVELS = ['info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const WRITTEN_LOG_LEVEL: LogLevel = 'info';

export function isLogLevel(text: string): text is LogLevel {
  return LOG_LEVELS.some((level) => level === text);
}

export const logLevelSection = z.enum(LOG_LEVELS).meta({
  description: `Messages below this level are left out of the log; the admin API changes it at run time. Access lines and the audit stand there at every level. Default ${WRITTEN_LOG_LEVEL}.`,
});
