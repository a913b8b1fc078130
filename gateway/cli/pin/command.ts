// `sundial pin`: shows or upgrades the pin of an account, or rolls back its last upgrade within 72 hours.
import { type Command, Option } from 'commander';
import { type PinAnswer, readPinAnswer } from '../../api/admin-answers.ts';
import type { NextCommand } from '../../plan/next-command.ts';
import { GLOSSARY } from '../../policy/glossary.ts';
import { type ApiCall, call, segment } from '../admin-call.ts';
import {
  type AuthorOptions,
  authorOf,
  onGateway,
  readName,
  withAuthor,
  withGateway,
} from '../admin-command.ts';
import { type CommandSetting, readInstantText, withCalls } from '../command-setting.ts';
import { moment, onTerminal } from '../terminal-text.ts';

const CALLS = `Pin: ${GLOSSARY.pin}

Usual calls:
  sundial pin show payments acme
  sundial pin upgrade payments acme 2026-03-01 --why "asked for it"
  sundial pin roll-back payments acme --why "the new amounts confuse its books"`;

export function addPinCommands(program: Command, setting: CommandSetting): void {
  const pin = withCalls(program.command('pin'), CALLS).description(
    'show or move the version that an account is pinned to',
  );
  const part = (name: string, description: string) =>
    withGateway(
      pin
        .command(name)
        .description(description)
        .argument('<api>', 'the API', readName)
        .argument('<account>', 'account, as in its token', readName),
    );
  const pinCall = (request: ApiCall) => call({ request, read: readPinAnswer, render: pinText });

  onGateway(
    part('show', 'show the version of an account, and whether its last upgrade can be rolled back'),
    setting,
    (api: string, account: string) => pinCall({ method: 'GET', path: pathOf(api, account) }),
  );
  const upgrade = part('upgrade', 'move an account to a newer version; can be rolled back for 72 hours')
    .argument('<version>', 'the version')
    .addOption(
      new Option(
        '--created <date>',
        'creation day of the account, which gives its present version if none is stored',
      ).argParser(readInstantText),
    );
  onGateway(
    withAuthor(upgrade),
    setting,
    (
      api: string,
      account: string,
      version: string,
      { created, ...author }: AuthorOptions & { readonly created?: string },
    ) => {
      const body = { version, created, ...authorOf(pin, author) };
      return pinCall({ method: 'PUT', path: pathOf(api, account), body });
    },
  );
  onGateway(
    withAuthor(part('roll-back', 'roll back the last upgrade of an account')),
    setting,
    (api: string, account: string, author: AuthorOptions) => {
      const path = `${pathOf(api, account)}/roll-back`;
      return pinCall({ method: 'POST', path, body: { ...authorOf(pin, author) } });
    },
  );
}

function pathOf(api: string, account: string): string {
  return `/-/pins/${segment(api)}/${segment(account)}`;
}

function pinText({ api, account, rule, pin }: PinAnswer, next: NextCommand): string {
  const unstored =
    rule.created === null ? 'its first call' : `the day in its claim ${rule.created}, else its first call`;
  if (pin === null)
    return onTerminal([`${api}: no version is stored for ${account}. Its version follows from ${unstored}.`]);
  const { version, origin, since, rollBack } = pin;
  return onTerminal([
    `${api}: ${account} gets ${version}, by ${ORIGINS[origin]} of ${moment(since)}.`,
    ...(rollBack === null
      ? ['No upgrade can be rolled back.']
      : [
          `Until ${moment(rollBack.until)} this restores ${rollBack.version ?? `the version by ${unstored}`}:`,
          `  ${next('pin', 'roll-back', api, account, '--why', '"…"')}`,
        ]),
  ]);
}

const ORIGINS: Readonly<Record<NonNullable<PinAnswer['pin']>['origin'], string>> = {
  first_call: 'the first call',
  upgrade: 'an upgrade',
  roll_back: 'a roll-back',
};
