// The phases of a version at fixed instants. Stages only move forward.
import fc from 'fast-check';
import { parseItem } from 'structured-headers';
import { describe, expect, it } from 'vitest';
import { createPhases, phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import type { Schedule, Stage } from '../../gateway/policy/lifecycle/schedule.ts';
import { at, bare, day, options, phase, schedule } from './dated-versions.ts';

const STAGES: readonly Stage[] = ['planned', 'active', 'deprecated', 'sunset', 'retired'];

describe('stages', () => {
  const phases = createPhases(schedule, options);

  it.each<[string, Stage]>([
    ['2024-05-31T23:59:59.999Z', 'planned'],
    ['2024-06-01T00:00:00Z', 'active'],
    ['2025-05-31T23:59:59.999Z', 'active'],
    ['2025-06-01T00:00:00Z', 'deprecated'],
    ['2026-05-31T23:59:59.999Z', 'deprecated'],
    ['2026-06-01T00:00:00Z', 'sunset'],
    ['2026-12-01T00:00:00Z', 'retired'],
  ])('SUN-2, RET-11: at %s the version is %s', (instant, stage) => {
    expect(phaseAt(phases, at(instant)).stage).toBe(stage);
  });

  it('a version without dates is planned, then active forever', () => {
    expect(createPhases(bare, options).map(({ stage, from, until }) => [stage, from, until])).toEqual([
      ['planned', -Infinity, schedule.released],
      ['active', schedule.released, Infinity],
    ]);
  });

  it('without its own date, retirement equals the sunset', () => {
    const stages = createPhases({ ...schedule, retired: undefined }, options).map((each) => each.stage);
    expect(stages).toEqual(['planned', 'active', 'deprecated', 'retired']);
  });

  it('RFC 8631: documentation is linked while a version is served, deprecated or not', () => {
    const serviceDoc = 'https://docs.example.com/v1';
    const serviceDesc = 'https://docs.example.com/v1/openapi.yaml';
    const both = `<${serviceDoc}>; rel="service-doc", <${serviceDesc}>; rel="service-desc"`;
    const links = (changes: Partial<Schedule>) =>
      createPhases({ ...schedule, ...changes }, options).map((each) => each.links);
    const [before, , deprecated = '', sunset, retired] = links({});
    expect(links({ serviceDoc, serviceDesc })).toEqual([
      before,
      both,
      `${deprecated}, ${both}`,
      sunset,
      retired,
    ]);
    const alone = { ...bare, serviceDesc };
    expect(createPhases(alone, options).map((each) => each.links)).toEqual([
      '',
      `<${serviceDesc}>; rel="service-desc"`,
    ]);
  });

  it('a version released and deprecated at one instant is never active', () => {
    const stages = createPhases({ ...schedule, released: day('2025-06-01') }, options).map(
      (each) => each.stage,
    );
    expect(stages).toEqual(['planned', 'deprecated', 'sunset', 'retired']);
  });

  it('the version of an unversioned API has one active phase', () => {
    const phases = createPhases({ ...bare, released: -Infinity }, options);
    expect(phases.map(({ stage, from, until }) => [stage, from, until])).toEqual([
      ['active', -Infinity, Infinity],
    ]);
  });

  const instant = fc.integer({ min: day('1970-01-01'), max: day('9999-12-31') });
  const date = fc.option(instant, { nil: undefined });
  const dates = fc.record({ released: instant, deprecated: date, sunset: date, retired: date });

  it('with any dates, phases cover all time without gaps and stages only move forward', () => {
    fc.assert(
      fc.property(dates, (drawn) => {
        const phases = createPhases({ ...schedule, ...drawn }, options);
        expect(phases[0]?.from).toBe(-Infinity);
        expect(phases.at(-1)?.until).toBe(Infinity);
        phases.forEach((each, index) => {
          expect(each.from).toBeLessThan(each.until);
          const next = phases[index + 1];
          if (next === undefined) return;
          expect(next.from).toBe(each.until);
          expect(STAGES.indexOf(next.stage)).toBeGreaterThan(STAGES.indexOf(each.stage));
        });
      }),
    );
  });

  it('RET-11: from the sunset on no version is served, whatever its other dates', () => {
    fc.assert(
      fc.property(dates, instant, (drawn, now) => {
        const { stage } = phaseAt(createPhases({ ...schedule, ...drawn }, options), now);
        if (drawn.sunset !== undefined && now >= drawn.sunset) expect(['sunset', 'retired']).toContain(stage);
      }),
    );
  });

  it('DEP-3, SUN-1: every generated Deprecation and Sunset line parses back to its second', () => {
    fc.assert(
      fc.property(instant, instant, (deprecated, sunset) => {
        const lines = new Map(
          phase(
            { released: 0, deprecated: Math.min(deprecated, sunset), sunset: sunset + 1000 },
            'deprecated',
          ).replace,
        );
        const [item] = parseItem(lines.get('deprecation') ?? '');
        expect(item).toEqual(new Date(Math.floor(Math.min(deprecated, sunset) / 1000) * 1000));
        expect(lines.get('deprecation')).toMatch(/^@\d{1,15}$/);
        const text = lines.get('sunset') ?? '';
        expect(text).toHaveLength(29);
        expect(Date.parse(text)).toBe(Math.floor((sunset + 1000) / 1000) * 1000);
        expect(new Date(text).toUTCString()).toBe(text);
      }),
    );
  });
});
