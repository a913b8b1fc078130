// The milestones of a version and their texts.
import { describe, expect, it } from 'vitest';
import { createBrownoutCalendar } from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import type { VersionLife } from '../../gateway/policy/lifecycle/calendar.ts';
import { milestoneText, milestoneTitle } from '../../gateway/policy/lifecycle/milestone-words.ts';
import { milestonesOf, nextMilestone } from '../../gateway/policy/lifecycle/milestones.ts';
import type { Schedule } from '../../gateway/policy/lifecycle/schedule.ts';

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);
const EVER = Number.POSITIVE_INFINITY;

const schedule: Schedule = {
  released: day('2024-06-01'),
  announced: day('2025-12-01'),
  deprecated: day('2026-01-15'),
  published: day('2027-01-15'),
  extended: [
    { to: day('2027-04-15'), announced: day('2026-10-10') },
    { to: day('2027-05-15'), announced: day('2026-11-10') },
  ],
  sunset: day('2027-05-15'),
  retired: day('2027-07-15'),
  forgotten: undefined,
  successor: 'v2',
  guide: 'https://docs.example.com/v1-to-v2',
  status: undefined,
  reason: 'money amounts become integers',
  after: { kind: 'gone' },
};

const window = (from: string, rule: number, announced: string) => ({
  from: day(from),
  until: day(from) + 3_600_000,
  rule,
  announced: day(announced),
  status: 410 as const,
  share: undefined,
  message: undefined,
});

function life(changes: Partial<Schedule> = {}, more: Partial<VersionLife> = {}): VersionLife {
  const own = {
    api: 'orders',
    label: 'v1',
    operation: undefined,
    operations: undefined,
    brownouts: undefined,
  };
  return { ...own, schedule: { ...schedule, ...changes }, ...more };
}

const told = (version: VersionLife, now = EVER) =>
  milestonesOf([version], now).map(
    (each) => `${new Date(each.at).toISOString().slice(0, 10)} ${milestoneTitle(each)}`,
  );

describe('the milestones of a version', () => {
  it('are the announcements, latest first, each with the dates of its instant', () => {
    const brownouts = createBrownoutCalendar([
      window('2027-03-01', 0, '2026-11-01'),
      window('2027-03-08', 0, '2026-11-01'),
    ]);
    expect(told(life({}, { brownouts }))).toEqual([
      '2027-07-15 orders v1 is retired',
      '2027-05-15 orders v1 has ended',
      '2026-11-10 orders v1 ends on 2027-05-15, not on 2027-04-15',
      '2026-11-01 orders v1 will refuse requests for short times from 2027-03-01',
      '2026-10-10 orders v1 ends on 2027-04-15, not on 2027-01-15',
      '2025-12-01 orders v1 is deprecated from 2026-01-15',
      '2024-06-01 orders v1 is released',
    ]);
  });

  it('appear at their instant, not before', () => {
    expect(told(life(), day('2025-12-01') - 1)).toEqual(['2024-06-01 orders v1 is released']);
    expect(told(life(), day('2025-12-01'))).toHaveLength(2);
    expect(nextMilestone([life()], day('2025-12-01'))).toBe(day('2026-10-10'));
    expect(nextMilestone([life()], day('2028-01-01'))).toBe(EVER);
  });

  it('contain brownouts once per rule', () => {
    const windows = [
      window('2027-03-01', 0, '2026-11-01'),
      window('2027-03-02', 1, '2026-11-02'),
      window('2027-03-03', 0, '2026-11-01'),
    ];
    const brownouts = createBrownoutCalendar(windows);
    const found = milestonesOf([life({}, { brownouts })], EVER).filter(({ kind }) => kind === 'brownouts');
    expect(found.map((each) => milestoneText(each)[0])).toEqual([
      'Once, the last until 2027-03-02T01:00:00Z.',
      '2 times, the last until 2027-03-03T01:00:00Z.',
    ]);
  });

  it('contain a retirement only if it differs from the sunset', () => {
    expect(told(life({ retired: schedule.sunset })).join()).not.toContain('retired');
    expect(told(life({ retired: undefined })).join()).not.toContain('retired');
  });

  it('of an operation are only those that differ from its version', () => {
    const search = {
      ...life({ announced: undefined, extended: undefined, deprecated: day('2026-06-01') }),
      operation: 'GET /search',
    };
    const own = told(life({}, { operations: { list: [search] } })).filter((each) => each.includes('GET'));
    expect(own).toEqual(['2026-06-01 orders v1 GET /search is deprecated from 2026-06-01']);
  });

  it('of an API without versions use its name and have no release', () => {
    const whole = life({ released: Number.NEGATIVE_INFINITY, extended: undefined });
    expect(told(whole).at(-1)).toBe('2025-12-01 orders is deprecated from 2026-01-15');
  });
});

describe('the text of a milestone', () => {
  const textOf = (kind: string, changes: Partial<Schedule> = {}) =>
    milestonesOf([life(changes)], EVER)
      .filter((each) => each.kind === kind)
      .map(milestoneText)
      .at(-1);

  it('contains the first published end, the reason and the successor', () => {
    expect(textOf('deprecation')).toEqual([
      'It ends on 2027-01-15.',
      'Why: money amounts become integers.',
      'Move to v2.',
      'Migration guide: https://docs.example.com/v1-to-v2',
    ]);
  });

  it('names the successor operation', () => {
    expect(textOf('deprecation', { successorOperation: 'POST /{id}/cancel' })).toContain(
      'Move to v2 POST /{id}/cancel.',
    );
  });

  it('omits unknown values, and names the alternate if there is no successor', () => {
    const alone = {
      successor: undefined,
      guide: undefined,
      reason: undefined,
      published: undefined,
      sunset: undefined,
      extended: undefined,
    };
    expect(textOf('deprecation', alone)).toEqual([]);
    expect(textOf('deprecation', { ...alone, alternate: 'https://example.com/' })).toEqual([
      'Alternative: https://example.com/',
    ]);
  });

  it('says what requests get after the end', () => {
    expect(textOf('sunset')?.[0]).toBe('Requests are answered 410 Gone.');
    expect(textOf('sunset', { after: { kind: 'redirect', to: 'v2', unsafe: 308 } })?.[0]).toBe(
      'Requests are redirected to v2.',
    );
  });
});
