// `sundial reload`: makes the running gateway read its policies again, and shows the result.
import type { Command } from 'commander';
import { type ReloadAnswer, readReloadAnswer } from '../../api/admin-answers.ts';
import { countProblems, renderProblems } from '../../plan/problems.ts';
import { call } from '../admin-call.ts';
import { onGateway, withGateway } from '../admin-command.ts';
import type { CommandSetting } from '../command-setting.ts';
import { moment, printable } from '../terminal-text.ts';

const REJECTED = 422;

/** Exit code 0 if everything is in force, 1 if the reload is rejected, wholly or in part. */
export function addReloadCommand(program: Command, setting: CommandSetting): void {
  const command = program
    .command('reload')
    .description('reload the policies of the running gateway, and show its findings');
  onGateway(withGateway(command), setting, () =>
    call({
      request: { method: 'POST', path: '/-/reload', also: REJECTED },
      read: readReloadAnswer,
      render: reloadText,
      isDone: (answer) => answer.outcome !== 'rejected' && isWhole(answer),
    }),
  );
}

export function isWhole({ quarantined = [], leftOut = [] }: ReloadAnswer): boolean {
  return quarantined.length + leftOut.length === 0;
}

export function reloadText(answer: ReloadAnswer): string {
  const { revision, problems, restartNeeded, quarantined = [], leftOut = [] } = answer;
  const apart = [
    ...quarantined.map(({ api, file }) => `${api}: ${file} is refused; the last accepted form is served`),
    ...leftOut.map(({ api, file }) => `${api}: ${file} is refused and left out`),
  ].map((line) => `${printable(line)}\n`);
  const restart = restartNeeded ? 'the gateway file has changed too; restart to apply it\n' : '';
  return `${renderProblems(problems, { colour: false })}${sentence(answer)}, revision ${revision}\n${apart.join('')}${restart}`;
}

function sentence({ outcome, problems, since, quarantined = [], leftOut = [] }: ReloadAnswer): string {
  switch (outcome) {
    case 'accepted':
      return leftOut.length + quarantined.length === 0 ? 'policies reloaded' : 'policies reloaded in part';
    case 'unchanged':
      // Usually because the file watch was faster.
      return `nothing to reload: the files are already in force${since === undefined ? '' : `, since ${moment(since)}`}`;
    case 'rejected':
      return `not reloaded: ${countProblems(problems)}; the policies in force stay`;
    case 'failed':
      return 'not reloaded; the log has the error, and the policies in force stay';
    default:
      return outcome satisfies never;
  }
}
