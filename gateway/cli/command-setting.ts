// What the commands share: dependencies from main.ts, common options and usage examples.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { CONFIG_VARIABLE, DEFAULT_CONFIG } from '../plan/next-command.ts';
import type { PublishedEntry } from '../plan/published/record.ts';
import type { Environment } from '../plan/read/interpolate.ts';
import type { StoreSettings, TracingSettings } from '../plan/settings.ts';
import type { EpochMs } from '../policy/contract.ts';
import { parseInstant } from '../policy/notation.ts';
import type { GatewayClient } from './admin-call.ts';
import type { ApartResult } from './command-result.ts';

/** Reads the schedules that a store has recorded. Rejects with the reason if the store cannot be read. */
export type ReadRecorded = (store: StoreSettings) => Promise<readonly PublishedEntry[]>;

export interface CommandSetting {
  readonly environment: Environment;
  readonly now: () => EpochMs;
  readonly end: (result: Promise<ApartResult>) => Promise<void>;
  readonly openGateway: (
    options: Pick<GatewayClient, 'format'> & { readonly config: string; readonly admin: string | undefined },
  ) => Promise<GatewayClient>;
  /** Asks a question in the terminal. Undefined without a terminal. */
  readonly confirm: () => ((question: string) => Promise<boolean>) | undefined;
  readonly readRecorded: ReadRecorded;
  /** Replaces the state in a data folder with a backup. Rejects with a message for the operator. */
  readonly restoreBackup: (folder: string, backup: string, at: EpochMs) => Promise<RestoredState>;
  /** Why this edition cannot start with a data folder. Undefined if it can. */
  readonly unusableFolder: (folder: string) => Promise<string | undefined>;
  /** Why this installation cannot export spans. Undefined if it can, or need not. */
  readonly unusableTracing: (tracing: TracingSettings) => Promise<string | undefined>;
}

export interface RestoredState {
  /** File name of the former state in the data folder. Undefined if there was none. */
  readonly former: string | undefined;
  /** Whether API keys stay as they were. False if the former state could not be read. */
  readonly keptKeys: boolean;
}

export interface MovedTo {
  readonly at: EpochMs;
  readonly text: string;
}

export function readMovedTo(text: string): MovedTo {
  const at = parseInstant(text);
  if (at === undefined)
    throw new InvalidArgumentError('Write a date such as 2026-11-20, or an instant with offset.');
  return { at, text };
}

/** For a gateway to parse. @throws InvalidArgumentError */
export function readInstantText(text: string): string {
  return readMovedTo(text).text;
}

export function configOption(): Option {
  return (
    new Option('-c, --config <file>', 'the gateway file')
      .env(CONFIG_VARIABLE)
      .default(DEFAULT_CONFIG)
      // An empty variable counts as unset.
      .argParser((file) => (file === '' ? DEFAULT_CONFIG : file))
  );
}

export function atOption(description: string): Option {
  return new Option('--at <date>', description).argParser(readMovedTo);
}

export function formatOption([usual, ...others]: readonly [string, ...string[]]): Option {
  return new Option('--format <format>', 'output format').choices([usual, ...others]).default(usual);
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
  /** The wall clock. With an earlier `now` the files are still today's, without the upstreams of retired versions. */
  readonly today: EpochMs;
}

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
    // Undefined on a pipe.
    colour: printedOn.hasColors?.() ?? false,
  };
}

export const NO_TERMINAL = 'there is no terminal for the question: use --yes';

export const EXIT_CODES = `
Exit codes: 0 success, 1 findings or a refusal of the gateway, 2 wrong usage or an unreadable file,
3 cannot start or no gateway answers.`;

export const WHERE_HELP_IS =
  '`sundial <command> --help` shows the options of a command, `sundial --help` all commands';

/** `calls` are printed after the help of the command and after a usage error. */
export function withCalls(command: Command, calls: string): Command {
  return command.showHelpAfterError(`\n${calls}`).addHelpText('after', `\n${calls}`);
}

/** Rejects repeated options, except `repeatable` ones, and empty values, which unset variables produce. */
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
