// What the commands of the program share: what main.ts gives them, the options that several have, and their usual calls.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CONFIG_VARIABLE, DEFAULT_CONFIG } from '../plan/next-command.ts';
import type { PublishedEntry } from '../plan/published/record.ts';
import type { Environment } from '../plan/read/interpolate.ts';
import type { StoreSettings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import { parseInstant } from '../policy/notation.ts';
import type { GatewayClient } from './admin-call.ts';
import type { ApartResult } from './command-result.ts';

/** Reads the schedules that a store has recorded; rejects with the reason why it cannot be read. */
export type ReadRecorded = (store: StoreSettings) => Promise<readonly PublishedEntry[]>;

export interface CommandSetting {
  readonly environment: Environment;
  readonly now: () => EpochMs;
  readonly end: (result: Promise<ApartResult>) => Promise<void>;
  readonly openGateway: (
    options: Pick<GatewayClient, 'format'> & { readonly config: string; readonly admin: string | undefined },
  ) => Promise<GatewayClient>;
  /** Asks at the terminal; undefined without one. */
  readonly confirm: () => ((question: string) => Promise<boolean>) | undefined;
  readonly readRecorded: ReadRecorded;
  /** Puts a backup in the place of the state in a data folder; rejects with a sentence for the operator. */
  readonly restoreBackup: (folder: string, backup: string, at: EpochMs) => Promise<RestoredState>;
  /** Why this edition cannot start on a data folder, in a sentence; undefined where it can. */
  readonly unusableFolder: (folder: string) => Promise<string | undefined>;
}

export interface RestoredState {
  /** What the former state is called now, in the data folder; undefined where there was none. */
  readonly former: string | undefined;
  /** Whether API keys are as they were; false where the former state could not be read. */
  readonly keptKeys: boolean;
}

export interface MovedTo {
  readonly at: EpochMs;
  readonly text: string;
}

/** @throws InvalidArgumentError, which commander prints as wrong usage */
export function readMovedTo(text: string): MovedTo {
  const at = parseInstant(text);
  if (at === undefined)
    throw new InvalidArgumentError('Write a date such as 2026-11-20, or an instant with offset.');
  return { at, text };
}

/** The text of an instant, for a gateway to read. @throws InvalidArgumentError */
export function readInstantText(text: string): string {
  return readMovedTo(text).text;
}

export function configOption(): Option {
  return (
    new Option('-c, --config <file>', 'the gateway file')
      .env(CONFIG_VARIABLE)
      .default(DEFAULT_CONFIG)
      // A variable that is set to nothing is how many shells and containers leave it out.
      .argParser((file) => (file === '' ? DEFAULT_CONFIG : file))
  );
}

export function atOption(description: string): Option {
  return new Option('--at <date>', description).argParser(readMovedTo);
}

export function formatOption([usual, ...others]: readonly [string, ...string[]]): Option {
  return new Option('--format <format>', 'how to print').choices([usual, ...others]).default(usual);
}

export interface FileOptions {
  readonly config: string;
  readonly at?: MovedTo | undefined;
}

export interface FilesAt {
  readonly configFile: string;
  readonly environment: Environment;
  readonly now: EpochMs;
  readonly cwd?: string;
}

export interface PrintedFiles extends FilesAt {
  readonly colour: boolean;
}

export interface DatedFiles extends PrintedFiles {
  /** The wall clock. With an earlier `now` the policy files are still the current ones, which omit the upstreams of retired versions. */
  readonly today: EpochMs;
}

/** `printedOn`: where findings are printed. */
export function filesOf(
  { environment, now }: Pick<CommandSetting, 'environment' | 'now'>,
  { config, at }: FileOptions,
  printedOn: NodeJS.WriteStream = process.stdout,
): DatedFiles {
  return {
    configFile: config,
    environment,
    now: at?.at ?? now(),
    today: now(),
    // A pipe is no terminal, and has no such method.
    colour: printedOn.hasColors?.() ?? false,
  };
}

/** Said by a command that asks before it destroys something. */
export const NO_TERMINAL = 'there is no terminal to ask at: use --yes';

export const EXIT_CODES = `
Exit codes: 0 in order, 1 findings or a gateway that says no, 2 wrong usage or an unreadable file,
3 cannot start or no gateway answers.`;

/** For commands without calls of their own. */
export const WHERE_HELP_IS =
  '`sundial <command> --help` shows the options of a command, `sundial --help` all commands';

/** `calls` stand below the help of the command and below what is said of a wrong call. */
export function withCalls(command: Command, calls: string): Command {
  return command.showHelpAfterError(`\n${calls}`).addHelpText('after', `\n${calls}`);
}

/** An empty one is what an unset variable leaves, and of two one would go unheeded; `repeatable` collects them. */
export function checkOptionValues(program: Command, repeatable: (flag: string) => boolean): void {
  for (const command of program.commands) {
    for (const option of command.options) {
      if (!option.required || repeatable(option.attributeName())) continue;
      let given = 0;
      command.on(`option:${option.name()}`, (value: string) => {
        given += 1;
        if (given > 1) command.error(`error: option '${option.flags}' is given twice`);
        if (value === '') command.error(`error: option '${option.flags}' has an empty value`);
      });
    }
    checkOptionValues(command, repeatable);
  }
}
