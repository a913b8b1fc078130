// The configuration over the admin listener: what is in force, with secrets redacted, and reading the policies again.
// Rows of the admin listener's table; the documents and the reload are the plan's.
import type { EffectiveConfig } from '../plan/effective/effective.ts';
import { effectiveJson } from '../plan/effective/effective-text.ts';
import type { ReloadOutcome } from '../plan/reload.ts';
import { type AdminAnswer, instantText, jsonAnswer } from './answers.ts';
import type { Route, Written } from './route.ts';

export interface ConfigPorts {
  readonly config: () => Promise<EffectiveConfig>;
  readonly reload: () => Promise<ReloadOutcome>;
}

export function configRoutes({ config, reload }: ConfigPorts): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/-/config',
      show: async () => jsonAnswer(200, effectiveJson(await config())),
    },
    { method: 'POST', path: '/-/reload', action: 'reload', perform: async () => reloaded(await reload()) },
  ];
}

function reloaded(outcome: ReloadOutcome): Written {
  const { kind, revision } = outcome;
  return {
    answer: reloadAnswer(outcome),
    audit: { subject: 'policies', after: { outcome: kind, revision } },
  };
}

/** The source lines stay out: only a terminal gets them, with what is secret in them masked. */
function reloadAnswer({ kind, revision, since, problems, restartNeeded }: ReloadOutcome): AdminAnswer {
  const found = problems.map(({ source: _source, ...problem }) => problem);
  const body = { outcome: kind, revision, since: instantText(since), restartNeeded, problems: found };
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
    default: {
      const never: never = kind;
      throw new Error(`unhandled outcome ${String(never)}`);
    }
  }
}
