// `sundial notify`: shows the mails and events that are due, or sends them now.
import { type Command, Option } from 'commander';
import {
  type NoticesAnswer,
  readNoticesAnswer,
  readSentAnswer,
  type SentAnswer,
} from '../../api/notice-answers.ts';
import { plural } from '../../plan/problems.ts';
import { call, withQuery } from '../admin-call.ts';
import { onGateway, withGateway } from '../admin-command.ts';
import { type CommandSetting, readInstantText, withCalls } from '../command-setting.ts';
import { moment, onTerminal } from '../terminal-text.ts';

const CALLS = `Usual calls:
  sundial notify --dry-run --api orders --consumer acme
  sundial notify --dry-run --at 2027-04-08     what will be due that day
  sundial notify                        send what is due now`;

const NOTICES = '/-/notices';
/** Time for the gateway to read its ledger. */
const SHOWN_WITHIN_MS = 60_000;
/** Time for hundreds of mails, one after the other. */
const SENT_WITHIN_MS = 600_000;

interface NotifyOptions extends Partial<Readonly<Record<'api' | 'consumer' | 'at', string>>> {
  readonly dryRun?: true;
}

/** Exit code 0 if everything due was sent or shown, 1 if something could not be sent. */
export function addNotifyCommand(program: Command, setting: CommandSetting): void {
  const command = withCalls(program.command('notify'), CALLS)
    .description('send the mails and events that are due now, or show them')
    .addOption(new Option('--dry-run', 'print the mails and events, and send nothing'))
    .addOption(new Option('--api <name>', 'only for this API'))
    .addOption(new Option('--consumer <id>', 'only for this consumer'))
    .addOption(new Option('--at <date>', 'show what will be due at this instant').argParser(readInstantText));
  onGateway(withGateway(command), setting, ({ dryRun, api, consumer, at }: NotifyOptions) => {
    const filter = { api, consumer, at };
    if (dryRun)
      return call({
        request: { method: 'GET', path: withQuery(NOTICES, filter), withinMs: SHOWN_WITHIN_MS },
        read: readNoticesAnswer,
        render: previewText,
      });
    const narrowed = Object.entries(filter).find(([, value]) => value !== undefined);
    if (narrowed !== undefined) command.error(`error: --${narrowed[0]} needs --dry-run`);
    return call({
      request: { method: 'POST', path: NOTICES, withinMs: SENT_WITHIN_MS },
      read: readSentAnswer,
      render: sentText,
      isDone: ({ mails, events }) => mails.failed + events.failed === 0,
    });
  });
}

function previewText({ at, sends, mails, withoutContact, addresses, events }: NoticesAnswer): string {
  const lines: string[] = [];
  for (const { readers, to, subject, text } of mails) {
    const names = readers.map(({ consumer }) => consumer).join(', ');
    lines.push(`To: ${to} (${names})`, `Subject: ${subject}`, '', ...text.trimEnd().split('\n'), '');
  }
  for (const { id, type, data } of events) lines.push(`Event ${type} ${id}`, `  ${JSON.stringify(data)}`, '');
  for (const { consumer, notices } of withoutContact)
    lines.push(`${consumer} has no contact, so it gets no mail about ${notices.join(', ')}`);
  if (addresses > 0) lines.push(`Anonymous callers get no mail (addresses: ${addresses}).`);
  const what = [plural(mails.length, 'mail'), ...(sends.events ? [plural(events.length, 'event')] : [])];
  lines.push(`${what.join(' and ')} due at ${moment(at)}; nothing was sent.`);
  if (!sends.mails) lines.push('The gateway sends no mails: the gateway file has no notify.email.smtp.');
  return onTerminal(lines);
}

function sentText({ busy, mails, events }: SentAnswer): string {
  if (busy) return 'Another gateway is sending the mails and events that are due. This one sent nothing.\n';
  const failures = [
    ...(mails.failed > 0 ? [`${plural(mails.failed, 'mail')} failed`] : []),
    ...(events.failed > 0 ? [`${plural(events.failed, 'event')} failed`] : []),
  ];
  return onTerminal([
    `Sent ${plural(mails.sent, 'mail')} and ${plural(events.sent, 'event')}.`,
    ...(mails.refused > 0
      ? [`The mail server refuses ${plural(mails.refused, 'contact')}. The log names them.`]
      : []),
    ...(mails.withoutContact > 0
      ? [`${plural(mails.withoutContact, 'consumer')} without a contact: --dry-run lists them.`]
      : []),
    ...(failures.length > 0
      ? [`${failures.join(', ')}. The gateway retries later. The log has the errors.`]
      : []),
  ]);
}
