// Links to versions other than the successor are cached per stage and correct at any moment.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linkedVersions, relatedLinks } from '../../gateway/exchange/linked-versions.ts';
import type { VersionRules } from '../../gateway/plan/plan.ts';
import { assess } from '../../gateway/policy/lifecycle/assess.ts';
import type { Override } from '../../gateway/policy/lifecycle/override.ts';
import { createPhases, phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import type { Label } from '../../gateway/policy/versioning/resolution.ts';
import { api, plan, upstream, version } from '../support/exchange-samples.ts';

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);

function life(label: Label, dates: Readonly<Record<string, string>>, changes: Partial<VersionRules> = {}) {
  const at = (key: string) => (dates[key] === undefined ? undefined : day(dates[key]));
  const schedule = {
    ...version().schedule,
    released: day(dates.released ?? ''),
    deprecated: at('deprecated'),
    sunset: at('sunset'),
    successor: dates.successor,
  };
  const phasesOf: VersionRules['phasesOf'] = (of) =>
    createPhases(of, { label, form: 'rfc9745', warning: true });
  const place = `/api/${label}/orders`;
  return version({ label, schedule, phases: phasesOf(schedule), phasesOf, place, upstream, ...changes });
}

const versions = (): readonly VersionRules[] => [
  life('v3', { released: '2026-06-01' }, { predecessors: ['v2'] }),
  life(
    'v2',
    { released: '2025-06-01', deprecated: '2026-09-01', sunset: '2027-06-01', successor: 'v3' },
    { predecessors: ['v1'] },
  ),
  life('v1', { released: '2024-06-01', deprecated: '2026-01-15', sunset: '2027-01-15', successor: 'v2' }),
];

const pause: Override = {
  kind: 'pause',
  id: 'p1',
  api: 'orders',
  label: 'v1',
  author: 'ana',
  reason: 'why',
  from: day('2027-01-10'),
  until: day('2027-03-01'),
};
const NONE: readonly Override[] = [];
const PAUSED: readonly Override[] = [pause];

interface Query {
  readonly now: number;
  readonly overrides: readonly Override[];
  readonly label: Label;
}

function asker(): (query: Query, tail?: string) => string | undefined {
  const owner = api(versions());
  const whole = plan([owner]);
  return ({ now, overrides, label }, tail = '/7') => {
    const written = owner.versions.get(label);
    if (written === undefined) throw new Error(`no ${label}`);
    const rules = assess(written, { now, overrides });
    const phase = phaseAt(rules.phases, now);
    return relatedLinks(linkedVersions(whole, owner, rules, phase, { now, overrides }), tail);
  };
}

const to = (path: string, rel: string) => `<https://api.example.com/api/${path}>; rel="${rel}-version"`;

describe('cached links', () => {
  it.each([
    ['name the predecessor while deprecated', 'v2', '2026-12-01', NONE, to('v1/orders/7', 'predecessor')],
    ['name the newest version besides the successor', 'v1', '2026-07-01', NONE, to('v3/orders/7', 'latest')],
    ['name the predecessor while active', 'v3', '2026-07-01', NONE, to('v2/orders/7', 'predecessor')],
    ['do not name an ended predecessor', 'v2', '2027-02-01', NONE, undefined],
    ['name a predecessor that a pause holds', 'v2', '2027-02-01', PAUSED, to('v1/orders/7', 'predecessor')],
    ['do not name it after the pause', 'v2', '2027-03-01', PAUSED, undefined],
  ] as const)('%s', (_title, label, date, overrides, expected) => {
    expect(asker()({ now: day(date), overrides, label })).toBe(expected);
  });

  it('LNK-3: have the escaped tail of each resource', () => {
    const ask = asker();
    const query = { now: day('2026-12-01'), overrides: NONE, label: 'v2' };
    expect(ask(query, '/a%2Fb')).toBe(to('v1/orders/a%2Fb', 'predecessor'));
    expect(ask(query, '/"<[x]>,')).toBe(to('v1/orders/%22%3C%5Bx%5D%3E,', 'predecessor'));
    expect(ask(query, '')).toBe(to('v1/orders', 'predecessor'));
  });

  it('equal newly computed links at any instant', () => {
    const arbitrary = fc.array(
      fc.record({
        now: fc.constantFrom(
          ...[
            '2025-01-01',
            '2026-01-15',
            '2026-06-01',
            '2026-09-01',
            '2027-01-12',
            '2027-01-15',
            '2027-03-01',
          ]
            .map(day)
            .flatMap((at) => [at - 1, at, at + 1]),
        ),
        overrides: fc.constantFrom(NONE, PAUSED),
        label: fc.constantFrom<Label>('v1', 'v2', 'v3'),
      }),
      { minLength: 2, maxLength: 12 },
    );
    fc.assert(
      fc.property(arbitrary, (sequence) => {
        const ask = asker();
        for (const query of sequence) expect(ask(query)).toBe(asker()(query));
      }),
    );
  });
});
