// The commands about the process itself: `status`, `reload` and `config show`, with their options.
// Added to the program of program.ts; what they do is given by main.ts.
import { type Command, Option } from 'commander';
import type { AcceptOptions } from './accept/accept.ts';
import { type CommandSetting, type Said, withCalls } from './command-setting.ts';
import type { ConfigShowOptions } from './config/config-show.ts';
import {
  type Authored,
  addReach,
  authored,
  by,
  type Reach,
  reachOf,
  readName,
  why,
} from './operator-commands.ts';

/** What the commands do; each resolves with the exit code. */
export interface ProcessActions {
  readonly status: (options: Reach) => Promise<number>;
  readonly reload: (options: Reach) => Promise<number>;
  readonly accept: (options: Said<AcceptOptions>) => Promise<number>;
  readonly configShow: (options: Said<ConfigShowOptions>) => Promise<number>;
}

const STATUS_CODES = `
Exit codes: 0 ready, 1 starting, draining or findings in the gateway file, 2 wrong usage, or a file that cannot be read or
names no listener, 3 no gateway answers.`;

export function addProcessCommands(
  program: Command,
  { actions, config, end }: CommandSetting<ProcessActions>,
): void {
  addReach(
    program
      .command('status')
      .description('say in one line whether the running gateway takes requests; needs no token'),
    config,
  )
    .addHelpText('after', STATUS_CODES)
    .action(async (written: Reach) => end(await actions.status(reachOf(written))));
  addReach(
    program
      .command('reload')
      .description('have the running gateway read its policies again, and show what it says of them'),
    config,
  ).action(async (written: Reach) => end(await actions.reload(reachOf(written))));
  const accept = withCalls(program.command('accept'), 'accept')
    .description(
      'accept a changed date that a rule refuses: valid for this date only, recorded in the audit log',
    )
    .argument('<api>', 'the API', readName)
    .argument('[version]', 'one version of it; default every one, and the API as a whole')
    .addOption(why().makeOptionMandatory())
    .addOption(by());
  addReach(accept, config).action(
    async (api: string, version: string | undefined, written: Reach & Authored) =>
      end(await actions.accept({ ...reachOf(written), api, version, ...authored(accept, written) })),
  );
  program
    .command('config')
    .description('the configuration as the gateway understands it')
    .command('show')
    .description('print every value of the gateway file and the policies; secrets are redacted')
    .argument('[api]', 'the policy of this API alone')
    .addOption(config())
    .option('--defaults', 'add what holds where the files say nothing', false)
    .option('--origin', 'say behind each value where it comes from', false)
    .addOption(new Option('--format <format>', 'how to print').choices(['text', 'json']).default('text'))
    .action(async (api: string | undefined, { config: file, defaults, origin, format }) =>
      end(await actions.configShow({ config: file, api, defaults, origin, format })),
    );
}
