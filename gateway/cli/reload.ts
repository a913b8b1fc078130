// `sundial reload`: has the running gateway read its policies again, and says what came of it.
// Speaks to the admin listener; a file with errors changes nothing there.
import { type ReloadAnswer, readReloadAnswer } from '../api/admin-answers.ts';
import { countProblems, renderProblems } from '../plan/problems.ts';
import { askGateway } from './admin-client.ts';
import { moment } from './admin-text.ts';
import type { ApartResult } from './check.ts';
import { type OperatorFormat, told } from './operator-result.ts';
import type { WhichGateway } from './running-gateway.ts';
import { printable } from './terminal-text.ts';

export interface ReloadOptions extends WhichGateway {
  readonly format: OperatorFormat;
}

const REJECTED = 422;

/** 0 in force, 1 rejected, wholly or in part, and else as every command that talks to a gateway. */
export async function runReload({ format, ...which }: ReloadOptions): Promise<ApartResult> {
  const answer = await askGateway(which, { method: 'POST', path: '/-/reload', also: REJECTED });
  return told(answer, readReloadAnswer, {
    format,
    render: reloadText,
    isDone: ({ outcome, quarantined = [], leftOut = [] }) =>
      outcome !== 'rejected' && quarantined.length + leftOut.length === 0,
  });
}

export function reloadText(answer: ReloadAnswer): string {
  const { revision, problems, restartNeeded, quarantined = [], leftOut = [] } = answer;
  const apart = [
    ...quarantined.map(({ api, file }) => `${api}: ${file} is refused; the last accepted form is served`),
    ...leftOut.map(({ api, file }) => `${api}: ${file} is refused and left out`),
  ].map((line) => `${printable(line)}\n`);
  const restart = restartNeeded ? 'the gateway file has changed too: restart to apply it\n' : '';
  return `${renderProblems(problems, { colour: false })}${sentence(answer)}, revision ${revision}\n${apart.join('')}${restart}`;
}

function sentence({ outcome, problems, since, quarantined = [], leftOut = [] }: ReloadAnswer): string {
  switch (outcome) {
    case 'accepted':
      return leftOut.length + quarantined.length === 0 ? 'policies reloaded' : 'policies reloaded in part';
    case 'unchanged':
      // Mostly because the watch of the files was quicker than whoever saved them.
      return `nothing to reload: the files are in force already${since === undefined ? '' : `, since ${moment(since)}`}`;
    case 'rejected':
      return `not reloaded: ${countProblems(problems)}; still in force`;
    case 'failed':
      return 'not reloaded, the log says why; still in force';
    default:
      return outcome satisfies never;
  }
}
