// One round of mails: to each consumer that still calls one, with everything it was not told of yet.
// A mail is claimed before it is sent and marked after it was: killed in between, it is sent once more, and never not at all.
import { StoreUnavailable } from '../policy/contract.ts';
import { createBackoff } from './backoff.ts';
import { type Caller, callersOf, type Told } from './callers.ts';
import { contactsFrom } from './contacts.ts';
import { mailOf } from './mail.ts';
import { type Marks, mailMark } from './marks.ts';
import { kindOf, type Notice } from './notices.ts';
import type { AnnouncerPorts, LookResult } from './ports.ts';
import type { MailOutcome } from './send-mail.ts';

type Counts = { -readonly [K in keyof LookResult['mails']]: number };

/** The ledger is read anew when there is something new to tell, and else this often: somebody may have begun to call. */
const SELDOM_MS = 60 * 60_000;

/** `isOurs` renews the turn: whoever has lost it stops. */
export type MailRound = (
  notices: readonly Notice[],
  forced: boolean,
  isOurs: () => Promise<boolean>,
) => Promise<LookResult['mails']>;

export function createMailRound(ports: AnnouncerPorts, marks: Marks): MailRound {
  const { plan, now, monotonic, ledger, keys, settings, sendMail, report } = ports;
  const backoff = createBackoff(monotonic);
  const unreachable = new Set<string>();
  let seen = '';
  let nextAt = Number.NEGATIVE_INFINITY;

  const claimed = async ({ consumer, told }: Caller): Promise<readonly Told[]> => {
    const own: Told[] = [];
    for (const each of told) if (await marks.claim(mailMark(each.notice.id, consumer))) own.push(each);
    return own;
  };
  const settle = async (consumer: string, told: readonly Told[], outcome: MailOutcome): Promise<void> => {
    for (const { notice } of told) {
      const mark = mailMark(notice.id, consumer);
      report.onAnnounced(kindOf(notice), 'mail', outcome.kind);
      if (outcome.kind === 'failed') await marks.release(mark);
      else await marks.done(mark, `${outcome.kind} ${now()}`);
    }
  };
  const tellWithoutContact = (callers: readonly Caller[]): void => {
    const added: string[] = [];
    for (const { consumer, told } of callers) {
      const news = told.filter(({ notice }) => !unreachable.has(mailMark(notice.id, consumer)));
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
    isOurs: () => Promise<boolean>,
    counts: Counts,
  ): Promise<void> => {
    if (sendMail === undefined || settings.email === undefined) return;
    const { from } = settings.email;
    const { named } = await callersOf(ledger, notices, now());
    const contactOf = contactsFrom(plan(), named.some(({ byKey }) => byKey) ? await keys.list() : []);
    const withoutContact = named.filter((caller) => contactOf(caller) === undefined);
    counts.withoutContact = withoutContact.length;
    tellWithoutContact(withoutContact);
    for (const caller of named) {
      const to = contactOf(caller);
      if (to === undefined) continue;
      const told = await claimed(caller);
      if (told.length === 0) continue;
      const { consumer } = caller;
      if (!(await isOurs())) {
        for (const { notice } of told) await marks.release(mailMark(notice.id, consumer));
        return;
      }
      const outcome = await sendMail(mailOf({ plan: plan(), consumer, to, from, now: now(), told }));
      await settle(consumer, told, outcome);
      counts[outcome.kind] += 1;
      if (outcome.kind === 'refused') report.onRefused(consumer, outcome.reason);
      if (outcome.kind !== 'failed') continue;
      report.onFailed('mail', outcome.reason);
      if (!outcome.other) return;
    }
  };

  return async (notices, forced, isOurs) => {
    const counts: Counts = { sent: 0, refused: 0, failed: 0, withoutContact: 0 };
    const key = notices.map(({ id }) => id).join('\n');
    const isNews = key !== seen || monotonic() >= nextAt;
    if (notices.length === 0 || !(forced || (backoff.isReady() && isNews))) return counts;
    try {
      await round(notices, isOurs, counts);
    } catch (error) {
      // Nothing is known to be done: the next look tries again.
      seen = '';
      if (error instanceof StoreUnavailable) backoff.failed();
      throw error;
    }
    if (counts.failed > 0) {
      seen = '';
      backoff.failed();
      return counts;
    }
    [seen, nextAt] = [key, monotonic() + SELDOM_MS];
    backoff.succeeded();
    return counts;
  };
}
