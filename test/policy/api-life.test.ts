// The stage of an API as a whole at every boundary of its versions.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasDates, nextStageOfApi, stageOfApi } from '../../gateway/policy/lifecycle/api-life.ts';
import { createPhases, phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import type { Schedule, Stage } from '../../gateway/policy/lifecycle/schedule.ts';

const SECOND = 1_000;
const day = (text: string) => Temporal.Instant.from(`${text}T00:00:00Z`).epochMilliseconds;

type Dates = Partial<Pick<Schedule, 'released' | 'deprecated' | 'sunset' | 'retired'>>;

const scheduleOf = (dates: Dates): Schedule => ({
  released: Number.NEGATIVE_INFINITY,
  deprecated: undefined,
  sunset: undefined,
  retired: undefined,
  forgotten: undefined,
  successor: undefined,
  guide: undefined,
  status: undefined,
  reason: undefined,
  after: { kind: 'gone' },
  ...dates,
});
const lifeOf = (dates: Dates) => ({
  phases: createPhases(scheduleOf(dates), { label: 'v1', form: 'rfc9745', warning: false }),
});

describe('the stage of an API', () => {
  const [planned, active, deprecated, sunset, retired] = [
    lifeOf({ released: day('2030-01-01') }),
    lifeOf({ released: day('2020-01-01') }),
    lifeOf({ released: day('2020-01-01'), deprecated: day('2025-01-01') }),
    lifeOf({ released: day('2020-01-01'), sunset: day('2025-01-01'), retired: day('2030-01-01') }),
    lifeOf({ released: day('2020-01-01'), sunset: day('2025-01-01') }),
  ];

  it.each<[Stage, string, (typeof active)[]]>([
    ['active', 'one active version beside any other', [retired, planned, sunset, active, deprecated]],
    ['deprecated', 'no active version and one that is still served', [retired, deprecated, sunset, planned]],
    ['sunset', 'no served version and one that is not retired yet', [retired, sunset, planned]],
    ['retired', 'only retired versions', [retired, retired]],
    ['retired', 'retired versions and a planned one', [planned, retired]],
    ['planned', 'planned versions only', [planned, planned]],
  ])('is %s with %s', (stage, _words, versions) => {
    expect(stageOfApi(versions, day('2026-01-01'))).toBe(stage);
    expect(stageOfApi(versions.toReversed(), day('2026-01-01'))).toBe(stage);
  });

  const orders = [
    lifeOf({ released: day('2024-06-01'), deprecated: day('2026-01-15'), sunset: day('2027-01-15') }),
    lifeOf({
      released: day('2025-01-01'),
      deprecated: day('2026-07-01'),
      sunset: day('2027-07-01'),
      retired: day('2027-10-01'),
    }),
  ];

  it.each<[string, Stage, Stage]>([
    ['2024-06-01', 'planned', 'active'],
    ['2025-01-01', 'active', 'active'],
    ['2026-01-15', 'active', 'active'],
    ['2026-07-01', 'active', 'deprecated'],
    ['2027-01-15', 'deprecated', 'deprecated'],
    ['2027-07-01', 'deprecated', 'sunset'],
    ['2027-10-01', 'sunset', 'retired'],
  ])('at %s changes from %s to %s, to the second', (date, before, after) => {
    const at = day(date);
    const stages = [at - SECOND, at, at + SECOND].map((now) => stageOfApi(orders, now));
    expect(stages).toEqual([before, after, after]);
    const next = nextStageOfApi(orders, at - SECOND);
    if (before !== after) expect(next).toEqual({ at, stage: after });
    else expect(next?.at).toBeGreaterThan(at);
  });

  it('stays the same after the last date', () => {
    expect(nextStageOfApi(orders, day('2027-10-01'))).toBeUndefined();
    expect(nextStageOfApi([lifeOf({})], day('2026-01-01'))).toBeUndefined();
  });

  it('follows the dates of an API without versions, which may have none', () => {
    const dates = { deprecated: day('2026-01-15'), sunset: day('2027-01-15') };
    expect(stageOfApi([lifeOf(dates)], day('2026-01-15') - SECOND)).toBe('active');
    expect(stageOfApi([lifeOf(dates)], day('2026-01-15'))).toBe('deprecated');
    expect(stageOfApi([lifeOf(dates)], day('2027-01-15'))).toBe('retired');
    expect([dates, {}].map((each) => hasDates(scheduleOf(each)))).toEqual([true, false]);
  });

  it('throws for an API without any version', () => {
    expect(() => stageOfApi([], 0)).toThrow(RangeError);
  });
});

describe('the stage of any set of versions', () => {
  const instant = fc.integer({ min: 1, max: 60 });
  const maybe = fc.option(instant, { nil: undefined });
  const dates = fc.record({ released: instant, deprecated: maybe, sunset: maybe, retired: maybe });
  const versions = fc.array(dates.map(lifeOf), { minLength: 1, maxLength: 4 });
  const AGE: readonly Stage[] = ['planned', 'active', 'deprecated', 'sunset', 'retired'];

  it('is the earliest stage of all released versions', () => {
    fc.assert(
      fc.property(versions, instant, (lives, now) => {
        const stages = lives.map(({ phases }) => phaseAt(phases, now).stage);
        const stage = stageOfApi(lives, now);
        expect(stages).toContain(stage);
        const released = stages.filter((each) => each !== 'planned').map((each) => AGE.indexOf(each));
        expect(AGE.indexOf(stage)).toBe(released.length === 0 ? 0 : Math.min(...released));
      }),
    );
  });

  it('goes back only at a release of another version, and never to planned', () => {
    fc.assert(
      fc.property(versions, (lives) => {
        const releases = lives.flatMap(({ phases }) =>
          phases.slice(0, 2).flatMap(({ stage, until }) => (stage === 'planned' ? [until] : [])),
        );
        for (let now = 1; now <= 61; now += 1) {
          const [before, after] = [now - 1, now].map((at) => AGE.indexOf(stageOfApi(lives, at)));
          if (after === undefined || before === undefined || after >= before) continue;
          expect(releases).toContain(now);
          expect(AGE[after]).not.toBe('planned');
        }
      }),
    );
  });

  it('changes next at the predicted instant, and not before', () => {
    fc.assert(
      fc.property(versions, instant, (lives, now) => {
        const next = nextStageOfApi(lives, now);
        const stage = stageOfApi(lives, now);
        for (let at = now; at < (next?.at ?? 62); at += 1) expect(stageOfApi(lives, at)).toBe(stage);
        if (next !== undefined) expect(stageOfApi(lives, next.at)).toBe(next.stage);
        expect(next?.stage).not.toBe(stage);
      }),
    );
  });
});
