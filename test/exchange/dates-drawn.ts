// Random schedules of a version and an operation, an instant near one of their dates, their policy file.
import fc from 'fast-check';
import type { BrownoutRule } from '../../gateway/policy/lifecycle/brownout-rule.ts';
import type { PolicyFile, VersionFile } from '../../gateway/sections/policy-file.ts';
import { type Brownout, type Case, GUIDES, instantsOf, type Life, type Part } from './dates-model.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const BEGIN = Date.UTC(2026, 10, 20);
const day = (count: number) => BEGIN + count * DAY;

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const upTo = (max: number) => fc.nat(max);

const lifeArbitrary: fc.Arbitrary<Life> = fc
  .record({
    released: upTo(6),
    has: fc.constantFrom('nothing', 'deprecated', 'sunset', 'both', 'both', 'both', 'both'),
    announced: optional(fc.integer({ min: -3, max: 12 })),
    deprecated: fc.integer({ min: 0, max: 14 }),
    sunset: fc.integer({ min: 3, max: 20 }),
    extended: fc.array(
      fc.record({ ahead: fc.integer({ min: 1, max: 12 }), by: fc.integer({ min: 1, max: 12 }) }),
      {
        maxLength: 2,
      },
    ),
    retired: optional(upTo(6)),
    forgotten: optional(upTo(6)),
    dated: fc.uniqueArray(upTo(16), { maxLength: 2 }),
    phased: fc.uniqueArray(fc.integer({ min: 1, max: 5 }), { maxLength: 2 }),
    lead: upTo(14),
  })
  .map((drawn): Life => {
    const { released, has } = drawn;
    const deprecated = has === 'deprecated' || has === 'both' ? released + drawn.deprecated : undefined;
    const first = has === 'sunset' || has === 'both' ? (deprecated ?? released) + drawn.sunset : undefined;
    let end = first ?? 0;
    let earliest = Number.NEGATIVE_INFINITY;
    const extended: { announced: number; to: number }[] = [];
    for (const { ahead, by } of first === undefined ? [] : drawn.extended) {
      earliest = Math.max(earliest, end - ahead);
      extended.push({ announced: day(earliest), to: day(end + by) });
      end += by;
    }
    const retired = first === undefined || drawn.retired === undefined ? undefined : end + drawn.retired;
    const forgotten =
      first === undefined || drawn.forgotten === undefined ? undefined : (retired ?? end) + drawn.forgotten;
    const brownouts: Brownout[] =
      deprecated === undefined || first === undefined
        ? []
        : [
            ...drawn.dated.map((on) => ({
              on: { day: day(deprecated + on) },
              announced: day(deprecated + on - drawn.lead),
            })),
            ...drawn.phased.map((before) => ({ on: { before }, announced: day(end - before - drawn.lead) })),
          ];
    return {
      released: day(released),
      announced:
        deprecated === undefined || drawn.announced === undefined
          ? undefined
          : day(Math.max(released - 2, deprecated - drawn.announced)),
      deprecated: deprecated === undefined ? undefined : day(deprecated),
      sunset: first === undefined ? undefined : day(first),
      extended,
      retired: retired === undefined ? undefined : day(retired),
      forgotten: forgotten === undefined ? undefined : day(forgotten),
      brownouts,
    };
  });

const partArbitrary: fc.Arbitrary<Part> = fc
  .record({
    deprecated: optional(fc.integer({ min: 7, max: 20 })),
    sunset: optional(fc.integer({ min: 21, max: 40 })),
    brownouts: optional(fc.uniqueArray(upTo(16), { maxLength: 1 })),
    lead: upTo(14),
    guide: fc.boolean(),
  })
  .map(({ deprecated, sunset, brownouts, lead, guide }) => ({
    guide,
    deprecated: deprecated === undefined ? undefined : day(deprecated),
    sunset: sunset === undefined ? undefined : day(sunset),
    brownouts: brownouts?.map((on) => ({ on: { day: day(20 + on) }, announced: day(20 + on - lead) })),
  }));

export const caseArbitrary: fc.Arbitrary<Case> = fc
  .record({
    life: lifeArbitrary,
    part: partArbitrary,
    form: fc.constantFrom('rfc9745', 'rfc9745', 'true', 'http-date'),
    warning: fc.boolean(),
    accompanied: fc.boolean(),
    pick: fc.nat(1_000),
    shift: fc.constantFrom(-1_000, -1, 0, 1, 1_000, 6 * HOUR),
  })
  .map(({ pick, shift, ...drawn }): Case => {
    const instants = instantsOf(drawn.life, drawn.part);
    return { ...drawn, now: (instants[pick % instants.length] ?? BEGIN) + shift };
  });

export function fileOf({ life, part, form, warning, accompanied }: Case, sample: PolicyFile): PolicyFile {
  const { extended, brownouts, ...dates } = life;
  const written = Object.fromEntries(Object.entries(dates).filter(([, at]) => at !== undefined));
  const own = {
    deprecated: part.deprecated,
    sunset: part.sunset,
    brownouts: part.brownouts?.map(ruleOf),
    guide: part.guide ? GUIDES.operation : undefined,
  };
  const version = {
    ...written,
    released: life.released,
    ...(extended.length > 0 && { extended: extended.map((each) => ({ ...each })) }),
    ...(brownouts.length > 0 && { brownouts: brownouts.map(ruleOf) }),
    ...(accompanied && { successor: 'v2' }),
    guide: GUIDES.version,
    operations: {
      'GET /old': Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined)),
    },
  } as VersionFile;
  return {
    ...sample,
    deprecation_header: form,
    warning,
    echo: true,
    versions: { v1: version, ...(accompanied && { v2: { released: BEGIN - 1_000 * DAY } as VersionFile }) },
  };
}

function ruleOf({ announced, on }: Brownout): BrownoutRule {
  const answer = { announced, status: 410, share: undefined, message: undefined } as const;
  const times =
    'day' in on
      ? ({ kind: 'dated', from: on.day + HOUR, until: on.day + 6 * HOUR } as const)
      : ({
          kind: 'phase',
          beforeSunset: on.before * DAY - 12 * HOUR,
          beat: undefined,
          lasts: 5 * HOUR,
        } as const);
  return { ...answer, times };
}
