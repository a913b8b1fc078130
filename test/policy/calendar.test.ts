// Lifecycle events and their iCalendar form (RFC 5545).
import { describe, expect, it } from 'vitest';
import { createBrownoutCalendar } from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import {
  lifecycleEvents,
  renderCalendar,
  type VersionLife,
} from '../../gateway/policy/lifecycle/calendar.ts';
import type { Schedule } from '../../gateway/policy/lifecycle/schedule.ts';

const NOW = Date.UTC(2026, 10, 20, 15, 30);
const HOUR = 3_600_000;

const schedule: Schedule = {
  released: Date.UTC(2024, 5, 1),
  deprecated: Date.UTC(2026, 0, 15, 12),
  sunset: Date.UTC(2027, 3, 15),
  retired: undefined,
  forgotten: undefined,
  successor: 'v2',
  guide: 'https://docs.example.com/orders',
  status: undefined,
  reason: undefined,
  after: { kind: 'redirect', to: 'v2', unsafe: 308 },
};

function life(changes: Partial<Schedule> = {}, more: Partial<VersionLife> = {}): VersionLife {
  return {
    api: 'orders',
    label: 'v1',
    operation: undefined,
    operations: undefined,
    schedule: { ...schedule, ...changes },
    brownouts: undefined,
    ...more,
  };
}

function eventsOf(version: VersionLife) {
  return lifecycleEvents([{ versions: new Map([[version.label, version]]) }], NOW);
}

function linesOf(version: VersionLife): readonly string[] {
  const text = renderCalendar(eventsOf(version), { name: 'Orders', host: 'api.example.com', now: NOW });
  return text.split('\r\n');
}

describe('events', () => {
  it('are the dates in time order, with a retirement only if it differs from the sunset', () => {
    expect(eventsOf(life()).map(({ kind }) => kind)).toEqual(['released', 'deprecated', 'sunset']);
    expect(eventsOf(life({ retired: schedule.sunset })).map(({ kind }) => kind)).not.toContain('retired');
    expect(eventsOf(life({ retired: Date.UTC(2027, 6, 1) })).at(-1)?.kind).toBe('retired');
  });

  it('omit the release of an unversioned API', () => {
    const nothing = { released: Number.NEGATIVE_INFINITY, deprecated: undefined, sunset: undefined };
    expect(eventsOf(life(nothing))).toEqual([]);
  });

  it('of an operation are only those that differ from its version', () => {
    const search = { ...life({ sunset: Date.UTC(2027, 0, 1) }), operation: 'GET /search' };
    const events = eventsOf(life({}, { operations: { list: [search] } }));
    const own = events.filter(({ life: { operation } }) => operation !== undefined);
    expect(own.map(({ kind, at }) => [kind, at])).toEqual([['sunset', Date.UTC(2027, 0, 1)]]);
  });

  it('of brownouts are the running and coming ones, at most a hundred', () => {
    const window = { announced: 0, status: 410, share: undefined, message: undefined, rule: 0 } as const;
    const windows = Array.from({ length: 200 }, (_, index) => {
      const from = NOW - 3.5 * HOUR + index * 2 * HOUR;
      return { ...window, from, until: from + HOUR };
    });
    const events = eventsOf(life({}, { brownouts: createBrownoutCalendar(windows) }));
    const brownouts = events.filter(({ kind }) => kind === 'brownout');
    expect(brownouts).toHaveLength(100);
    expect(brownouts[0]?.at).toBe(NOW + HOUR / 2);
  });
});

describe('a calendar', () => {
  it('shows a date as an all-day event and an instant as a timed one', () => {
    const lines = linesOf(life());
    expect(lines.filter((line) => line.startsWith('DTSTART'))).toEqual([
      'DTSTART;VALUE=DATE:20240601',
      'DTSTART:20260115T120000Z',
      'DTSTART;VALUE=DATE:20270415',
    ]);
    expect(lines).toContain('SUMMARY:orders v1 sunset: redirected to v2');
    expect(lines).toContain('URL:https://docs.example.com/orders');
  });

  it('keeps the event id of a moved date', () => {
    const ids = (version: VersionLife) => linesOf(version).filter((line) => line.startsWith('UID:'));
    expect(ids(life())).toContain('UID:orders-v1-sunset@api.example.com');
    expect(ids(life({ sunset: Date.UTC(2027, 9, 1) }))).toEqual(ids(life()));
  });

  it('stays the same text for a whole day', () => {
    expect(linesOf(life())).toContain('DTSTAMP:20261120T000000Z');
  });

  it('escapes text and folds long lines between characters', () => {
    const lines = linesOf(life({ reason: `a;b,c\\d ${'é'.repeat(60)}` }));
    const start = lines.findIndex((line) => line.startsWith('DESCRIPTION:'));
    expect(lines[start]).toMatch(/^DESCRIPTION:a\\;b\\,c\\\\d é+$/);
    expect(lines[start + 1]).toMatch(/^ é+/);
    for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
    expect(lines.join('\r\n').replaceAll('\r\n ', '')).toContain(
      `${'é'.repeat(60)}\\nSuccessor: v2.\\nGuide:`,
    );
  });
});
