// Which consumers get a notice: those with recent calls, at their own contact, while the notice is open.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callersOf } from '../../gateway/announce/callers.ts';
import { createMailRound } from '../../gateway/announce/mail-round.ts';
import { createMarks } from '../../gateway/announce/marks.ts';
import { noticesAt } from '../../gateway/announce/notices.ts';
import { contactsFrom } from '../../gateway/announce/pending-mails.ts';
import { NO_MATCHES } from '../../gateway/plan/routes/nodes-by-name.ts';
import type { KeyRecord } from '../../gateway/policy/authentication/key-record.ts';
import type { UsageRecord } from '../../gateway/policy/usage/ledger.ts';
import { usageOf } from '../contracts/ledger-store.ts';
import { api, NOW, version } from '../support/exchange-samples.ts';
import { type AnnouncerHarness, openHarness } from './harness.ts';

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`);
const ENDED = day('2027-04-16');
const noneOf = { now: ENDED, overrides: [] };

describe('a caller', () => {
  const { due } = noticesAt(api(), noneOf, []);
  const callers = (...records: readonly UsageRecord[]) =>
    callersOf({ read: async () => ({ records, next: undefined }) }, due.slice(-1), NOW);

  it('is a named consumer; an address with the same text is counted separately', async () => {
    const { named, addresses } = await callers(
      usageOf({ callsByDay: { '2026-11-19': 2 } }),
      usageOf({ via: 'address', callsByDay: { '2026-11-19': 40 } }),
    );
    expect(addresses).toBe(1);
    expect(named).toMatchObject([{ consumer: 'acme', byKey: false, notices: [{ evidence: { calls: 2 } }] }]);
  });

  it('has called in the last thirty days: earlier calls do not count', async () => {
    const { named } = await callers(
      usageOf({ consumer: 'gone', callsByDay: { '2026-10-20': 9 } }),
      usageOf({ callsByDay: { '2026-10-20': 9, '2026-10-21': 3 } }),
    );
    expect(named.map(({ consumer, notices }) => [consumer, notices[0]?.evidence.calls])).toEqual([
      ['acme', 3],
    ]);
  });
});

describe('the contact of a caller', () => {
  const key = (created: number, contact: string | undefined, revoked?: number): KeyRecord => ({
    ...{ id: String(created), consumer: 'acme', scopes: [], contact, created, revoked },
    ...{ expires: undefined, rotated: undefined, secrets: [] },
  });
  const orders = { ...api(), contacts: new Map([['globex', 'orders@globex.example']]) };
  const others = {
    ...api(),
    name: 'others',
    contacts: new Map([
      ['globex', 'others@globex.example'],
      ['hooli', 'others@hooli.example'],
    ]),
  };
  const contactOf = (consumer: string, keys: readonly KeyRecord[] = [], byKey = true) =>
    contactsFrom({ apis: [others, orders] }, keys, NOW)({ consumer, byKey }, 'orders');

  it('comes from the called API first, then from other APIs', () => {
    expect(contactOf('globex')).toBe('orders@globex.example');
    expect(contactOf('hooli')).toBe('others@hooli.example');
  });

  it('otherwise comes from its newest working key, if it called with a key', () => {
    const keys = [key(2, 'new@acme.example'), key(1, 'old@acme.example'), key(3, 'ended@acme.example', 4)];
    expect(contactOf('acme', keys)).toBe('new@acme.example');
    expect(contactOf('acme', keys, false)).toBeUndefined();
    expect(contactOf('acme', [key(3, 'ended@acme.example', 4)])).toBeUndefined();
    expect(contactOf('acme', [key(1, 'two@acme.example, more@acme.example')])).toBeUndefined();
  });
});

describe('notices', () => {
  it('are not due for an API in observe mode, nor for a forgotten version', () => {
    expect(noticesAt(api(), noneOf, [30]).due).not.toEqual([]);
    expect(noticesAt({ ...api(), mode: 'observe' }, noneOf, [30]).due).toEqual([]);
    const { schedule } = version();
    const forgotten = version({ schedule: { ...schedule, retired: ENDED - 2, forgotten: ENDED - 1 } });
    expect(noticesAt(api([forgotten]), noneOf, [30]).due).toEqual([]);
  });

  it('name the version and not an operation that ends with it', () => {
    const operation = version({ operation: 'GET /search' });
    const both = version({
      operations: { list: [operation], match: () => undefined, reached: () => NO_MATCHES },
    });
    const { due } = noticesAt(api([both]), { now: day('2027-04-10'), overrides: [] }, [30, 7]);
    expect(due.map(({ rules }) => rules.operation)).toEqual([undefined, undefined]);
  });
});

describe('with a store', () => {
  const QUIET = day('2026-10-10');
  const NINETY_DAYS = day('2026-10-18');
  let harness: AnnouncerHarness;
  beforeAll(async () => {
    harness = await openHarness({ now: QUIET });
    await harness.announcer().announce();
    harness.now = NINETY_DAYS;
  });
  afterAll(() => harness[Symbol.asyncDispose]());

  it('an event that failed in one process is sent by another at once', async () => {
    const failed = { kind: 'failed', onlyThis: false, reason: 'status 503' } as const;
    const first = harness.announcer({ sendEvent: async () => failed });
    expect((await first.announce()).events).toEqual({ sent: 0, failed: 1 });
    const second = harness.announcer({ sendEvent: async () => ({ kind: 'sent' }) });
    expect((await second.announce()).events).toEqual({ sent: 1, failed: 0 });
  });

  it('a consumer that starts to call thirty days after the notice does not get it', async () => {
    harness.now = NINETY_DAYS + 31 * 86_400_000;
    await harness.called('acme', 'globex');
    expect((await harness.announcer().announce()).mails).toMatchObject({ sent: 0, withoutContact: 0 });
  });

  it('a dry run can be limited to one consumer, and sends nothing', async () => {
    harness.now = day('2026-12-16');
    await harness.called('acme', 'globex');
    const asked = { at: undefined, api: undefined };
    const { preview } = harness.announcer();
    const one = await preview({ ...asked, consumer: 'globex' });
    expect(one.mails.flatMap(({ readers }) => readers.map(({ consumer }) => consumer))).toEqual(['globex']);
    const all = await preview({ ...asked, consumer: undefined });
    expect(all.mails.flatMap(({ readers }) => readers.map(({ consumer }) => consumer))).toEqual([
      'acme',
      'globex',
    ]);
    expect(harness.mails.mails).toEqual([]);
  });

  it('a process that lost its lease sends nothing more and blocks no other process', async () => {
    const { ports } = harness;
    const notices = ports.plan().apis.flatMap((each) => {
      const moment = { now: harness.now, overrides: [] };
      return noticesAt(each, moment, [30]).due.filter(({ milestone }) => milestone.kind === 'approaching');
    });
    const round = createMailRound(ports, createMarks(ports.announced, { owner: 'slow' }));
    expect(await round(notices, true, async () => false)).toMatchObject({ sent: 0, failed: 0 });
    expect(harness.mails.mails).toEqual([]);
    let asked = 0;
    const away = harness.announcer({
      sendMail: async () => {
        asked += 1;
        return { kind: 'failed', onlyThis: false, reason: 'ECONNREFUSED' };
      },
    });
    // An unavailable server is not tried for the next mail.
    expect((await away.announce()).mails).toMatchObject({ sent: 0, failed: 1 });
    expect(asked).toBe(1);
    expect((await harness.announcer().announce()).mails).toMatchObject({ sent: 2, failed: 0 });
  });
});
