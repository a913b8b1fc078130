// What would be sent, now or at another instant: the very mails and events, with nothing sent and nothing marked.
// Shown by the admin listener for `sundial notify --dry-run`.
import type { EpochMs } from '../policy/contract.ts';
import { type Caller, callersOf } from './callers.ts';
import { contactsFrom } from './contacts.ts';
import { eventOf, type VersionEvent } from './event.ts';
import { type Mail, mailOf } from './mail.ts';
import { beginMark, eventMark, isOfThePast, isOpen, type Marks, mailMark, overMark } from './marks.ts';
import { type Notice, noticesAt, tellableFrom } from './notices.ts';
import type { AnnouncerPorts } from './ports.ts';

export interface PreviewAsked {
  /** Undefined: now. The ledger tells of the calls until now in any case. */
  readonly at: EpochMs | undefined;
  readonly api: string | undefined;
  readonly consumer: string | undefined;
}

export interface Previewed {
  readonly now: EpochMs;
  readonly at: EpochMs;
  /** Which channels there are. */
  readonly sends: { readonly mails: boolean; readonly events: boolean };
  readonly mails: readonly (Pick<Mail, 'to' | 'subject' | 'text'> & PreviewedNotices)[];
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
  const { plan, now, overrides, ledger, keys, settings } = ports;

  const openNotices = async (at: EpochMs, name: string | undefined): Promise<readonly Notice[]> => {
    const open: Notice[] = [];
    for (const api of plan().apis.filter((each) => name === undefined || each.name === name)) {
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
  const untold = async ({ consumer, told, ...rest }: Caller): Promise<Caller> => {
    const texts = await marks.find(told.map(({ notice }) => mailMark(notice.id, consumer)));
    return { consumer, ...rest, told: told.filter((_, index) => texts[index] === undefined) };
  };

  return async ({ at = now(), api, consumer }) => {
    const open = await openNotices(at, api);
    const { named, addresses } = await callersOf(ledger, open, now());
    const meant = named.filter((caller) => consumer === undefined || caller.consumer === consumer);
    const callers = (await Promise.all(meant.map(untold))).filter(({ told }) => told.length > 0);
    const contactOf = contactsFrom(plan(), callers.some(({ byKey }) => byKey) ? await keys.list() : []);
    const mails: Previewed['mails'][number][] = [];
    const withoutContact: PreviewedNotices[] = [];
    for (const caller of callers) {
      const { told } = caller;
      const about = { consumer: caller.consumer, notices: told.map(({ notice }) => notice.id) };
      const to = contactOf(caller);
      if (to === undefined) withoutContact.push(about);
      else {
        const from = settings.email?.from ?? NO_SENDER;
        const mail = mailOf({ plan: plan(), consumer: caller.consumer, to, from, now: at, told });
        mails.push({ ...about, to, subject: mail.subject, text: mail.text });
      }
    }
    const posted = await marks.find(open.map(({ id }) => eventMark(id)));
    const events = open.filter((_, index) => posted[index] === undefined);
    return {
      now: now(),
      at,
      sends: { mails: ports.sendMail !== undefined, events: ports.sendEvent !== undefined },
      mails,
      withoutContact,
      addresses,
      events:
        consumer === undefined && ports.sendEvent !== undefined
          ? events.map((each) => eventOf(plan(), each))
          : [],
    };
  };
}
