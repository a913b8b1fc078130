// `sundial pause`: holds brownouts and retirement at once, on every gateway of the store, until a given moment.
// Speaks to the admin listener of a running gateway; nothing is written to the policy files.
import { type PauseBody, readEndedAnswer, readPauseAnswer, readPausesAnswer } from '../plan/admin-answers.ts';
import { askAdmin, segment } from './admin-client.ts';
import { pauseEndedText, pauseMadeText, pausesText, severalPausesText } from './admin-text.ts';
import { failed, type OperatorFormat, type OperatorResult, told } from './operator-result.ts';
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

export async function runPause({ format, ask, ...which }: PauseOptions): Promise<OperatorResult> {
  const door = await findGateway(which);
  if (door.kind === 'failed') return failed(door);
  switch (ask.kind) {
    case 'list': {
      const answer = await askAdmin(door, { method: 'GET', path: '/-/overrides' });
      if (answer.kind === 'failed') return failed(answer);
      return told(answer.body, readPausesAnswer, { format, render: pausesText });
    }
    case 'begin': {
      const { api, version, length, by, why } = ask;
      const body = { api, ...(version !== undefined && { version }), ...length, by, why };
      const answer = await askAdmin(door, { method: 'POST', path: '/-/pauses', body });
      if (answer.kind === 'failed') return failed(answer);
      return told(answer.body, readPauseAnswer, { format, render: pauseMadeText });
    }
    case 'end': {
      const id = await idOf(door, ask);
      if (typeof id !== 'string') return failed(id);
      const { by, why } = ask;
      const path = `/-/pauses/${segment(id)}`;
      const answer = await askAdmin(door, { method: 'DELETE', path, body: { by, why } });
      if (answer.kind === 'failed') return failed(answer);
      const render = ({ ended }: { readonly ended: PauseBody }) => pauseEndedText(ended);
      return told(answer.body, readEndedAnswer, { format, render });
    }
    default: {
      const never: never = ask;
      throw new Error(`unhandled ask ${String(never)}`);
    }
  }
}

/** The one pause that an id, an API, or an API and a version mean. */
async function idOf(
  door: AdminDoor,
  { what, version }: Extract<PauseAsk, { kind: 'end' }>,
): Promise<string | Failure> {
  const answer = await askAdmin(door, { method: 'GET', path: '/-/overrides' });
  if (answer.kind === 'failed') return answer;
  const pauses = readPausesAnswer(answer.body)?.overrides ?? [];
  const byId = version === undefined ? pauses.find(({ id }) => id === what) : undefined;
  const fitting = pauses.filter(
    (pause) => pause.api === what && (version === undefined || pause.version === version),
  );
  const [only, ...others] = byId === undefined ? fitting : [byId];
  if (only === undefined) return failure(1, nothingFits(pauses, what, version));
  if (others.length > 0) return { kind: 'failed', exitCode: 1, text: severalPausesText(fitting) };
  return only.id;
}

function nothingFits(pauses: readonly PauseBody[], what: string, version: string | undefined): string {
  const wider = pauses.find((pause) => pause.api === what && pause.version === null);
  if (version === undefined || wider === undefined)
    return `no pause of ${[what, version ?? []].flat().join(' ')} is in force; see sundial pause --list`;
  return `${what} ${version} has no pause of its own, but every version of ${what} has: sundial pause --end ${wider.id}`;
}
