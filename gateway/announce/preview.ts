// Previews mails and events at an instant, without sending or marking them.
import type { NoticesFound, NoticesQuery } from '../api/notice-answers.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { CallingConsumer } from './callers.ts';
import { eventOf } from './event.ts';
import { mailOf } from './mail.ts';
import { beginMark, eventMark, isBeforeFirstCheck, isOpen, type Marks, overMark } from './marks.ts';
import { type Notice, noticesAt, notifiableFrom } from './notices.ts';
import { pendingMails } from './pending-mails.ts';
import type { AnnouncerPorts } from './ports.ts';

export type Preview = (query: NoticesQuery) => Promise<NoticesFound>;

const NO_SENDER = 'gateway@localhost';

export function createPreview(ports: AnnouncerPorts, marks: Pick<Marks, 'find'>): Preview {
  const { plan, now, overrides, settings } = ports;

  const openNotices = async (at: EpochMs): Promise<readonly Notice[]> => {
    const open: Notice[] = [];
    for (const api of plan().apis) {
      const { due } = noticesAt(api, { now: at, overrides: overrides() }, settings.daysBefore);
      const [firstCheck = String(now())] = await marks.find([beginMark(api.name)]);
      for (const notice of due) {
        const [mark = String(at), over] = await marks.find([notice.id, overMark(notice.id)]);
        const from = notifiableFrom(notice);
        const isDue = over === undefined && isOpen(mark, from, at);
        if (isDue && !isBeforeFirstCheck(from, firstCheck)) open.push(notice);
      }
    }
    return open;
  };

  return async ({ at = now(), api, consumer }) => {
    const isMeant = ({ consumer: id, notices }: CallingConsumer): boolean =>
      (consumer === undefined || id === consumer) &&
      (api === undefined || notices.some(({ notice }) => notice.rules.api === api));
    const open = await openNotices(at);
    const { pending, withoutContact, addresses } = await pendingMails(open, ports, marks, now());
    const mails: NoticesFound['mails'][number][] = [];
    for (const { to, readers } of pending.filter((mail) => mail.readers.some(isMeant))) {
      const from = settings.email?.from ?? NO_SENDER;
      const { subject, text } = mailOf({ plan: plan(), to, from, now: at, readers });
      mails.push({ readers: readers.map(inIds), to, subject, text });
    }
    const posted = await marks.find(open.map(({ id }) => eventMark(id)));
    const events = open.filter(
      ({ rules }, index) => posted[index] === undefined && (api === undefined || rules.api === api),
    );
    return {
      now: now(),
      at,
      sends: { mails: ports.sendMail !== undefined, events: ports.sendEvent !== undefined },
      mails,
      withoutContact: withoutContact.filter(isMeant).map(inIds),
      addresses,
      events:
        consumer === undefined && ports.sendEvent !== undefined
          ? events.map((each) => eventOf(plan(), each))
          : [],
    };
  };
}

function inIds({ consumer, notices }: CallingConsumer) {
  return { consumer, notices: notices.map(({ notice }) => notice.id) };
}
