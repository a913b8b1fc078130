// The commands and their options: what `sundial --help` shows.
// What each command does is given by main.ts.
import { Command, CommanderError, Option } from 'commander';
import { CONFIG_VARIABLE, USUAL_CONFIG } from '../plan/next-command.ts';
import type { CheckOptions } from './check/check.ts';
import {
  checkOptionValues,
  type DatedSaid,
  readInstantText,
  readMovedTo,
  WHERE_HELP_IS,
  withCalls,
} from './command-setting.ts';
import type { ExplainOptions } from './explain/explain.ts';
import {
  addChangeCommands,
  addDescriptionCommands,
  type ChangeActions,
  type DescriptionActions,
} from './file-commands.ts';
import { addKeyCommands, type KeyActions } from './keys/key-commands.ts';
import { addNotifyCommand, type NotifyActions } from './notify/notify.ts';
import { addOperatorCommands, type OperatorActions } from './operator-commands.ts';
import { addProcessCommands, type ProcessActions } from './process-commands.ts';
import { addDemoCommands, addRunCommand, type StartActions } from './start-commands.ts';
import type { TimelineOptions } from './timeline/timeline.ts';
import { addUsageCommand, type UsageActions } from './usage/usage-command.ts';

/** What the commands do; each resolves with the exit code. */
export interface Actions
  extends ChangeActions,
    OperatorActions,
    KeyActions,
    DescriptionActions,
    ProcessActions,
    UsageActions,
    NotifyActions,
    StartActions {
  readonly check: (
    options: DatedSaid<Omit<CheckOptions, 'live' | 'store'>> & {
      readonly live: boolean;
      readonly store: boolean;
    },
  ) => Promise<number>;
  readonly explain: (options: DatedSaid<ExplainOptions>) => Promise<number>;
  readonly timeline: (options: DatedSaid<TimelineOptions>) => Promise<number>;
  readonly schema: (options: { folder: string }) => Promise<number>;
}

const EXIT_CODES = `
Exit codes: 0 in order, 1 findings or a gateway that says no, 2 wrong usage or an unreadable file,
3 cannot start or no gateway answers.`;

/**
 * Runs the command that `argv` (without node and script) names and resolves with the exit code: 2 for wrong usage,
 * which commander has then explained on stderr. `version` is what `--version` prints.
 */
export async function runProgram(
  argv: readonly string[],
  version: string,
  actions: Actions,
): Promise<number> {
  let exitCode = 0;
  const program = new Command('sundial')
    .description('An API gateway that enforces API lifecycle policy.')
    .version(version)
    // Behind a command, --version is its own.
    .enablePositionalOptions()
    .addHelpText('after', EXIT_CODES)
    .showSuggestionAfterError()
    .showHelpAfterError(WHERE_HELP_IS)
    .exitOverride();
  const config = () =>
    new Option('-c, --config <file>', 'the gateway file')
      .env(CONFIG_VARIABLE)
      .default(USUAL_CONFIG)
      // A variable that is set to nothing is how many shells and containers leave it out.
      .argParser((file) => (file === '' ? USUAL_CONFIG : file));
  const at = (description: string) => new Option('--at <date>', description).argParser(readMovedTo);
  const end = (code: number) => {
    exitCode = code;
  };
  const setting = { actions, config, at, end };

  addRunCommand(program, setting);
  program
    .command('check')
    .description('show everything wrong with the gateway file and the policies, at once, without starting')
    .argument('[files...]', 'policy files to check instead of those the gateway file names')
    .addOption(config())
    .addOption(at('judge at this instant'))
    .addOption(
      new Option('--format <format>', 'how to print').choices(['text', 'json', 'github']).default('text'),
    )
    .option('--strict', 'warnings count as findings', false)
    .option(
      '--live',
      'also reach what the files name (targets, key sets, Redis; at most ten seconds), and ask the running gateway what a reload would refuse',
      false,
    )
    .option('--store', 'also compare with the schedules recorded in the store, which is only read', false)
    .option(
      '--against <folder>',
      'compare with policies published earlier: dates rewritten, versions vanished',
    )
    .addHelpText('after', EXIT_CODES)
    .action(async (files, options) => {
      const { config: file, at: judged, ...others } = options;
      exitCode = await actions.check({ ...others, files, config: file, at: judged });
    });
  withCalls(program.command('explain'), 'explain')
    .description(
      'show how a request would be judged: every decision, the line behind it, and what changes next',
    )
    .argument('<request...>', 'method and path or URL, such as GET /api/v1/orders')
    .option('-H, --header <line>', 'a header of the request, "Name: value"; may be repeated', collect, [])
    .option('--as <consumer>', 'the consumer that calls, as its token would name it')
    .option('--scopes <list>', 'scopes of the consumer, by commas or spaces; default: every one', readList)
    .option('--pin <version>', 'the version that the account is pinned to; default: none is stored')
    .addOption(
      new Option('--created <date>', 'when the account was made, as its token would say it').argParser(
        readInstantText,
      ),
    )
    .addOption(
      new Option(
        '--first-seen <date>',
        'when the consumer first called the version; default: before a freeze',
      ).argParser(readMovedTo),
    )
    .addOption(
      new Option('--paused <date>', 'as if a pause of the API ran until then').argParser(readMovedTo),
    )
    .addOption(config())
    .addOption(at('judge at this instant'))
    .addOption(new Option('--format <format>', 'how to print').choices(['text', 'json']).default('text'))
    .action(async (words, options) => {
      const { header: headers, as, scopes, pin, created, firstSeen, paused, config: file, format } = options;
      const request = words.join(' ');
      exitCode = await actions.explain({
        request,
        headers,
        as,
        scopes,
        account: { pin, created, firstSeen: firstSeen?.at },
        paused: paused?.at,
        config: file,
        format,
        at: options.at,
      });
    });
  program
    .command('timeline')
    .description('show the versions of each API on one axis, with their dates and months of notice')
    .option('--api <name>', 'this API alone')
    .addOption(config())
    .addOption(at('put today here'))
    .addOption(
      new Option('--format <format>', 'how to print').choices(['text', 'json', 'ics']).default('text'),
    )
    .action(async ({ api, config: file, format, at: today }) => {
      exitCode = await actions.timeline({ api, config: file, format, at: today });
    });
  addChangeCommands(program, setting);
  addOperatorCommands(program, setting);
  addKeyCommands(program, setting);
  addProcessCommands(program, setting);
  addUsageCommand(program, setting);
  addNotifyCommand(program, setting);
  addDescriptionCommands(program, setting);
  program
    .command('schema')
    .description('write the JSON Schemas that editors use for both kinds of file')
    .option('--folder <folder>', 'where to', 'config/schema')
    .action(async (options) => {
      exitCode = await actions.schema({ folder: options.folder });
    });
  addDemoCommands(program, setting);

  checkOptionValues(program, (name) => name === 'header' || name === 'scope');

  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Asking for help or the version is no mistake; commander gives it 0.
    return error.exitCode === 0 ? 0 : 2;
  }
  return exitCode;
}

function collect(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

function readList(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}
