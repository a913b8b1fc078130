// `sundial accept`: accepts a changed date that a rule refuses, once, with a recorded reason.
import type { Command } from 'commander';
import { type AcceptedAnswer, readAcceptedAnswer } from '../../api/admin-answers.ts';
import { call } from '../admin-call.ts';
import {
  type AuthorOptions,
  authorOf,
  onGateway,
  readName,
  withAuthor,
  withGateway,
} from '../admin-command.ts';
import { type CommandSetting, withCalls } from '../command-setting.ts';
import { isWhole, reloadText } from '../reload/command.ts';
import { printable } from '../terminal-text.ts';

const CALLS = `Usual calls:
  sundial accept orders v1 --why "the contract with acme ended early"
  sundial accept orders --why "a rehearsal is taken back"     every version`;

/** Twice the time for a reload: the gateway checks first and then reloads. */
const WITHIN_MS = 120_000;

/** Exit code 0 if everything is in force, 1 if the gateway refuses or the files have other errors. */
export function addAcceptCommand(program: Command, setting: CommandSetting): void {
  const command = withCalls(program.command('accept'), CALLS)
    .description(
      'accept a changed date that a rule refuses: for this date only, and recorded in the audit log',
    )
    .argument('<api>', 'the API', readName)
    .argument('[version]', 'one version of the API; default every version, and the API as a whole');
  onGateway(
    withGateway(withAuthor(command)),
    setting,
    (api: string, version: string | undefined, author: AuthorOptions) => {
      const body = { api, version, ...authorOf(command, author) };
      return call({
        request: { method: 'POST', path: '/-/accepted', body, withinMs: WITHIN_MS },
        read: readAcceptedAnswer,
        render: acceptedText,
        isDone: (answer) => ['accepted', 'unchanged'].includes(answer.outcome) && isWhole(answer),
      });
    },
  );
}

/** Instants at midnight are shown as days. */
const MIDNIGHT = 'T00:00:00Z';

function acceptedText(answer: AcceptedAnswer): string {
  const lines = answer.accepted.map(({ label, to }) =>
    printable(`accepted: ${answer.api} ${label} ${to.replaceAll(MIDNIGHT, '')}`),
  );
  return `${lines.join('\n')}\n${reloadText(answer)}`;
}
