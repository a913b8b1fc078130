// What the commands of the program share: their setting, instants among their options, and their usual calls, which stand
// below the help of a command and below what is said of a wrong call.
import { type Command, InvalidArgumentError, type Option } from 'commander';
import type { EpochMs } from '../policy/contract.ts';
import { parseInstant } from '../policy/notation.ts';

/** What a group of commands is given: what they do, and what all of them share. */
export interface CommandSetting<Actions> {
  readonly actions: Actions;
  readonly config: () => Option;
  readonly end: (exitCode: number) => void;
}

/** The same for commands with `--at`. */
export interface DatedCommandSetting<Actions> extends CommandSetting<Actions> {
  readonly at: (description: string) => Option;
}

/** An instant for the lifecycle clock, and how it was written. */
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

/** Of the options of a command, those that the command line says; main.ts adds the others. */
export type Said<Options> = { readonly config: string } & Omit<
  Options,
  'configFile' | 'environment' | 'now' | 'today' | 'columns' | 'colour' | 'confirm' | 'cwd'
>;

/** The same of a command with `--at`. */
export type DatedSaid<Options> = Said<Options> & { readonly at: MovedTo | undefined };

/** For commands without calls of their own. */
export const WHERE_HELP_IS =
  '`sundial <command> --help` shows the options of a command, `sundial --help` all commands';

const CALLS = {
  explain: `Usual calls:
  sundial explain GET /api/v1/orders --as acme
  sundial explain GET /api/v1/orders -H 'Accept: application/json' --at 2027-04-16`,
  diff: `diff compares policies as they were with policies as they are to be: two files, or two folders. Usual calls:
  sundial diff old/orders.yaml policies/orders.yaml
  sundial diff old/                     a folder, with the policies that the gateway file names`,
  extend: `Usual calls:
  sundial extend orders v1 --to 2027-04-15 --why "acme still migrates" --dry-run
  sundial extend orders --to 2027-04-15 --why "…"     the sunset of the whole API`,
  accept: `Usual calls:
  sundial accept orders v1 --why "the contract with acme ended early"
  sundial accept orders --why "a rehearsal is taken back"     every version`,
  pause: `Usual calls:
  sundial pause orders v1 --for 2h --why "the new client fails at checkout"
  sundial pause --list
  sundial pause --end orders v1 --why "fixed"`,
  pin: `Usual calls:
  sundial pin show payments acme
  sundial pin upgrade payments acme 2026-03-01 --why "asked for it"
  sundial pin roll-back payments acme --why "the new amounts confuse its books"`,
  keys: `Usual calls:
  sundial keys add acme --scope orders:read --contact api@acme.example --why "contract 4711"
  sundial keys list
  sundial keys rotate <id> --overlap 7d --why "yearly"
  sundial keys revoke <id> --why "leaked"`,
  usage: `Usual calls:
  sundial usage --api orders --version v1 --since 30d
  sundial usage --consumer acme --format json     all that is kept of it
  sundial usage --erase acme`,
  notify: `Usual calls:
  sundial notify --dry-run --api orders --consumer acme
  sundial notify --dry-run --at 2027-04-08     what will be due then
  sundial notify                        send now what is due`,
  openapi: `Usual calls:
  sundial openapi orders v2             print it
  sundial openapi orders v2 --write     replace the file`,
  init: `Usual calls:
  sundial init --from openapi.yaml
  sundial init --from openapi.yaml --out policies/orders.yaml`,
} as const;

export function withCalls(command: Command, name: keyof typeof CALLS): Command {
  const calls = `\n${CALLS[name]}`;
  return command.showHelpAfterError(calls).addHelpText('after', calls);
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
