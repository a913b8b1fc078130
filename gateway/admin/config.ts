// Admin routes for the configuration, reloads, backups and the log level.
import { readLogLevelRequest, readOptionalAuthor } from '../api/admin-requests.ts';
import { type EffectiveConfig, effectiveJson } from '../plan/effective/effective.ts';
import type { LogLevel } from '../plan/grammar/logs-section.ts';
import type { Problem } from '../plan/problems.ts';
import type { LastLoad, ReloadOutcome } from '../plan/reload/watch-contract.ts';
import { type EpochMs, StoreUnavailable } from '../policy/contract.ts';
import { type AdminAnswer, errorAnswer, instantText, jsonAnswer, malformedBody } from './answers.ts';
import type { AdminRequest, AdminRoute, AdminWriteResult } from './route.ts';

export interface ConfigPorts {
  readonly config: () => Promise<EffectiveConfig>;
  readonly reload: () => Promise<ReloadOutcome>;
  readonly preview: () => Promise<readonly Problem[]>;
  readonly lastReload: () => LastLoad | undefined;
  /** Undefined if Redis holds the state. */
  readonly backup: ((at: EpochMs) => Promise<{ readonly file: string; readonly bytes: number }>) | undefined;
  readonly wallClock: () => EpochMs;
  readonly logLevel: {
    /** From the gateway file. */
    readonly configured: LogLevel;
    readonly current: () => LogLevel;
    /** Resolves when all workers use it. */
    readonly set: (level: LogLevel) => Promise<void>;
  };
}

const IN_REDIS = 'The state of this gateway is in Redis. Back up Redis, with BGSAVE or its append-only file.';

export function configRoutes(ports: ConfigPorts): readonly AdminRoute[] {
  const { config, reload, preview, lastReload } = ports;
  return [
    {
      method: 'GET',
      path: '/-/config',
      show: async () => jsonAnswer(200, effectiveJson(await config())),
    },
    { method: 'GET', path: '/-/reload', show: () => jsonAnswer(200, { last: lastBody(lastReload()) }) },
    {
      method: 'GET',
      path: '/-/reload/preview',
      show: async () => jsonAnswer(200, { problems: withoutSource(await preview()) }),
    },
    {
      method: 'POST',
      path: '/-/reload',
      action: 'reload',
      perform: (request) => withAuthor(request, async () => reloaded(await reload())),
    },
    {
      method: 'POST',
      path: '/-/backups',
      action: 'backup',
      perform: (request) => withAuthor(request, () => makeBackup(ports)),
    },
    { method: 'GET', path: '/-/log-level', show: () => jsonAnswer(200, logLevelBody(ports)) },
    {
      method: 'PUT',
      path: '/-/log-level',
      action: 'set_log_level',
      perform: (request) => setLogLevel(ports, request),
    },
  ];
}

async function withAuthor(
  { body }: AdminRequest,
  write: () => Promise<AdminWriteResult>,
): Promise<AdminWriteResult> {
  const read = readOptionalAuthor(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const { answer, audit } = await write();
  return { answer, audit: { ...read.value, ...audit } };
}

function logLevelBody({ logLevel }: ConfigPorts) {
  return { level: logLevel.current(), configured: logLevel.configured };
}

async function setLogLevel(ports: ConfigPorts, { body }: AdminRequest): Promise<AdminWriteResult> {
  const read = readLogLevelRequest(body);
  if (read.kind === 'malformed') return { answer: malformedBody(read.problems), audit: {} };
  const { level, by, why } = read.value;
  const before = { level: ports.logLevel.current() };
  await ports.logLevel.set(level);
  return { answer: jsonAnswer(200, logLevelBody(ports)), audit: { by, why, before, after: { level } } };
}

async function makeBackup({ backup, wallClock }: ConfigPorts): Promise<AdminWriteResult> {
  if (backup === undefined) return { answer: errorAnswer(409, IN_REDIS), audit: {} };
  try {
    const made = await backup(wallClock());
    return { answer: jsonAnswer(201, { ...made }), audit: { subject: made.file } };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return { answer: errorAnswer(503, `The backup failed: ${error.message}.`), audit: {} };
  }
}

function reloaded(outcome: ReloadOutcome): AdminWriteResult {
  const { kind, revision } = outcome;
  return {
    answer: reloadAnswer(outcome),
    audit: { subject: 'policies', after: { outcome: kind, revision } },
  };
}

function lastBody(last: LastLoad | undefined) {
  return last === undefined ? null : { at: instantText(last.at), ...outcomeBody(last.outcome) };
}

export function outcomeBody({ kind, revision, since, problems, restartNeeded, quarantined }: ReloadOutcome) {
  return {
    outcome: kind,
    revision,
    since: instantText(since),
    restartNeeded,
    ...refusedFiles(
      'quarantined',
      quarantined.filter(({ isServed }) => isServed),
    ),
    ...refusedFiles(
      'leftOut',
      quarantined.filter(({ isServed }) => !isServed),
    ),
    problems: withoutSource(problems),
  };
}

function refusedFiles(name: 'quarantined' | 'leftOut', files: ReloadOutcome['quarantined']) {
  return files.length > 0 && { [name]: files.map(({ api, file }) => ({ api, file })) };
}

/** Source lines may contain secrets. Only a terminal shows them, masked. */
function withoutSource(problems: readonly Problem[]): readonly Omit<Problem, 'source'>[] {
  return problems.map(({ source: _source, ...problem }) => problem);
}

function reloadAnswer(outcome: ReloadOutcome): AdminAnswer {
  const { kind } = outcome;
  const body = outcomeBody(outcome);
  switch (kind) {
    case 'accepted':
    case 'unchanged':
      return jsonAnswer(200, body);
    case 'rejected': {
      const message = 'The policies have errors. The gateway keeps the policies that are in force.';
      return jsonAnswer(422, { error: 'Unprocessable Content', message, ...body });
    }
    case 'failed': {
      const message = 'The reload failed, and the policies in force stay. The log has the error.';
      return jsonAnswer(500, { error: 'Internal Server Error', message, ...body });
    }
    default:
      return kind satisfies never;
  }
}
