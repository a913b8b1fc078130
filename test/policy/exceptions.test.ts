// Exceptions and their expiry, and forgotten versions.
import { describe, expect, it } from 'vitest';
import {
  type Exception,
  exceptionFrom,
  hasExceptionFrom,
} from '../../gateway/policy/lifecycle/exceptions.ts';
import { isForgotten } from '../../gateway/policy/lifecycle/retirement.ts';
import type { Schedule } from '../../gateway/policy/lifecycle/schedule.ts';

const UNTIL = Date.UTC(2027, 5, 30);
const DAY = 86_400_000;
const exception = (changes: Partial<Exception>): Exception => ({
  consumer: 'acme',
  until: UNTIL,
  from: ['sunset'],
  why: 'contract 4711',
  by: 'api-team',
  phases: [],
  ...changes,
});
const ACME = { id: 'acme' };

describe('an exception', () => {
  const fromSunset = exception({});
  const fromLimits = exception({ from: ['limits', 'brownouts'], until: UNTIL + DAY });
  const both = [fromSunset, fromLimits];

  it.each<[string, Parameters<typeof exceptionFrom>, Exception | undefined]>([
    ['holds for its consumer until its instant', ['sunset', both, ACME, UNTIL - 1], fromSunset],
    ['has no effect from that instant on', ['sunset', both, ACME, UNTIL], undefined],
    ['does not hold for another consumer', ['sunset', both, { id: 'other' }, 0], undefined],
    ['does not hold for an anonymous caller', ['sunset', both, undefined, 0], undefined],
    ['covers only what it names', ['brownouts', [fromSunset], ACME, 0], undefined],
    ['is combined with others of the same consumer', ['limits', both, ACME, UNTIL], fromLimits],
    ['compares the whole consumer id, by case', ['sunset', both, { id: 'Acme' }, 0], undefined],
  ])('%s', (_, args, expected) => {
    expect(exceptionFrom(...args)).toBe(expected);
  });

  it('ORD-3: the consumer matters only while an exception of that kind is in force', () => {
    expect(hasExceptionFrom('sunset', both, UNTIL - 1)).toBe(true);
    expect(hasExceptionFrom('sunset', both, UNTIL)).toBe(false);
    expect(hasExceptionFrom('limits', both, UNTIL)).toBe(true);
    expect(hasExceptionFrom('brownouts', [fromSunset], 0)).toBe(false);
    expect(hasExceptionFrom('sunset', [], 0)).toBe(false);
  });
});

describe('a forgotten version', () => {
  const schedule: Schedule = {
    released: 0,
    deprecated: undefined,
    sunset: UNTIL,
    retired: undefined,
    forgotten: UNTIL + DAY,
    successor: undefined,
    guide: undefined,
    status: undefined,
    reason: undefined,
    after: { kind: 'gone' },
  };

  it('STAT-1: is unknown from its `forgotten` instant on, and never without one', () => {
    expect(isForgotten(schedule, UNTIL + DAY - 1)).toBe(false);
    expect(isForgotten(schedule, UNTIL + DAY)).toBe(true);
    expect(isForgotten({ ...schedule, forgotten: undefined }, Number.MAX_SAFE_INTEGER)).toBe(false);
  });
});
