// Sends one round of mails to consumers that still call, each with all of its unsent notices.
import type { NoticesSent } from '../api/notice-answers.ts';
import { StoreUnavailable } from '../policy/contract.ts';
import { createBackoff } from './backoff.ts';
import type { CallingConsumer } from './callers.ts';
import { mailOf } from './mail.ts';
import { type Marks, mailMark, refusedMark } from './marks.ts';
import { kindOf, type Notice } from './notices.ts';
import { type PendingMail, pendingMails } from './pending-mails.ts';
import type { AnnouncerPorts } from './ports.ts';
import type { MailOutcome } from './send-mail.ts';

type MailCounts = NoticesSent['mails'];

/** The ledger is read when a notice is due, and at least this often, because a consumer may have started to call. */
const READ_LEDGER_EVERY_MS = 60 * 60_000;

/** `holdsLease` renews the lease. A process that has lost the lease stops. */
export type MailRound = (
  notices: readonly Notice[],
  forced: boolean,
  holdsLease: () => Promise<boolean>,
) => Promise<NoticesSent['mails']>;

export function createMailRound(ports: AnnouncerPorts, marks: Marks): MailRound {
  const { plan, now, monotonic, settings, sendMail, report } = ports;
  const backoff = createBackoff(monotonic);
  const unreachable = new Set<string>();
  let seen = '';
  let nextAt = Number.NEGATIVE_INFINITY;

  const claimed = async ({ readers }: PendingMail): Promise<readonly CallingConsumer[]> => {
    const own: CallingConsumer[] = [];
    for (const reader of readers) {
      const isMine = await Promise.all(
        reader.notices.map(({ notice }) => marks.claim(mailMark(notice.id, reader.consumer))),
      );
      const notices = reader.notices.filter((_, index) => isMine[index]);
      if (notices.length > 0) own.push({ ...reader, notices });
    }
    return own;
  };
  const settle = async (
    to: string,
    readers: readonly CallingConsumer[],
    outcome: MailOutcome,
  ): Promise<void> => {
    for (const { consumer, notices } of readers) {
      for (const { notice } of notices) report.onAnnounced(kindOf(notice), 'mail', outcome.kind);
      await Promise.all(
        notices.map(async ({ notice }) => {
          const mark = mailMark(notice.id, consumer);
          if (outcome.kind === 'sent') return marks.done(mark, `sent ${now()}`);
          if (outcome.kind === 'refused')
            await marks.done(refusedMark(notice.id, consumer, to), String(now()));
          return marks.release(mark);
        }),
      );
      if (outcome.kind === 'refused') report.onRefused(consumer, outcome.reason);
    }
  };
  const reportWithoutContact = (callers: readonly CallingConsumer[]): void => {
    const added: string[] = [];
    for (const { consumer, notices } of callers) {
      const news = notices.filter(({ notice }) => !unreachable.has(mailMark(notice.id, consumer)));
      for (const { notice } of news) {
        unreachable.add(mailMark(notice.id, consumer));
        report.onAnnounced(kindOf(notice), 'mail', 'no_contact');
      }
      if (news.length > 0) added.push(consumer);
    }
    if (added.length > 0) report.onWithoutContact(added);
  };

  const round = async (
    notices: readonly Notice[],
    holdsLease: () => Promise<boolean>,
    counts: MailCounts,
  ): Promise<void> => {
    if (sendMail === undefined || settings.email === undefined) return;
    const { from } = settings.email;
    const { pending, withoutContact } = await pendingMails(notices, ports, marks, now());
    counts.withoutContact = withoutContact.length;
    reportWithoutContact(withoutContact);
    for (const mail of pending) {
      const readers = await claimed(mail);
      if (readers.length === 0) continue;
      if (!(await holdsLease())) {
        for (const { consumer, notices } of readers)
          for (const { notice } of notices) await marks.release(mailMark(notice.id, consumer));
        return;
      }
      const { to } = mail;
      const outcome = await sendMail(mailOf({ plan: plan(), to, from, now: now(), readers }));
      await settle(to, readers, outcome);
      counts[outcome.kind] += 1;
      if (outcome.kind !== 'failed') continue;
      report.onFailed('mail', outcome.reason);
      if (!outcome.onlyThis) return;
    }
  };

  return async (notices, forced, holdsLease) => {
    const counts: MailCounts = { sent: 0, refused: 0, failed: 0, withoutContact: 0 };
    const key = notices.map(({ id }) => id).join('\n');
    const isNews = key !== seen || monotonic() >= nextAt;
    if (notices.length === 0 || !(forced || (backoff.isReady() && isNews))) return counts;
    try {
      await round(notices, holdsLease, counts);
    } catch (error) {
      // The outcome is unknown, so the next check tries again.
      seen = '';
      if (error instanceof StoreUnavailable) backoff.failed();
      throw error;
    }
    if (counts.failed > 0) {
      seen = '';
      backoff.failed();
      return counts;
    }
    [seen, nextAt] = [key, monotonic() + READ_LEDGER_EVERY_MS];
    backoff.succeeded();
    return counts;
  };
}
