// The announcer after failures: an unavailable mail server, a killed process, and missed days.
import { expect, it } from 'vitest';
import type { VersionEvent } from '../../gateway/announce/event.ts';
import { readEvent } from '../../upstreams/webhooks/read-event.ts';
import { ORDERS } from '../plan/workspace.ts';
import { CONTACTS, openHarness } from './harness.ts';

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`);
const QUIET = day('2026-12-10');
/** Thirty days before the sunset of orders v1. */
const DUE = day('2026-12-16');
const ENDS = 'Subject: orders v1 ends on 2027-01-15';

it('an unavailable mail server is reported and retried, and no consumer gets a mail twice', async () => {
  await using harness = await openHarness({ now: QUIET });
  const announcer = harness.announcer();
  await announcer.announce();
  await harness.called('acme', 'globex');
  harness.now = DUE;
  harness.mails.refuse = 451;
  expect((await announcer.announce()).mails).toMatchObject({ sent: 0, failed: 2 });
  expect(harness.report).toContain('failed mail EENVELOPE 451');
  expect(harness.report).toContain('sunset_approaching mail failed');
  harness.mails.refuse = undefined;
  // The timer respects the backoff, even if other checks run meanwhile.
  announcer.begin();
  harness.monotonic = 30_000;
  await announcer.close();
  expect(harness.mails.mails).toEqual([]);
  const next = harness.announcer();
  expect((await next.announce()).mails).toMatchObject({ sent: 2, failed: 0 });
  expect((await next.announce()).mails).toMatchObject({ sent: 0, failed: 0 });
  expect(harness.mails.mails.map(({ to }) => to[0])).toEqual(['api@acme.example', 'dev@globex.example']);
});

it('a contact that the server refuses permanently is reported once and not retried', async () => {
  await using harness = await openHarness({ now: QUIET });
  const announcer = harness.announcer();
  await announcer.announce();
  await harness.called('acme');
  harness.now = DUE;
  harness.mails.refuse = 550;
  expect((await announcer.announce()).mails).toMatchObject({ refused: 1, failed: 0 });
  harness.mails.refuse = undefined;
  expect((await announcer.announce()).mails).toMatchObject({ sent: 0, refused: 0 });
  expect(harness.report).toEqual(['sunset_approaching mail refused', 'refused acme EENVELOPE 550']);
});

it('a process killed between a mail and its mark causes one duplicate mail, and no lost one', async () => {
  await using harness = await openHarness({ now: QUIET });
  await harness.announcer().announce();
  await harness.called('acme', 'globex');
  harness.now = DUE;
  // Simulates a kill: it neither marks the mail nor releases its claims.
  const { promise: forever } = Promise.withResolvers<never>();
  const { promise: wasSent, resolve } = Promise.withResolvers<void>();
  const { sendMail } = harness.ports;
  const killed = harness.announcer({
    leaseMs: 200,
    sendMail: async (mail) => {
      await sendMail?.(mail);
      resolve();
      return forever;
    },
  });
  void killed.announce();
  await wasSent;
  const other = harness.announcer();
  await expect.poll(async () => (await other.announce()).busy).toBe(false);
  await expect.poll(async () => (await other.announce()) && harness.mails.mails.length).toBe(3);
  expect(harness.mails.mails.map(({ to }) => to[0])).toEqual([
    'api@acme.example',
    'api@acme.example',
    'dev@globex.example',
  ]);
  const [first, again] = harness.mails.mails.map(({ headers }) =>
    headers.find((line) => /^Message-ID/.test(line)),
  );
  expect(again).toBe(first);
});

it('of missed countdown steps only the last is sent, and none from long before the first check', async () => {
  await using harness = await openHarness({ now: day('2026-10-10') });
  await harness.announcer().announce();
  harness.now = day('2027-01-09');
  await harness.called('acme');
  const events: VersionEvent[] = [];
  const sendEvent = async (event: VersionEvent) => {
    events.push(event);
    return { kind: 'sent' } as const;
  };
  await harness.announcer({ sendEvent }).announce();
  expect(events.map(({ data }) => data.notice)).toEqual(['orders/v1/sunset-7d/2027-01-15']);
  expect(harness.mails.mails.map(({ headers }) => headers.includes(ENDS))).toEqual([true]);
  // The step before it stays unsent, although it is the last one of a shorter list.
  const settings = { ...harness.ports.settings, daysBefore: [90, 30] };
  await harness.announcer({ sendEvent, settings }).announce();
  expect([events.length, harness.mails.mails.length]).toEqual([1, 1]);
});

it('a deprecation that was announced ahead is sent to callers once calls are counted', async () => {
  const policy = ORDERS.replace('deprecated: 2026-01-15', 'announced: 2026-10-01, deprecated: 2026-12-01');
  await using harness = await openHarness({ policy: policy + CONTACTS, now: day('2026-09-20') });
  const announcer = harness.announcer();
  await announcer.announce();
  harness.now = day('2026-10-01');
  expect((await announcer.announce()).mails).toMatchObject({ sent: 0 });
  harness.now = day('2026-12-02');
  await harness.called('acme');
  expect(
    (await announcer.preview({ at: undefined, api: undefined, consumer: undefined })).mails,
  ).toHaveLength(1);
  await announcer.announce();
  const [mail] = harness.mails.mails;
  expect(mail?.text).toContain('orders v1 is deprecated from 2026-12-01');
  expect((await announcer.announce()).mails).toMatchObject({ sent: 0 });
});

it('an event that the intake did not store is posted again with the same id and accepted', async () => {
  await using harness = await openHarness({ now: QUIET });
  await harness.announcer().announce();
  harness.now = DUE;
  const posted: VersionEvent[] = [];
  const sendEvent = async (event: VersionEvent) => {
    posted.push(event);
    return posted.length === 1
      ? ({ kind: 'failed', onlyThis: false, reason: 'status 503' } as const)
      : ({ kind: 'sent' } as const);
  };
  const announcer = harness.announcer({ sendEvent });
  expect((await announcer.announce()).events).toEqual({ sent: 0, failed: 1 });
  expect((await announcer.announce()).events).toEqual({ sent: 1, failed: 0 });
  expect((await announcer.announce()).events).toEqual({ sent: 0, failed: 0 });
  const [first, again] = posted.map((event) => Buffer.from(JSON.stringify(event)));
  expect(again).toEqual(first);
  expect(posted).toHaveLength(2);
  expect(posted[0]?.data.notice).toBe('orders/v1/sunset-30d/2027-01-15');
  expect(readEvent(first ?? new Uint8Array(), 0)).toMatchObject({ kind: 'event' });
});

it('a new caller gets an open notice, at the contact of its key if the policy has none', async () => {
  await using harness = await openHarness({ now: QUIET });
  const announcer = harness.announcer();
  await announcer.announce();
  harness.now = DUE;
  expect((await announcer.announce()).mails).toMatchObject({ sent: 0 });
  harness.now += 86_400_000;
  const digest = { digest: '00', until: undefined };
  const key = { id: 'k1', consumer: 'initech-key', scopes: [], contact: 'ops@initech.example', created: 1 };
  const record = { ...key, expires: undefined, rotated: undefined, revoked: undefined, secrets: [digest] };
  const keys = { list: async () => [record] };
  await harness.called('initech-key', 'umbrella-key');
  const keyed = harness.announcer({ keys });
  expect((await keyed.announce()).mails).toMatchObject({ sent: 1, withoutContact: 1 });
  expect(harness.mails.mails[0]?.to).toEqual(['ops@initech.example']);
  expect(harness.mails.mails[0]?.text).toContain('29 days are left.');
  expect(harness.report).toContain('without contact umbrella-key');
});
