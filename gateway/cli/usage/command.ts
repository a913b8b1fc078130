// `sundial usage`: shows who still calls deprecated versions and what is safe to retire, or erases a consumer.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { readErasedAnswer } from '../../api/usage-answers.ts';
import { GLOSSARY } from '../../policy/glossary.ts';
import { counted, parseDuration, parseInstant } from '../../policy/notation.ts';
import { call, failed, failure, type GatewayAction, withQuery } from '../admin-call.ts';
import { byOption, type GatewayCommandOptions, onGateway, whyOption, withGateway } from '../admin-command.ts';
import { type CommandSetting, NO_TERMINAL, withCalls } from '../command-setting.ts';
import { printable } from '../terminal-text.ts';
import { showUsage, USAGE, type UsageFormat, WITHIN_MS } from './show-usage.ts';

const CALLS = `Ledger: ${GLOSSARY.ledger}

Usual calls:
  sundial usage --api orders --version v1 --since 30d
  sundial usage --consumer acme --format json     all its records
  sundial usage --erase acme`;

interface UsageOptions
  extends GatewayCommandOptions<UsageFormat>,
    Partial<Readonly<Record<'api' | 'version' | 'consumer' | 'since' | 'erase' | 'by' | 'why', string>>> {
  readonly operations?: true;
  readonly yes?: true;
}

export function addUsageCommand(program: Command, setting: CommandSetting): void {
  const command = withCalls(program.command('usage'), CALLS)
    .description('show who still calls deprecated versions, the trend, and which versions are safe to retire')
    .addOption(new Option('--api <name>', 'only this API'))
    .addOption(new Option('--version <version>', 'only this version'))
    .addOption(new Option('--consumer <id>', 'only this consumer; as JSON, all its records'))
    .addOption(
      new Option(
        '--since <when>',
        'a length such as 30d, or the first day; default 30d, for one consumer all records',
      ).argParser(readSince),
    )
    .addOption(new Option('--operations', 'print a line for each operation'))
    .addOption(
      new Option('--erase <consumer>', 'erase all records of this consumer permanently').conflicts([
        'api',
        'version',
        'consumer',
        'since',
        'operations',
      ]),
    )
    .addOption(new Option('--yes', 'erase without confirmation'))
    .addOption(byOption())
    .addOption(whyOption());
  onGateway(withGateway(command, ['table', 'csv', 'json']), setting, (options: UsageOptions) => {
    const { api, version, consumer, since, operations = false, erase, yes = false, format } = options;
    if (erase === undefined) {
      if (yes || options.why !== undefined) command.error(`error: ${yes ? '--yes' : '--why'} needs --erase`);
      return showUsage({ filter: { api, version, consumer, since }, operations, format });
    }
    if (format === 'csv') command.error('error: --erase prints a table or JSON, not CSV');
    return yes ? eraseUsage(erase, options) : ifConfirmed(erase, setting, eraseUsage(erase, options));
  });
}

function ifConfirmed(
  consumer: string,
  { confirm }: Pick<CommandSetting, 'confirm'>,
  action: GatewayAction,
): GatewayAction {
  return async (gateway) => {
    const isConfirmed = confirm();
    if (isConfirmed === undefined) return failed(failure(2, NO_TERMINAL), gateway.format);
    const question = `Erase all records of ${printable(consumer)}? They cannot be restored.`;
    if (!(await isConfirmed(question))) return failed(failure(1, 'nothing was erased'), gateway.format);
    return action(gateway);
  };
}

function eraseUsage(consumer: string, { by, why }: Pick<UsageOptions, 'by' | 'why'>): GatewayAction {
  return call({
    request: {
      method: 'DELETE',
      path: withQuery(USAGE, { consumer }),
      body: { by, why },
      withinMs: WITHIN_MS,
    },
    read: readErasedAnswer,
    render: ({ erased }) =>
      erased === 0
        ? `The ledger has no records of ${printable(consumer)}.\n`
        : `Erased ${counted(erased, 'record')} of ${printable(consumer)}. New calls are counted again.\n`,
  });
}

/** The gateway checks by its own clock that the day is in the past. */
function readSince(text: string): string {
  if (parseDuration(text) === undefined && parseInstant(text) === undefined)
    throw new InvalidArgumentError('Write a length such as 30d, or a day such as 2026-10-01.');
  return text;
}
