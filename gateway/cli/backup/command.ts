// `sundial backup`: copies the state of the running gateway into a file of its data folder.
import type { Command } from 'commander';
import { readBackupAnswer } from '../../api/admin-answers.ts';
import { call } from '../admin-call.ts';
import { onGateway, withGateway } from '../admin-command.ts';
import type { CommandSetting } from '../command-setting.ts';
import { printable } from '../terminal-text.ts';

const WITHIN_MS = 300_000;
const KIB = 1_024;

export function addBackupCommand(program: Command, setting: CommandSetting): void {
  const command = program
    .command('backup')
    .description(
      'copy pins, keys, pauses, the usage ledger and the published schedules into backups/ in the data folder; the gateway keeps running',
    );
  onGateway(withGateway(command), setting, () =>
    call({
      request: { method: 'POST', path: '/-/backups', withinMs: WITHIN_MS },
      read: readBackupAnswer,
      render: ({ file, bytes }) => `${printable(file)}, ${Math.ceil(bytes / KIB)} KiB\n`,
    }),
  );
}
