// The configuration over the admin listener: what is in force, with secrets redacted, and reading the policies again.
import { type EffectiveConfig, effectiveJson } from '../plan/effective/effective.ts';
import type { Problem } from '../plan/problems.ts';
import type { LastLoad, ReloadOutcome } from '../plan/reload/watch-contract.ts';
import { type AdminAnswer, instantText, jsonAnswer } from './answers.ts';
import type { AdminRoute, AdminWriteResult } from './route.ts';

export interface ConfigPorts {
  readonly config: () => Promise<EffectiveConfig>;
  readonly reload: () => Promise<ReloadOutcome>;
  readonly preview: () => Promise<readonly Problem[]>;
  readonly lastReload: () => LastLoad | undefined;
}

export function configRoutes({ config, reload, preview, lastReload }: ConfigPorts): readonly AdminRoute[] {
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
    { method: 'POST', path: '/-/reload', action: 'reload', perform: async () => reloaded(await reload()) },
  ];
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

/** Only a terminal gets the source lines, with what is secret in them masked. */
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
      const message = 'The policies have errors; those in force stay.';
      return jsonAnswer(422, { error: 'Unprocessable Content', message, ...body });
    }
    case 'failed': {
      const message = 'The policies could not be read again; the log says why.';
      return jsonAnswer(500, { error: 'Internal Server Error', message, ...body });
    }
    default:
      return kind satisfies never;
  }
}
