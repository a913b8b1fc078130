// The logger: JSON lines for all but requests, with the audit trail of the admin listener.
import { pino } from 'pino';
import { LOG_LEVELS, type LogLevel } from '../../plan/grammar/logs-section.ts';
import type { EpochMs } from '../../policy/contract.ts';
import type { ProcessState } from '../reports/process-state.ts';
import { redactSecrets, summariseError } from './error-summary.ts';
import { asciiJson } from './line-buffer.ts';
import type { LogSink } from './log-sink.ts';

const FIELDS = [
  'request_id',
  'api',
  'version',
  'upstream',
  'target',
  'identity',
  'store',
  'listener',
  'address',
  'revision',
  'file',
  'line',
  'column',
  'reason',
  'signal',
  'names',
  'expires',
  'freeze',
  'worker',
  'calls',
  'records',
] as const;

export type LogFields = {
  readonly [name in (typeof FIELDS)[number]]?: string | number | boolean | undefined;
} & {
  /** Any thrown value. Written as code, message and the codes of its causes. */
  readonly error?: unknown;
  readonly audit?: AuditEntry;
};

/** A write through the admin listener. Its free text comes from the operator. */
export interface AuditEntry {
  readonly action: string;
  readonly from: string;
  readonly subject?: string | undefined;
  /** The operator's name, as given: all operators have the same token. */
  readonly by?: string | undefined;
  readonly why?: string | undefined;
  /** The state before and after. Undefined: none. */
  readonly before?: AuditState | undefined;
  readonly after?: AuditState | undefined;
}

export type AuditState = Readonly<Record<string, string | number | undefined>>;

type Log = (message: string, fields?: LogFields) => void;

export interface Logger {
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
  readonly fatal: Log;
}

export interface LevelledLogger extends Logger {
  /** Lower messages are omitted, except audit entries. */
  readonly level: () => LogLevel;
  readonly setLevel: (level: LogLevel) => void;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly sink: Pick<LogSink, 'append' | 'flush'>;
  readonly wallClock: () => EpochMs;
}

export function createLogger({ level: first, sink, wallClock }: LoggerOptions): LevelledLogger {
  let current = first;
  const lines = pino(
    {
      base: null,
      messageKey: 'message',
      timestamp: () => `,"time":"${new Date(wallClock()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    {
      write: (line: string) => {
        sink.append(asciiJson(line.trimEnd()));
        sink.flush();
      },
    },
  );
  const at =
    (level: keyof Logger): Log =>
    (message, fields = {}) => {
      const isBelow = level !== 'fatal' && LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(current);
      if (!isBelow || fields.audit !== undefined) lines[level](allowed(fields), redactSecrets(message));
    };
  return {
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    level: () => current,
    setLevel: (level) => {
      current = level;
    },
  };
}

/** Copies listed fields only, so that wider objects do not add members to the log. */
function allowed(fields: LogFields): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of FIELDS) {
    const value = fields[name];
    if (value !== undefined) kept[name] = typeof value === 'string' ? redactSecrets(value) : value;
  }
  if (fields.error !== undefined) kept.error = summariseError(fields.error);
  if (fields.audit !== undefined) kept.audit = auditOf(fields.audit);
  return kept;
}

function auditOf({ action, from, subject, by, why, before, after }: AuditEntry): Record<string, unknown> {
  const states = { before: before && withoutSecrets(before), after: after && withoutSecrets(after) };
  return { ...withoutSecrets({ action, from, subject, by, why }), ...states };
}

function withoutSecrets(state: AuditState): AuditState {
  return Object.fromEntries(
    Object.entries(state).map(([name, value]) => [
      name,
      typeof value === 'string' ? redactSecrets(value) : value,
    ]),
  );
}

export type AdminWriteOutcome =
  | 'done'
  /** The request is malformed, names something unknown, or is not possible in the current state. */
  | 'refused'
  /** Without a valid token, or from a foreign page. */
  | 'unauthorised'
  /** The store is unavailable. */
  | 'unavailable'
  | 'failed';

export type AuditTrail = (outcome: AdminWriteOutcome, entry: AuditEntry) => void;

export function createAuditTrail({
  logger,
  metrics,
}: {
  readonly logger: Logger;
  readonly metrics: Pick<ProcessState, 'adminWrite'>;
}): AuditTrail {
  return (outcome, entry) => {
    metrics.adminWrite(entry.action, outcome);
    const level = outcome === 'unavailable' || outcome === 'failed' ? 'error' : 'info';
    logger[level](`admin write ${outcome}`, { audit: entry });
  };
}
