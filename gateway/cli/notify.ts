// `sundial notify` and its options: the very mails and events that are due, or sending them now.
// Speaks to the admin listener of a running gateway, which has the ledger and knows what was sent.
import { type Command, Option } from 'commander';
import {
  type NoticesAnswer,
  readNoticesAnswer,
  readSentAnswer,
  type SentAnswer,
} from '../api/notice-answers.ts';
import { plural } from '../plan/problems.ts';
import { askGateway } from './admin-client.ts';
import { moment, onTerminal } from './admin-text.ts';
import type { ApartResult } from './check.ts';
import { type CommandSetting, readInstantText, type Said, withCalls } from './command-setting.ts';
import { addReach, type Reach, reachOf } from './operator-commands.ts';
import { type OperatorFormat, told } from './operator-result.ts';
import type { WhichGateway } from './running-gateway.ts';

export interface NotifyOptions extends WhichGateway {
  readonly format: OperatorFormat;
  readonly ask: NotifyAsk;
}

export type NotifyAsk =
  | {
      readonly kind: 'dry-run';
      /** As written. */
      readonly filter: Readonly<Record<'api' | 'consumer' | 'at', string | undefined>>;
    }
  | { readonly kind: 'send' };

const NOTICES = '/-/notices';
/** A gateway reads its ledger for it. */
const SHOWN_WITHIN_MS = 60_000;
/** Hundreds of mails, one after the other. */
const SENT_WITHIN_MS = 600_000;

/** 0 all that is due was sent or shown, 1 something could not be sent, and else as every command that talks to a gateway. */
export async function runNotify({ format, ask, ...which }: NotifyOptions): Promise<ApartResult> {
  switch (ask.kind) {
    case 'dry-run': {
      const path = `${NOTICES}${queryOf(ask.filter)}`;
      const answer = await askGateway(which, { method: 'GET', path, withinMs: SHOWN_WITHIN_MS });
      return told(answer, readNoticesAnswer, { format, render: previewText });
    }
    case 'send': {
      const answer = await askGateway(which, { method: 'POST', path: NOTICES, withinMs: SENT_WITHIN_MS });
      const isDone = ({ mails, events }: SentAnswer) => mails.failed + events.failed === 0;
      return told(answer, readSentAnswer, { format, render: sentText, isDone });
    }
    default:
      return ask satisfies never;
  }
}

function queryOf(filter: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(filter).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

function previewText({ at, sends, mails, withoutContact, addresses, events }: NoticesAnswer): string {
  const lines: string[] = [];
  for (const { readers, to, subject, text } of mails) {
    const names = readers.map(({ consumer }) => consumer).join(', ');
    lines.push(`To: ${to} (${names})`, `Subject: ${subject}`, '', ...text.trimEnd().split('\n'), '');
  }
  for (const { id, type, data } of events) lines.push(`Event ${type} ${id}`, `  ${JSON.stringify(data)}`, '');
  for (const { consumer, notices } of withoutContact)
    lines.push(`No contact of ${consumer}: not told of ${notices.join(', ')}`);
  if (addresses > 0)
    lines.push(`Somebody calls without a name (addresses: ${addresses}): nobody can be told.`);
  const what = [plural(mails.length, 'mail'), ...(sends.events ? [plural(events.length, 'event')] : [])];
  lines.push(`${what.join(' and ')} due at ${moment(at)}; nothing was sent.`);
  if (!sends.mails) lines.push('No mail is sent at all: the gateway file has no notify.email with an smtp.');
  return onTerminal(lines);
}

function sentText({ busy, mails, events }: SentAnswer): string {
  if (busy) return 'Another gateway is sending what is due: nothing was done here.\n';
  const failures = [
    ...(mails.failed > 0 ? [`${plural(mails.failed, 'mail')} failed`] : []),
    ...(events.failed > 0 ? [`${plural(events.failed, 'event')} failed`] : []),
  ];
  return onTerminal([
    `Sent ${plural(mails.sent, 'mail')} and ${plural(events.sent, 'event')}.`,
    ...(mails.refused > 0
      ? [`The mail server refuses ${plural(mails.refused, 'contact')}; the log names them.`]
      : []),
    ...(mails.withoutContact > 0
      ? [`${plural(mails.withoutContact, 'consumer')} without a contact: --dry-run lists them.`]
      : []),
    ...(failures.length > 0 ? [`${failures.join(', ')}: tried again later; the log says why.`] : []),
  ]);
}

/** What the command does; resolves with the exit code. */
export interface NotifyActions {
  readonly notify: (options: Said<NotifyOptions>) => Promise<number>;
}

interface NotifyWritten extends Reach {
  readonly dryRun?: true;
  readonly api?: string;
  readonly consumer?: string;
  readonly at?: string;
}

export function addNotifyCommand(
  program: Command,
  { actions, config, end }: CommandSetting<NotifyActions>,
): void {
  const command = withCalls(program.command('notify'), 'notify')
    .description('tell consumers and machines now what is due, or show what they would be told')
    .addOption(new Option('--dry-run', 'print the very mails and events, and send nothing'))
    .addOption(new Option('--api <name>', 'of this API alone'))
    .addOption(new Option('--consumer <id>', 'for this consumer alone'))
    .addOption(new Option('--at <date>', 'what will be due then').argParser(readInstantText));
  addReach(command, config).action(async (written: NotifyWritten) => {
    end(await actions.notify({ ...reachOf(written), ask: asked(command, written) }));
  });
}

function asked(command: Command, { dryRun, api, consumer, at }: NotifyWritten): NotifyAsk {
  if (dryRun) return { kind: 'dry-run', filter: { api, consumer, at } };
  const narrowed = Object.entries({ api, consumer, at }).find(([, value]) => value !== undefined);
  if (narrowed !== undefined) command.error(`error: --${narrowed[0]} belongs to --dry-run`);
  return { kind: 'send' };
}
