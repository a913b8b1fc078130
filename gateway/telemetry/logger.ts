// The logger: JSON lines for everything that is not a request. Handed to the parts by the composition root.
// Fields come from a closed list, so that a secret needs a change here before it can be written.
import { pino } from 'pino';
import type { EpochMs } from '../policy/contract.ts';
import { asciiJson } from './json-text.ts';
import type { LogSink } from './log-sink.ts';
import { redactSecrets, summariseError } from './redact.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

const FIELDS = [
  'request_id',
  'api',
  'version',
  'upstream',
  'identity',
  'store',
  'listener',
  'address',
  'revision',
  'file',
  'line',
  'column',
  'reason',
  'fault',
  'signal',
] as const;

export type LogFields = {
  readonly [name in (typeof FIELDS)[number]]?: string | number | boolean | undefined;
} & {
  /** Whatever was thrown; written as code, message and the codes of its causes. */
  readonly error?: unknown;
};

type Log = (message: string, fields?: LogFields) => void;

export interface Logger {
  readonly debug: Log;
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
  readonly fatal: Log;
}

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly sink: LogSink;
  readonly wallClock: () => EpochMs;
}

export function createLogger({ level, sink, wallClock }: LoggerOptions): Logger {
  const lines = pino(
    {
      level,
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
    (name: Exclude<LogLevel, 'silent'>): Log =>
    (message, fields = {}) => {
      if (lines.isLevelEnabled(name)) lines[name](allowed(fields), redactSecrets(message));
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error'), fatal: at('fatal') };
}

/** Only the listed fields: a caller that hands over a wider object does not widen the log. */
function allowed(fields: LogFields): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of FIELDS) {
    const value = fields[name];
    if (value !== undefined) kept[name] = typeof value === 'string' ? redactSecrets(value) : value;
  }
  if (fields.error !== undefined) kept.error = summariseError(fields.error);
  return kept;
}
