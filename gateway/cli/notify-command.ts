// The command `notify` with its options: showing the mails and events that are due, or sending them now.
// Added to the program of program.ts; what it does is given by main.ts.
import { type Command, Option } from 'commander';
import { readMovedTo } from './moved-to.ts';
import type { NotifyAsk } from './notify.ts';
import { addReach, type Reach, reachOf } from './operator-commands.ts';
import { type CommandSetting, withCalls } from './usual-calls.ts';

/** What the command does; resolves with the exit code. */
export interface NotifyActions {
  readonly notify: (options: Reach & { readonly ask: NotifyAsk }) => Promise<number>;
}

interface NotifyWritten extends Reach {
  readonly dryRun?: true;
  readonly api?: string;
  readonly consumer?: string;
  readonly at?: string;
}

export function addNotifyCommand(
  program: Command,
  { actions, config, end }: CommandSetting<NotifyActions>,
): void {
  const command = withCalls(program.command('notify'), 'notify')
    .description('tell consumers and machines now what is due, or show what they would be told')
    .addOption(new Option('--dry-run', 'print the very mails and events, and send nothing'))
    .addOption(new Option('--api <name>', 'of this API alone'))
    .addOption(new Option('--consumer <id>', 'for this consumer alone'))
    .addOption(
      new Option('--at <date>', 'what will be due then').argParser((text) => readMovedTo(text).text),
    );
  addReach(command, config).action(async (written: NotifyWritten) => {
    end(await actions.notify({ ...reachOf(written), ask: asked(command, written) }));
  });
}

function asked(command: Command, { dryRun, api, consumer, at }: NotifyWritten): NotifyAsk {
  if (dryRun) return { kind: 'dry-run', filter: { api, consumer, at } };
  const narrowed = Object.entries({ api, consumer, at }).find(([, value]) => value !== undefined);
  if (narrowed !== undefined) command.error(`error: --${narrowed[0]} belongs to --dry-run`);
  return { kind: 'send' };
}
