// The command `usage` with its options: who still calls what is deprecated, and forgetting a consumer.
// Added to the program of program.ts; what it does is given by main.ts.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration, parseInstant } from '../../policy/notation.ts';
import { type CommandSetting, type Said, withCalls } from '../command-setting.ts';
import { addWhich, by, type Reach, why } from '../operator-commands.ts';
import type { UsageAsk, UsageFormat, UsageOptions } from './usage.ts';

/** What the command does; resolves with the exit code. */
export interface UsageActions {
  readonly usage: (options: Said<UsageOptions>) => Promise<number>;
}

interface UsageWritten extends Pick<Reach, 'config' | 'admin'> {
  readonly format: UsageFormat;
  readonly api?: string;
  readonly version?: string;
  readonly consumer?: string;
  readonly since?: string;
  readonly operations?: true;
  readonly erase?: string;
  readonly yes?: true;
  readonly by?: string;
  readonly why?: string;
}

export function addUsageCommand(
  program: Command,
  { actions, config, end }: CommandSetting<UsageActions>,
): void {
  const command = withCalls(program.command('usage'), 'usage')
    .description('show who still calls what is deprecated, how that changes, and what is safe to retire')
    .addOption(new Option('--api <name>', 'this API alone'))
    .addOption(new Option('--version <version>', 'this version alone'))
    .addOption(new Option('--consumer <id>', 'this consumer alone; as JSON all that is kept of it'))
    .addOption(
      new Option(
        '--since <when>',
        'a length such as 30d, or the first day that counts; default 30d, of one consumer everything',
      ).argParser(readSince),
    )
    .addOption(new Option('--operations', 'each operation on a line of its own'))
    .addOption(
      new Option('--erase <consumer>', 'forget this consumer: all records of it, for good').conflicts([
        'api',
        'version',
        'consumer',
        'since',
        'operations',
      ]),
    )
    .addOption(new Option('--yes', 'erase without being asked'))
    .addOption(by())
    .addOption(why());
  addWhich(command, config)
    .addOption(
      new Option('--format <format>', 'how to print').choices(['table', 'csv', 'json']).default('table'),
    )
    .action(async (written: UsageWritten) => {
      const { config: file, admin, format } = written;
      end(await actions.usage({ config: file, admin, format, ask: asked(command, written) }));
    });
}

function asked(command: Command, written: UsageWritten): UsageAsk {
  const {
    api,
    version,
    consumer,
    since,
    operations = false,
    erase,
    yes = false,
    by: author,
    why: reason,
  } = written;
  if (erase !== undefined) {
    if (written.format === 'csv') command.error('error: what was erased is told as a table or as JSON');
    return { kind: 'erase', consumer: erase, sure: yes, by: author, why: reason };
  }
  if (yes || reason !== undefined) command.error(`error: ${yes ? '--yes' : '--why'} belongs to --erase`);
  return { kind: 'show', filter: { api, version, consumer, since }, operations };
}

/** Whether a day has been is for the gateway to say, by its clock. */
function readSince(text: string): string {
  if (parseDuration(text) === undefined && parseInstant(text) === undefined)
    throw new InvalidArgumentError('Write a length such as 30d, or a day such as 2026-10-01.');
  return text;
}
