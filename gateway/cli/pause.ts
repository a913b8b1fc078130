// `sundial pause`: holds brownouts and retirement at once, on every gateway of the store, until a given moment.
// Speaks to the admin listener of a running gateway; nothing is written to the policy files.
import { type PauseBody, readEndedAnswer, readPauseAnswer, readPausesAnswer } from '../api/admin-answers.ts';
import { type NextCommand, nextCommand } from '../plan/next-command.ts';
import { UNVERSIONED } from '../policy/versioning/resolution.ts';
import { askAdmin, segment } from './admin-client.ts';
import { isUnversioned, pauseEndedText, pauseMadeText, pausesText, severalPausesText } from './admin-text.ts';
import type { ApartResult } from './check.ts';
import { failed, type OperatorFormat, told } from './operator-result.ts';
import { type AdminDoor, type Failure, failure, findGateway, type WhichGateway } from './running-gateway.ts';

export interface PauseOptions extends WhichGateway {
  readonly format: OperatorFormat;
  readonly ask: PauseAsk;
}

export type PauseAsk =
  | { readonly kind: 'list' }
  | {
      readonly kind: 'begin';
      readonly api: string;
      /** Undefined: every version. */
      readonly version: string | undefined;
      /** As written: a duration, or a date. */
      readonly length: { readonly for: string } | { readonly until: string };
      readonly by: string;
      readonly why: string;
    }
  | {
      readonly kind: 'end';
      /** An id, or the API whose pause it is. */
      readonly what: string;
      readonly version: string | undefined;
      readonly by: string;
      readonly why: string;
    };

export async function runPause({ format, ask, ...which }: PauseOptions): Promise<ApartResult> {
  const next = nextCommand(which);
  const door = await findGateway(which);
  if (door.kind === 'failed') return failed(door, format);
  switch (ask.kind) {
    case 'list': {
      const answer = await askAdmin(door, { method: 'GET', path: '/-/overrides' });
      return told(answer, readPausesAnswer, { format, render: (pauses) => pausesText(pauses, next) });
    }
    case 'begin': {
      const { api, version, length, by, why } = ask;
      const body = { api, ...(version !== undefined && { version }), ...length, by, why };
      const answer = await askAdmin(door, { method: 'POST', path: '/-/pauses', body });
      const outcome = answer.kind === 'failed' ? inCommandWords(answer) : answer;
      return told(outcome, readPauseAnswer, { format, render: (made) => pauseMadeText(made, next) });
    }
    case 'end': {
      const found = await pauseMeant(door, ask, next);
      if (found.kind === 'failed') return failed(found, format);
      const { by, why } = ask;
      const path = `/-/pauses/${segment(found.id)}`;
      const answer = await askAdmin(door, { method: 'DELETE', path, body: { by, why } });
      // What it held is told of a pause that runs, and says whether its API has versions.
      const render = ({ ended }: { readonly ended: PauseBody }) =>
        pauseEndedText({ ...ended, effects: found.effects });
      return told(answer, readEndedAnswer, { format, render });
    }
    default:
      return ask satisfies never;
  }
}

/** The one pause that an id, an API, or an API and a version mean. */
async function pauseMeant(
  door: AdminDoor,
  { what, version }: Extract<PauseAsk, { kind: 'end' }>,
  next: NextCommand,
): Promise<PauseBody | Failure> {
  const answer = await askAdmin(door, { method: 'GET', path: '/-/overrides' });
  if (answer.kind === 'failed') return answer;
  const pauses = readPausesAnswer(answer.body)?.overrides ?? [];
  const byId = version === undefined ? pauses.find(({ id }) => id === what) : undefined;
  const fitting = pauses.filter(
    (pause) => pause.api === what && (version === undefined || isOf(pause, version)),
  );
  const [only, ...others] = byId === undefined ? fitting : [byId];
  if (only === undefined) return failure(1, nothingFits(pauses, { what, version }, next));
  if (others.length > 0) return { kind: 'failed', exitCode: 1, text: severalPausesText(fitting) };
  return only;
}

/** An API without versions is held by its name, and may be called `none` like the only version it has. */
function isOf(pause: PauseBody, version: string): boolean {
  return pause.version === version || (version === UNVERSIONED && isUnversioned(pause));
}

function nothingFits(
  pauses: readonly PauseBody[],
  { what, version }: Pick<Extract<PauseAsk, { kind: 'end' }>, 'what' | 'version'>,
  next: NextCommand,
): string {
  const wider = pauses.find((pause) => pause.api === what && pause.version === null);
  if (version === undefined || wider === undefined)
    return `no pause of ${[what, version ?? []].flat().join(' ')} is in force; see ${next('pause', '--list')}`;
  return `${what} ${version} has no pause of its own, but every version of ${what} has: ${next('pause', '--end', wider.id, '--why', '"…"')}`;
}

/** What the admin API calls a member is an argument or an option here. */
function inCommandWords({ text, ...failure }: Failure): Failure {
  return {
    ...failure,
    text: text.replace(/"(api|version|by|why|for|until)": /g, (_, name: string) => `${WORDS[name]}: `),
  };
}

const WORDS: Readonly<Record<string, string>> = {
  api: 'the API',
  version: 'the version',
  by: '--by',
  why: '--why',
  for: '--for',
  until: '--until',
};
