// Usage reports: the counted days, rows per consumer, tallies per version, and the verdict.
import { describe, expect, it } from 'vitest';
import type { UsageRecord } from '../../gateway/policy/usage/ledger.ts';
import { countOf, startOfLast, usageRows } from '../../gateway/policy/usage/rows.ts';
import { usageVerdict, verdictInWords } from '../../gateway/policy/usage/verdict.ts';
import { createVersionTallies } from '../../gateway/policy/usage/version-tallies.ts';
import { daysBefore, usageWindow } from '../../gateway/policy/usage/window.ts';

const NOON = Date.UTC(2026, 10, 20, 12);
const at = (day: string) => Date.parse(`${day}T00:00:00Z`);
const window = (since = '2026-10-21') => usageWindow(NOON, since);

const record = (more: Partial<UsageRecord> = {}): UsageRecord => ({
  consumer: 'acme',
  via: 'token',
  api: 'orders',
  version: 'v1',
  operation: undefined,
  firstAt: at('2026-10-25'),
  lastAt: at('2026-11-19'),
  callsByDay: { '2026-11-19': 1 },
  agents: ['curl/8'],
  sample: undefined,
  ...more,
});

const rowsOf = (records: readonly UsageRecord[], days = window()) =>
  usageRows(records.map((each) => countOf(each, days)));

describe('the window of a report', () => {
  it.each([
    ['2026-10-21', { days: 30, readFrom: '2026-10-21' }],
    ['2026-11-17', { days: 3, readFrom: '2026-11-06' }],
    ['2026-11-20', { days: 0, readFrom: '2026-11-06' }],
  ])('since %s includes the weeks of the trend', (since, expected) => {
    expect(window(since)).toMatchObject({ ...expected, since, today: '2026-11-20' });
  });

  it('has the requested whole days and the elapsed part of today', () => {
    expect(daysBefore(NOON, 30)).toBe('2026-10-21');
    expect(daysBefore(at('2026-03-01'), 1)).toBe('2026-02-28');
  });

  it('compares whole days, because today would always look like a decline', () => {
    const callsByDay = {
      '2026-11-05': 1_000,
      '2026-11-06': 2,
      '2026-11-12': 3,
      '2026-11-13': 7,
      '2026-11-19': 11,
      '2026-11-20': 100,
    };
    const [row] = rowsOf([record({ callsByDay })], window('2026-11-12'));
    expect(row).toMatchObject({ calls: 3 + 7 + 11 + 100, trend: { week: 18, weekBefore: 5 } });
  });
});

describe('rows', () => {
  it('are one per consumer of a version and kind of credential, with its operations', () => {
    const records = [
      record({ callsByDay: { '2026-11-01': 2 }, lastAt: at('2026-11-01') }),
      record({ operation: 'GET /search', callsByDay: { '2026-11-02': 3 }, firstAt: at('2026-10-22') }),
      record({ via: 'key', callsByDay: { '2026-11-02': 5 } }),
      record({ version: 'v2' }),
      record({ version: 'v2', consumer: 'globex' }),
    ];
    expect(rowsOf(records)).toMatchObject([
      {
        consumer: 'acme',
        via: 'token',
        version: 'v1',
        calls: 5,
        firstAt: at('2026-10-22'),
        lastAt: at('2026-11-19'),
        operations: [
          { operation: undefined, calls: 2 },
          { operation: 'GET /search', calls: 3 },
        ],
      },
      { consumer: 'acme', via: 'key', version: 'v1', calls: 5 },
      { consumer: 'acme', version: 'v2', calls: 1 },
      { consumer: 'globex', version: 'v2', calls: 1 },
    ]);
  });

  it('omit consumers without a call in the window', () => {
    expect(rowsOf([record({ callsByDay: { '2026-10-20': 9 } })])).toEqual([]);
  });

  it.each([
    [[], 0],
    [['a'], 0],
    [['a', 'a'], 0],
    [['a', 'b'], 1],
    [['a', 'a', 'b', 'b'], 2],
  ])('the last consumer of %j begins at %i', (consumers, expected) => {
    expect(startOfLast(consumers.map((consumer) => record({ consumer })))).toBe(expected);
  });
});

describe('a tally', () => {
  const pages = [
    [record(), record({ operation: 'GET /search', callsByDay: { '2026-11-18': 4 } })],
    [
      record({ via: 'key', operation: 'GET /search' }),
      record({ consumer: 'globex', callsByDay: { '2026-11-01': 9 } }),
    ],
    [record({ version: 'v2' })],
  ];

  it('counts a consumer once over all pages and credentials', () => {
    const tally = createVersionTallies(({ version, consumer }) => version === 'v1' && consumer === 'acme');
    for (const page of pages) tally.add(rowsOf(page));
    expect(tally.versions()).toMatchObject([
      {
        version: 'v1',
        consumers: 2,
        calls: 15,
        lastAt: at('2026-11-19'),
        trend: { week: 6, weekBefore: 0 },
        operations: [
          { operation: undefined, consumers: 2, calls: 10 },
          { operation: 'GET /search', consumers: 1, calls: 5 },
        ],
        watched: new Map([['acme', expect.objectContaining({ calls: 6 })]]),
      },
      { version: 'v2', consumers: 1, calls: 1, watched: new Map() },
    ]);
  });

  it('does not report an address as a consumer', () => {
    const tally = createVersionTallies(() => true);
    tally.add(rowsOf([record({ via: 'address', consumer: '203.0.113.9' })]));
    expect(tally.versions()).toMatchObject([{ consumers: 1, watched: new Map() }]);
  });
});

describe('the verdict', () => {
  const LONG_AGO = at('2026-01-15');
  const NONE = { consumers: 0, calls: 0 };

  it.each([
    [NONE, LONG_AGO, LONG_AGO, 'unused', '0 calls in 30 days: safe to retire'],
    [NONE, at('2026-10-21'), LONG_AGO, 'unused', '0 calls in 30 days: safe to retire'],
    [
      NONE,
      at('2026-11-10'),
      LONG_AGO,
      'too_early',
      '0 calls, but the ledger watches it since 2026-11-10 only: too early to say',
    ],
    [NONE, undefined, LONG_AGO, 'too_early', '0 calls, but the ledger does not watch it: too early to say'],
    [
      NONE,
      LONG_AGO,
      at('2026-11-18'),
      'too_early',
      '0 calls, but it is deprecated since 2026-11-18 only: too early to say',
    ],
    [
      { consumers: 14, calls: 94_550 },
      LONG_AGO,
      LONG_AGO,
      'called',
      'still called by 14 consumers, 3,100 calls a day',
    ],
    [
      { consumers: 1, calls: 30 },
      LONG_AGO,
      LONG_AGO,
      'called',
      'still called by 1 consumer, 30 calls in 30 days',
    ],
    [{ consumers: 1, calls: 31 }, LONG_AGO, LONG_AGO, 'called', 'still called by 1 consumer, 1 call a day'],
    [
      { consumers: 2, calls: 21 },
      at('2026-11-10'),
      LONG_AGO,
      'called',
      'still called by 2 consumers, 2 calls a day; the ledger watches it since 2026-11-10 only',
    ],
    [
      { consumers: 2, calls: 7 },
      NOON - 60_000,
      LONG_AGO,
      'called',
      'still called by 2 consumers, 7 calls a day; the ledger watches it since 2026-11-20 only',
    ],
  ])('of %j, watched since %j and deprecated since %j: %s', (used, beganAt, deprecated, kind, words) => {
    const verdict = usageVerdict(used, { window: window(), beganAt, deprecated });
    expect(verdict.kind).toBe(kind);
    expect(verdictInWords(verdict)).toBe(words);
  });

  it.each([
    ['2026-11-13', '0 calls in 7 days: too short a time to say'],
    ['2026-11-20', '0 calls in 0 days: too short a time to say'],
    ['2026-08-22', '0 calls in 90 days: safe to retire'],
  ])('requested since %s: %s', (since, words) => {
    const looked = { window: window(since), beganAt: LONG_AGO, deprecated: LONG_AGO };
    expect(verdictInWords(usageVerdict(NONE, looked))).toBe(words);
  });

  it('names the operations if only they are deprecated', () => {
    const looked = { window: window(), beganAt: LONG_AGO, deprecated: LONG_AGO };
    const words = (used: typeof NONE) => verdictInWords(usageVerdict(used, looked), ['GET /a', 'GET /b']);
    expect(words(NONE)).toBe('0 calls of GET /a, GET /b in 30 days: safe to retire');
    expect(words({ consumers: 3, calls: 3 })).toBe(
      'GET /a, GET /b still called by 3 consumers, 3 calls in 30 days',
    );
  });
});
