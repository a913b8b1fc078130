// Command line of `sundial explain`.
import { type Command, Option } from 'commander';
import { allOrNothing } from '../command-result.ts';
import {
  atOption,
  type CommandSetting,
  configOption,
  filesOf,
  formatOption,
  readInstantText,
  readMovedTo,
  withCalls,
} from '../command-setting.ts';

const CALLS = `Usual calls:
  sundial explain GET /api/v1/orders --as acme
  sundial explain GET /api/v1/orders -H 'Accept: application/json' --at 2027-04-16`;

export function addExplainCommand(program: Command, setting: CommandSetting): void {
  withCalls(program.command('explain'), CALLS)
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
    .addOption(configOption())
    .addOption(atOption('judge at this instant'))
    .addOption(formatOption(['text', 'json']))
    .action(async (words, { header, as, scopes, pin, created, firstSeen, paused, format, ...rest }) => {
      const { runExplain } = await import('./explain.ts');
      const explained = runExplain({
        ...filesOf(setting, rest, process.stderr),
        request: words.join(' '),
        headers: header,
        as,
        scopes,
        account: { pin, created, firstSeen: firstSeen?.at },
        paused: paused?.at,
        format,
      });
      await setting.end(allOrNothing(explained));
    });
}

function collect(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

function readList(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}
