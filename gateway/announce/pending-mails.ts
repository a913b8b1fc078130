// Groups unsent notices into one mail per address.
import type { GatewayPlan } from '../plan/plan.ts';
import type { KeyRecord } from '../policy/authentication/key-record.ts';
import type { EpochMs } from '../policy/contract.ts';
import { parseMail } from '../policy/notation.ts';
import { type CallingConsumer, type ConsumerNotice, callersOf } from './callers.ts';
import { type Marks, mailMark, refusedMark } from './marks.ts';
import type { Notice } from './notices.ts';
import type { AnnouncerPorts } from './ports.ts';

export interface PendingMail {
  readonly to: string;
  /** The consumers that this mail is for, each with its notices. */
  readonly readers: readonly CallingConsumer[];
}

export interface PendingMails {
  readonly pending: readonly PendingMail[];
  /** Consumers without a contact, each with the notices that are not sent. */
  readonly withoutContact: readonly CallingConsumer[];
  /** Client addresses of anonymous calls. */
  readonly addresses: number;
}

/** Rejects with `StoreUnavailable`. */
export async function pendingMails(
  notices: readonly Notice[],
  { plan, ledger, keys }: Pick<AnnouncerPorts, 'plan' | 'ledger' | 'keys'>,
  marks: Pick<Marks, 'find'>,
  now: EpochMs,
): Promise<PendingMails> {
  const { named, addresses } = await callersOf(ledger, notices, now);
  const contactOf = contactsFrom(plan(), named.some(({ byKey }) => byKey) ? await keys.list() : [], now);
  const pending = new Map<string, CallingConsumer[]>();
  const withoutContact: CallingConsumer[] = [];
  for (const caller of named) {
    const byContact = Map.groupBy(await unsent(caller, marks), ({ notice }) =>
      contactOf(caller, notice.rules.api),
    );
    for (const [to, notices] of byContact) {
      if (to === undefined) {
        withoutContact.push({ ...caller, notices });
        continue;
      }
      const wanted = await notRefused(caller, notices, to, marks);
      if (wanted.length === 0) continue;
      pending.getOrInsertComputed(to, () => []).push({ ...caller, notices: wanted });
    }
  }
  return { pending: [...pending].map(([to, readers]) => ({ to, readers })), withoutContact, addresses };
}

async function unsent(
  { consumer, notices }: CallingConsumer,
  marks: Pick<Marks, 'find'>,
): Promise<readonly ConsumerNotice[]> {
  const texts = await marks.find(notices.map(({ notice }) => mailMark(notice.id, consumer)));
  return notices.filter((_, index) => texts[index] === undefined);
}

async function notRefused(
  { consumer }: CallingConsumer,
  notices: readonly ConsumerNotice[],
  to: string,
  marks: Pick<Marks, 'find'>,
): Promise<readonly ConsumerNotice[]> {
  const texts = await marks.find(notices.map(({ notice }) => refusedMark(notice.id, consumer, to)));
  return notices.filter((_, index) => texts[index] === undefined);
}

/** Undefined if no contact is known. `api`: the API of the notice. */
type ContactOf = (caller: Pick<CallingConsumer, 'consumer' | 'byKey'>, api: string) => string | undefined;

export function contactsFrom(
  plan: Pick<GatewayPlan, 'apis'>,
  keys: readonly KeyRecord[],
  now: EpochMs,
): ContactOf {
  const byKey = new Map<string, string>();
  for (const key of keys.toSorted((a, b) => a.created - b.created))
    if (key.contact !== undefined && isWorking(key, now)) byKey.set(key.consumer, key.contact);
  return ({ consumer, byKey: isKeyed }, api) => {
    // Contacts of that API come before those of all others.
    const [own, others] = [plan.apis.filter(({ name }) => name === api), plan.apis];
    const declared = [...own, ...others].map(({ contacts }) => contacts.get(consumer));
    const found = declared.find((each) => each !== undefined) ?? (isKeyed ? byKey.get(consumer) : undefined);
    return found === undefined ? undefined : parseMail(found);
  };
}

function isWorking({ revoked, expires }: KeyRecord, now: EpochMs): boolean {
  return revoked === undefined && (expires === undefined || now < expires);
}
