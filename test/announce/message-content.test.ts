// The content of events and mails for each kind of notice, and the backoff of a failed channel.
import { expect, it } from 'vitest';
import { createBackoff } from '../../gateway/announce/backoff.ts';
import { eventOf } from '../../gateway/announce/event.ts';
import { mailOf } from '../../gateway/announce/mail.ts';
import type { DueMilestone } from '../../gateway/announce/notices.ts';
import { NOW, version } from '../support/exchange-samples.ts';

const DAY = 86_400_000;
const PLAN = { public: 'https://api.example.com' };
const rules = version();
const JANUARY = Date.UTC(2027, 0, 15);
const APRIL = '2027-04-15T00:00:00Z';

type OfItsOwn<Kind> = Kind extends unknown ? Omit<Kind, 'life' | 'at'> : never;
const noticeOf = (own: OfItsOwn<DueMilestone>) => ({
  id: 'orders/v1/x',
  rules,
  milestone: { ...own, life: rules, at: NOW } as DueMilestone,
});

it.each<[OfItsOwn<DueMilestone>, string, object]>([
  [{ kind: 'deprecation', deprecated: NOW, sunset: JANUARY }, 'version.deprecated', { sunset: APRIL }],
  [
    { kind: 'extension', place: 0, from: JANUARY, to: Date.parse(APRIL) },
    'version.sunset_extended',
    { sunset: APRIL, previous_sunset: '2027-01-15T00:00:00Z' },
  ],
  [
    { kind: 'brownouts', place: 0, from: NOW, until: NOW + DAY, count: 3 },
    'version.brownout_scheduled',
    { brownouts: { from: '2026-11-20T00:00:00Z', until: '2026-11-21T00:00:00Z', count: 3 } },
  ],
  [{ kind: 'approaching', days: 7, sunset: Date.parse(APRIL) }, 'version.sunset_approaching', { days: 7 }],
  [{ kind: 'sunset' }, 'version.sunset', { sunset: APRIL }],
  [{ kind: 'retired' }, 'version.retired', {}],
])('%j is an event %s', (own, type, data) => {
  expect(eventOf(PLAN, noticeOf(own))).toMatchObject({
    type,
    created: NOW / 1_000,
    data: {
      api: 'orders',
      version: 'v1',
      deprecated: '2026-01-15T00:00:00Z',
      successor: { version: 'v2', url: 'https://api.example.com/api/v2/orders' },
      guide: 'https://docs.example.com/orders/v2',
      ...data,
    },
  });
});

const OPERATIONS = Array.from({ length: 12 }, (_, index) => [`GET /${index}`, 20 - index] as const);
const mail = mailOf({
  ...{ plan: PLAN, to: 'api@acme.example', from: 'api@example.com', now: NOW },
  readers: [
    {
      consumer: 'acme',
      byKey: false,
      notices: [
        {
          notice: noticeOf({ kind: 'deprecation', deprecated: NOW, sunset: JANUARY }),
          evidence: { calls: 174, lastAt: NOW, operations: OPERATIONS, sample: undefined },
        },
      ],
    },
  ],
});

it('a mail has the current end date, not the one announced first', () => {
  expect(mail.text).toContain('It ends on 2027-04-15.');
  expect(mail.text).toContain('146 days are left.');
  expect(mail.text).not.toContain('2027-01-15');
});

it('a mail lists the ten operations with the most calls', () => {
  expect(mail.text.match(/^ {2}GET .*$/gm)).toEqual(
    OPERATIONS.slice(0, 10).map(([name, calls]) => `  ${name}: ${calls}`),
  );
});

it('a failed channel waits for a minute, then twice as long each time, up to an hour', () => {
  let now = 0;
  const backoff = createBackoff(() => now);
  const waits = Array.from({ length: 8 }, () => {
    backoff.failed();
    const from = now;
    while (!backoff.isReady()) now += 1_000;
    return (now - from + 1_000) / 60_000;
  });
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  backoff.succeeded();
  expect(backoff.isReady()).toBe(true);
  backoff.failed();
  now += 59_000;
  expect(backoff.isReady()).toBe(true);
});
