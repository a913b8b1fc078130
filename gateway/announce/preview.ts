// What would be sent, now or at another instant: the very mails and events, with nothing sent and nothing marked.
// Shown by the admin listener for `sundial notify --dry-run`.
import type { EpochMs } from '../policy/contract.ts';
import type { Caller } from './callers.ts';
import { eventOf, type VersionEvent } from './event.ts';
import { lettersAbout } from './letters.ts';
import { type Mail, mailOf } from './mail.ts';
import { beginMark, eventMark, isOfThePast, isOpen, type Marks, overMark } from './marks.ts';
import { type Notice, noticesAt, tellableFrom } from './notices.ts';
import type { AnnouncerPorts } from './ports.ts';

export interface PreviewAsked {
  /** Undefined: now. The ledger tells of the calls until now in any case. */
  readonly at: EpochMs | undefined;
  /** What is for it or of it, and what goes out in the same mail. */
  readonly api: string | undefined;
  readonly consumer: string | undefined;
}

export interface Previewed {
  readonly now: EpochMs;
  readonly at: EpochMs;
  /** Which channels there are. */
  readonly sends: { readonly mails: boolean; readonly events: boolean };
  readonly mails: readonly (Pick<Mail, 'to' | 'subject' | 'text'> & {
    readonly readers: readonly PreviewedNotices[];
  })[];
  readonly withoutContact: readonly PreviewedNotices[];
  /** From which somebody calls without a name. */
  readonly addresses: number;
  readonly events: readonly VersionEvent[];
}

interface PreviewedNotices {
  readonly consumer: string;
  /** Ids. */
  readonly notices: readonly string[];
}

/** Rejects with `StoreUnavailable`. */
export type Preview = (asked: PreviewAsked) => Promise<Previewed>;

const NO_SENDER = 'gateway@localhost';

export function createPreview(ports: AnnouncerPorts, marks: Pick<Marks, 'find'>): Preview {
  const { plan, now, overrides, settings } = ports;

  const openNotices = async (at: EpochMs): Promise<readonly Notice[]> => {
    const open: Notice[] = [];
    for (const api of plan().apis) {
      const { due } = noticesAt(api, { now: at, overrides: overrides() }, settings.daysBefore);
      const [firstLook = String(now())] = await marks.find([beginMark(api.name)]);
      for (const notice of due) {
        const [mark = String(at), over] = await marks.find([notice.id, overMark(notice.id)]);
        const from = tellableFrom(notice);
        const isDue = over === undefined && isOpen(mark, from, at);
        if (isDue && !isOfThePast(from, firstLook)) open.push(notice);
      }
    }
    return open;
  };

  return async ({ at = now(), api, consumer }) => {
    const isMeant = ({ consumer: id, told }: Caller): boolean =>
      (consumer === undefined || id === consumer) &&
      (api === undefined || told.some(({ notice }) => notice.rules.api === api));
    const open = await openNotices(at);
    const { letters, withoutContact, addresses } = await lettersAbout(open, ports, marks, now());
    const mails: Previewed['mails'][number][] = [];
    for (const { to, readers } of letters.filter((letter) => letter.readers.some(isMeant))) {
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

function inIds({ consumer, told }: Caller): PreviewedNotices {
  return { consumer, notices: told.map(({ notice }) => notice.id) };
}
