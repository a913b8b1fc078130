// The commands that change what a running gateway does: `pause` and `pin`, with their options.
// Added to the program of program.ts; what they do is given by main.ts.
import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../policy/notation.ts';
import { type CommandSetting, readInstantText, type Said, withCalls } from './command-setting.ts';
import type { OperatorFormat } from './operator-result.ts';
import type { PauseAsk, PauseOptions } from './pause/pause.ts';
import type { PinAsk, PinOptions } from './pin/pin.ts';

/** Which gateway, and how to print. */
export interface Reach {
  readonly config: string;
  readonly admin: string | undefined;
  readonly format: OperatorFormat;
}

/** What the commands do; each resolves with the exit code. */
export interface OperatorActions {
  readonly pause: (options: Said<PauseOptions>) => Promise<number>;
  readonly pin: (options: Said<PinOptions>) => Promise<number>;
}

interface PauseWritten extends Reach {
  readonly for?: string;
  readonly until?: string;
  readonly why?: string;
  readonly by?: string;
  readonly list?: true;
  readonly end?: true;
}

export function addOperatorCommands(program: Command, setting: CommandSetting<OperatorActions>): void {
  addPause(program, setting);
  addPin(program, setting);
}

function addPause(program: Command, { actions, config, end }: CommandSetting<OperatorActions>): void {
  const command = withCalls(program.command('pause'), 'pause')
    .description('hold brownouts and retirement of an API or version at once, on every gateway, for a while')
    .argument('[api]', 'the API; with --end also the id of a pause')
    .argument('[version]', 'one version of it; default every one')
    .addOption(new Option('--for <duration>', 'how long, such as 2h or 3d').argParser(readDuration))
    .addOption(
      new Option('--until <date>', 'the day or instant at which it ends by itself')
        .argParser(readInstantText)
        .conflicts('for'),
    )
    .addOption(why())
    .addOption(by())
    .addOption(new Option('--list', 'show the pauses in force').conflicts(['end', 'for', 'until', 'why']))
    .addOption(new Option('--end', 'end a pause before its time').conflicts(['for', 'until']));
  addReach(command, config).action(
    async (api: string | undefined, version: string | undefined, written: PauseWritten) => {
      const ask = pauseAsked(command, api, version, written);
      end(await actions.pause({ ...reachOf(written), ask }));
    },
  );
}

function pauseAsked(
  command: Command,
  api: string | undefined,
  version: string | undefined,
  { list, end, for: duration, until, why, by }: PauseWritten,
): PauseAsk {
  if (list) {
    if (api !== undefined) command.error('error: --list shows every pause; it takes no API');
    return { kind: 'list' };
  }
  if (api === undefined)
    return command.error(
      end ? 'error: name the API or the pause to end' : 'error: name an API to pause, or say --list',
    );
  if (why === undefined) return command.error('error: say --why; it is kept with the pause');
  const author = authored(command, { by, why });
  if (end) return { kind: 'end', what: api, version, ...author };
  if (duration !== undefined) return { kind: 'begin', api, version, length: { for: duration }, ...author };
  if (until !== undefined) return { kind: 'begin', api, version, length: { until }, ...author };
  return command.error('error: say when the pause ends: --for 2h, or --until 2026-12-01');
}

interface MoveWritten extends Reach, Authored {
  readonly created?: string;
}

function addPin(program: Command, { actions, config, end }: CommandSetting<OperatorActions>): void {
  const pin = withCalls(program.command('pin'), 'pin').description(
    'show or move the version that an account is pinned to',
  );
  const moving = (name: string, description: string) =>
    addReach(
      pin
        .command(name)
        .description(description)
        .argument('<api>', 'the API', readName)
        .argument('<account>', 'the account, as its token names it', readName),
      config,
    );

  moving('show', 'the version of an account, and whether its last upgrade can be taken back').action(
    async (api: string, account: string, written: Reach) => {
      end(await actions.pin({ ...reachOf(written), api, account, ask: { kind: 'show' } }));
    },
  );
  moving('upgrade', 'move an account to a newer version; it can be taken back for 72 hours')
    .argument('<version>', 'the version')
    .addOption(
      new Option(
        '--created <date>',
        'when the account was made: where nothing is stored of it, that says what it is to be newer than',
      ).argParser(readInstantText),
    )
    .addOption(why().makeOptionMandatory())
    .addOption(by())
    .action(async (api: string, account: string, version: string, written: MoveWritten) => {
      const { created } = written;
      const ask: PinAsk = { kind: 'upgrade', version, created, ...authored(pin, written) };
      end(await actions.pin({ ...reachOf(written), api, account, ask }));
    });
  moving('roll-back', 'take the last upgrade of an account back')
    .addOption(why().makeOptionMandatory())
    .addOption(by())
    .action(async (api: string, account: string, written: MoveWritten) => {
      const ask: PinAsk = { kind: 'roll-back', ...authored(pin, written) };
      end(await actions.pin({ ...reachOf(written), api, account, ask }));
    });
}

export function addReach(command: Command, config: () => Option): Command {
  return addWhich(command, config).addOption(
    new Option('--format <format>', 'how to print').choices(['text', 'json']).default('text'),
  );
}

/** Which gateway is meant. */
export function addWhich(command: Command, config: () => Option): Command {
  return command
    .addOption(config())
    .addOption(
      new Option(
        '--admin <url>',
        'an admin listener, instead of the one in the gateway file; its token from SUNDIAL_ADMIN_TOKEN',
      ).argParser(readOrigin),
    );
}

export function reachOf({ config, admin, format }: Reach): Reach {
  return { config, admin, format };
}

/** `by` is missing where the system has no name for the user and none was given. */
export interface Authored {
  readonly by?: string | undefined;
  readonly why: string;
}

export function authored(
  command: Command,
  { by, why }: Authored,
): { readonly by: string; readonly why: string } {
  if (by === undefined) return command.error('error: say --by; the system has no name for this user');
  return { by, why };
}

export function why(): Option {
  return new Option('--why <text>', 'the reason, for the audit log');
}

export function by(): Option {
  const user = systemUser();
  const option = new Option('--by <name>', 'who does this');
  return user === undefined ? option : option.default(user, 'the user of the system');
}

/** Undefined where the system has no name for the user, as in many containers. */
function systemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

export function readName(text: string): string {
  if (text === '') throw new InvalidArgumentError('It is empty.');
  return text;
}

export function readDuration(text: string): string {
  if (parseDuration(text) === undefined) throw new InvalidArgumentError('Write a duration such as 2h or 3d.');
  return text;
}

/** Scheme, host and port alone: what else stands in a URL would be in the list of processes, or go unheeded. */
function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isOrigin) throw new InvalidArgumentError('Write an origin such as http://127.0.0.1:9901.');
  return url.origin;
}
