// The commands that start a long-running process (`run`, `demo`), and `token` for the samples of the demo.
import type { Command } from 'commander';
import { atOption, configOption, type MovedTo } from './command-setting.ts';

export interface StartActions {
  readonly run: (options: {
    readonly config: string;
    readonly at: MovedTo | undefined;
    /** Whether notices are sent that are due by the moved clock. */
    readonly notify: boolean;
  }) => Promise<number>;
  readonly demo: () => Promise<number>;
  readonly token: (options: { readonly client: string | undefined }) => Promise<number>;
}

interface StartSetting {
  readonly actions: StartActions;
  readonly end: (exitCode: number) => void;
}

export function addRunCommand(program: Command, { actions, end }: StartSetting): void {
  program
    .command('run')
    .description('start the gateway; SIGHUP reloads the policies, SIGTERM drains and ends')
    .addOption(configOption())
    .addOption(atOption('move the lifecycle clock to this instant; tokens, TLS and limits use the real time'))
    .option('--notify', 'with --at: send mails and events by that clock; default: send none', false)
    .action(async ({ config, at, notify }, command: Command) => {
      if (notify && at === undefined)
        command.error('error: --notify needs --at; without --at, mails and events are always sent');
      end(await actions.run({ config, at, notify }));
    });
}

export function addDemoCommands(program: Command, { actions, end }: StartSetting): void {
  const demo = program
    .command('demo')
    .description('start the sample services and the gateway in front of them')
    .action(async () => end(await actions.demo()));
  demo
    .command('token')
    .description('print an access token of the sample issuer')
    .argument('[client]', 'acme, globex or initech, with accounts of different days; default: acme')
    .action(async (client) => end(await actions.token({ client })));
}
