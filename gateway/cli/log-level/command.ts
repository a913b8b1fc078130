// `sundial log-level`: shows or changes the log level of the running gateway.
import { Argument, type Command } from 'commander';
import { readLogLevelAnswer } from '../../api/admin-answers.ts';
import { LOG_LEVELS } from '../../plan/grammar/logs-section.ts';
import { call } from '../admin-call.ts';
import { byOption, onGateway, whyOption, withGateway } from '../admin-command.ts';
import type { CommandSetting } from '../command-setting.ts';
import { printable } from '../terminal-text.ts';

const PATH = '/-/log-level';

export function addLogLevelCommand(program: Command, setting: CommandSetting): void {
  const command = program
    .command('log-level')
    .description('show the log level of the running gateway, or change it until the next restart')
    .addArgument(new Argument('[level]', 'lowest level of messages in the log').choices(LOG_LEVELS))
    .addOption(whyOption())
    .addOption(byOption());
  onGateway(
    withGateway(command),
    setting,
    (level: string | undefined, { by, why }: { readonly by?: string; readonly why?: string }) =>
      call({
        request:
          level === undefined
            ? { method: 'GET', path: PATH }
            : { method: 'PUT', path: PATH, body: { level, by, why } },
        read: readLogLevelAnswer,
        render: ({ level: current, configured }) => {
          const later = current === configured ? '' : ` until the next restart, then ${configured}`;
          return `${printable(current + later)}\n`;
        },
      }),
  );
}
