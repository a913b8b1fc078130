// The logger: JSON lines for everything that is not a request, the audit trail of the admin listener among them.
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
  /** Whatever was thrown; written as code, message and the codes of its causes. */
  readonly error?: unknown;
  readonly audit?: AuditEntry;
};

/** A write through the admin listener. Free text in it is the operator's; it is written as JSON, on one line. */
export interface AuditEntry {
  readonly action: string;
  /** Address it came from. */
  readonly from: string;
  readonly subject?: string | undefined;
  /** As they say themselves: the token is the same for everyone. */
  readonly by?: string | undefined;
  readonly why?: string | undefined;
  /** What stood there, and what stands there now; undefined for nothing. */
  readonly before?: AuditState | undefined;
  readonly after?: AuditState | undefined;
}

export type AuditState = Readonly<Record<string, string | undefined>>;

type Log = (message: string, fields?: LogFields) => void;

export interface Logger {
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
  readonly fatal: Log;
}

export interface LevelledLogger extends Logger {
  /** Messages below it are left out, the audit never. */
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

/** Only the listed fields: a caller that hands over a wider object does not widen the log. */
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
    Object.entries(state).map(([name, text]) => [name, text === undefined ? text : redactSecrets(text)]),
  );
}

export type AdminWriteOutcome =
  | 'done'
  /** What was asked for is malformed, unknown, or not possible as things stand. */
  | 'refused'
  /** Without the token, or from a page elsewhere. */
  | 'unauthorised'
  /** The store was away. */
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
