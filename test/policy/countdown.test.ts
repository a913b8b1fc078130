// The countdown to a sunset, and the ids of milestones.
import { describe, expect, it } from 'vitest';
import {
  countdownOf,
  type Milestone,
  milestoneId,
  sunsetKnownSince,
} from '../../gateway/policy/lifecycle/milestones.ts';
import type { Override } from '../../gateway/policy/lifecycle/override.ts';
import type { Schedule } from '../../gateway/policy/lifecycle/schedule.ts';

const day = (text: string): number => Date.parse(`${text}T00:00:00Z`);
const schedule: Schedule = {
  released: day('2024-06-01'),
  deprecated: day('2026-01-15'),
  published: day('2027-01-15'),
  extended: [{ to: day('2027-04-15'), announced: day('2026-10-10') }],
  sunset: day('2027-04-15'),
  retired: undefined,
  forgotten: undefined,
  successor: 'v2',
  guide: undefined,
  status: undefined,
  reason: undefined,
  after: { kind: 'gone' },
};
const life = { api: 'orders', label: 'v1', operation: undefined, schedule, brownouts: undefined };
const STEPS = [90, 30, 7, 1];

describe('the countdown', () => {
  it('has a step for each lead time before the effective sunset', () => {
    const steps = countdownOf(life, { daysBefore: STEPS, knownSince: day('2026-10-10') });
    expect(steps.map((step) => [milestoneId(step), new Date(step.at).toISOString().slice(0, 10)])).toEqual([
      ['orders/v1/sunset-90d/2027-04-15', '2027-01-15'],
      ['orders/v1/sunset-30d/2027-04-15', '2027-03-16'],
      ['orders/v1/sunset-7d/2027-04-15', '2027-04-08'],
      ['orders/v1/sunset-1d/2027-04-15', '2027-04-14'],
    ]);
  });

  it('omits steps before callers knew the sunset, and is empty without one', () => {
    const late = countdownOf(life, { daysBefore: STEPS, knownSince: day('2027-03-17') });
    expect(late.map(milestoneId)).toEqual([
      'orders/v1/sunset-7d/2027-04-15',
      'orders/v1/sunset-1d/2027-04-15',
    ]);
    const endless = { ...life, schedule: { ...schedule, sunset: undefined } };
    expect(countdownOf(endless, { daysBefore: STEPS, knownSince: 0 })).toEqual([]);
  });

  it('starts with the last extension, or with the override that moved the sunset', () => {
    const now = day('2027-04-16');
    const hold: Override = {
      kind: 'hold',
      id: 'guard-orders-v1',
      api: 'orders',
      label: 'v1',
      author: 'guard',
      reason: 'still called',
      from: day('2027-04-14'),
      until: day('2027-04-18'),
    };
    const moment = { now, overrides: [hold] };
    expect(sunsetKnownSince(schedule, schedule, life, moment)).toBe(day('2026-10-10'));
    const held = { ...schedule, sunset: hold.until };
    expect(sunsetKnownSince(schedule, held, life, moment)).toBe(hold.from);
    const { extended: _none, ...unextended } = schedule;
    const announced = day('2025-12-01');
    expect(sunsetKnownSince({ ...unextended, announced }, unextended, life, moment)).toBe(announced);
  });
});

describe('the id of a milestone', () => {
  const at = day('2027-04-15');
  const operation = { ...life, operation: 'GET /search' };
  const whole = { ...life, schedule: { ...schedule, released: Number.NEGATIVE_INFINITY } };
  const cases: readonly (readonly [string, Milestone])[] = [
    ['orders/v1/released/2027-04-15', { kind: 'released', life, at }],
    [
      'orders/v1/deprecated/2026-01-15',
      { kind: 'deprecation', life, at, deprecated: day('2026-01-15'), sunset: undefined },
    ],
    ['orders/v1/extended/2027-04-15', { kind: 'extension', life, place: 0, at: 0, from: undefined, to: at }],
    [
      'orders/v1/brownouts/2027-03-16T14:00:00Z',
      { kind: 'brownouts', life, place: 0, at, from: Date.UTC(2027, 2, 16, 14), until: at, count: 3 },
    ],
    ['orders/v1/sunset/2027-04-15', { kind: 'sunset', life, at }],
    ['orders/v1/retired/2027-04-15', { kind: 'retired', life, at }],
    ['orders/v1/GET%20%2Fsearch/sunset/2027-04-15', { kind: 'sunset', life: operation, at }],
    ['orders/sunset/2027-04-15', { kind: 'sunset', life: whole, at }],
  ];
  it.each(cases)('is %s', (id, milestone) => expect(milestoneId(milestone)).toBe(id));
});
