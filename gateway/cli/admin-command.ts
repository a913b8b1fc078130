// Options shared by commands that call the admin API of a running gateway.
import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../policy/notation.ts';
import type { GatewayAction } from './admin-call.ts';
import { type CommandSetting, configOption, formatOption } from './command-setting.ts';

export interface GatewayCommandOptions<Format extends string = 'text' | 'json'> {
  readonly config: string;
  readonly admin: string | undefined;
  readonly format: Format;
}

export function withGateway(
  command: Command,
  formats: readonly [string, ...string[]] = ['text', 'json'],
): Command {
  return command
    .addOption(configOption())
    .addOption(
      new Option(
        '--admin <url>',
        'admin listener to use instead of that in the gateway file; its token comes from SUNDIAL_ADMIN_TOKEN',
      ).argParser(readOrigin),
    )
    .addOption(formatOption(formats));
}

/** `actionOf` receives the arguments and options of the command. */
export function onGateway<Given extends readonly unknown[]>(
  command: Command,
  { openGateway, end }: Pick<CommandSetting, 'openGateway' | 'end'>,
  actionOf: (...given: Given) => GatewayAction,
): void {
  command.action(async (...given) => {
    const action = actionOf(...(given as unknown as Given));
    const { config, admin, format, json } = command.opts<
      GatewayCommandOptions<string> & { readonly json?: true }
    >();
    const asJson = json === true || format === 'json';
    await end(openGateway({ config, admin, format: asJson ? 'json' : 'text' }).then(action));
  });
}

export interface Author {
  readonly by: string;
  readonly why: string;
}

/** `by` is undefined if the system has no name for the user and `--by` is missing. */
export interface AuthorOptions {
  readonly by?: string | undefined;
  readonly why: string;
}

export function withAuthor(command: Command): Command {
  return command.addOption(whyOption().makeOptionMandatory()).addOption(byOption());
}

export function authorOf(command: Command, { by, why }: AuthorOptions): Author {
  if (by === undefined) return command.error('error: use --by: the system has no name for this user');
  return { by, why };
}

export function whyOption(): Option {
  return new Option('--why <text>', 'the reason, for the audit log');
}

export function byOption(): Option {
  const user = systemUser();
  const option = new Option('--by <name>', 'name of the author, for the audit log');
  return user === undefined ? option : option.default(user, 'the user of the system');
}

/** Undefined if the system has no name for the user, as in many containers. */
function systemUser(): string | undefined {
  try {
    return userInfo().username;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

export function readName(text: string): string {
  if (text === '') throw new InvalidArgumentError('The value is empty.');
  return text;
}

export function readDuration(text: string): string {
  if (parseDuration(text) === undefined)
    throw new InvalidArgumentError('Write a duration such as 2h or 3d, of 3650d at most.');
  return text;
}

/** Accepts only an origin. The process list would show credentials, and a path would have no effect. */
function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isOrigin) throw new InvalidArgumentError('Write an origin such as http://127.0.0.1:9901.');
  return url.origin;
}
