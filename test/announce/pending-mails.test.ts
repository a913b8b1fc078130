// Mails are grouped by address, use the contacts of each API, and go to a corrected address.
import { expect, it } from 'vitest';
import { ORDERS } from '../plan/workspace.ts';
import { openHarness } from './harness.ts';

const QUIET = Date.UTC(2026, 11, 10);
/** Thirty days before the sunset of orders v1. */
const DUE = Date.UTC(2026, 11, 16);
const EVERYTHING = { at: undefined, api: undefined, consumer: undefined };
const INVOICES = ORDERS.replaceAll('orders', 'invoices').replace('sunset: 2027-01-15', 'sunset: 2027-01-20');

it('consumers with the same address get one mail with the calls of each, as in the dry run', async () => {
  const contacts =
    'contacts: { acme: api@acme.example, acme-batch: api@acme.example, globex: g@globex.example }\n';
  await using harness = await openHarness({ policy: ORDERS + contacts, now: QUIET });
  const announcer = harness.announcer();
  await announcer.announce();
  await harness.called('acme', 'acme-batch', 'globex');
  harness.now = DUE;
  const { mails } = await announcer.preview(EVERYTHING);
  const { mails: ofOne } = await announcer.preview({ ...EVERYTHING, consumer: 'acme-batch', api: 'orders' });
  expect((await announcer.announce()).mails).toMatchObject({ sent: 2 });
  expect(harness.mails.mails.map(({ to, text }) => [to[0], text.trimEnd()])).toEqual(
    mails.map(({ to, text }) => [to, text.trimEnd()]),
  );
  expect(ofOne).toEqual(mails.slice(0, 1));
  for (const words of [
    'because of calls as acme and acme-batch.',
    'Calls of orders v1 by acme in the last 30 days: 1,',
    'Calls of orders v1 by acme-batch in the last 30 days: 1,',
  ])
    expect(harness.mails.mails[0]?.text).toContain(words);
  expect(harness.mails.mails[0]?.text.match(/Call https:/g)).toHaveLength(1);
  expect((await announcer.announce()).mails).toMatchObject({ sent: 0 });
});

it('a notice goes to the contact in the policy of its API, whatever was sent before', async () => {
  await using harness = await openHarness({
    policy: `${ORDERS}contacts: { acme: orders@acme.example }\n`,
    others: { 'policies/shop.yaml': `${INVOICES}contacts: { acme: invoices@acme.example }\n` },
    now: QUIET,
  });
  const announcer = harness.announcer();
  await announcer.announce();
  await harness.called('acme');
  await harness.calledOf('invoices', 'acme');
  harness.now = DUE;
  await announcer.announce();
  harness.now = Date.UTC(2026, 11, 21);
  expect((await announcer.preview(EVERYTHING)).mails.map(({ to }) => to)).toEqual(['invoices@acme.example']);
  await announcer.announce();
  expect(
    harness.mails.mails.map(({ to, headers }) => [to[0], headers.find((line) => /^Subject/.test(line))]),
  ).toEqual([
    ['orders@acme.example', 'Subject: orders v1 ends on 2027-01-15'],
    ['invoices@acme.example', 'Subject: invoices v1 ends on 2027-01-20'],
  ]);
});

it('a refused address blocks no other consumer, and a corrected address gets the mail', async () => {
  const contacts = 'contacts: { acme: old@acme.example, globex: g@globex.example }\n';
  await using harness = await openHarness({ policy: ORDERS + contacts, now: QUIET });
  const announcer = harness.announcer();
  await announcer.announce();
  await harness.called('acme');
  harness.now = DUE;
  harness.mails.refuse = 550;
  expect((await announcer.announce()).mails).toMatchObject({ refused: 1 });
  harness.mails.refuse = undefined;
  expect((await announcer.announce()).mails).toMatchObject({ sent: 0, refused: 0 });
  await using mended = await openHarness({ policy: ORDERS + contacts.replace('old@', 'new@') });
  const after = harness.announcer({ plan: mended.ports.plan });
  expect((await after.announce()).mails).toMatchObject({ sent: 1 });
  expect(harness.mails.mails.map(({ to }) => to[0])).toEqual(['new@acme.example']);
});

it('the mail to a consumer with an exception names the exception', async () => {
  const exceptions = '[{ consumer: acme, until: 2027-06-30, from: [sunset], why: contract, by: maria }]';
  const policy = ORDERS.replace(
    'successor: v2 }',
    `successor: v2, retired: 2027-12-31, exceptions: ${exceptions} }`,
  );
  const contacts = 'contacts: { acme: api@acme.example, globex: g@globex.example }\n';
  await using harness = await openHarness({ policy: policy + contacts, now: QUIET });
  const announcer = harness.announcer();
  await announcer.announce();
  await harness.called('acme', 'globex');
  harness.now = DUE;
  await announcer.announce();
  const [acme, globex] = harness.mails.mails;
  expect(acme?.text).toContain('acme has an exception from sunset until 2027-06-30.');
  expect(acme?.html).toContain('<li>acme has an exception from');
  expect(globex?.text).not.toContain('exception');
});

it('the contact of an expired key is not used', async () => {
  await using harness = await openHarness({ now: QUIET });
  await harness.announcer().announce();
  await harness.called('initech-key');
  harness.now = DUE;
  const working = {
    consumer: 'initech-key',
    scopes: [],
    rotated: undefined,
    revoked: undefined,
    secrets: [],
  };
  const keys = [
    { ...working, id: 'k1', contact: 'ops@initech.example', created: 1, expires: undefined },
    { ...working, id: 'k2', contact: 'gone@initech.example', created: 2, expires: DUE },
  ];
  await harness.announcer({ keys: { list: async () => keys } }).announce();
  expect(harness.mails.mails.map(({ to }) => to[0])).toEqual(['ops@initech.example']);
});
