// Operations and exceptions in the order of judgement, at any instant.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import type { Stage } from '../../gateway/policy/lifecycle/schedule.ts';
import { planOf } from '../plan/workspace.ts';
import { judge, OBSERVED, POLICY, type Situation } from './judged-orders.ts';

describe('a version with an excepted consumer', () => {
  it.each<[string, Situation, string]>([
    ['serves every consumer before the sunset', { at: '2027-01-14', consumer: 'other' }, 'forward'],
    ['ORD-3: requires a token between sunset and retirement', { at: '2027-01-15' }, 'credentials_missing'],
    [
      'ORD-3: refuses a consumer without an exception after the sunset',
      { at: '2027-01-15', consumer: 'other' },
      'version_retired',
    ],
    ['admits an excepted consumer', { at: '2027-06-29T23:59:59.999Z', consumer: 'acme' }, 'forward'],
    ['requires no token after the last exception has ended', { at: '2027-06-30' }, 'version_retired'],
    [
      'refuses an excepted consumer from the retirement on',
      { at: '2027-07-15', consumer: 'acme' },
      'version_retired',
    ],
    [
      'ends an operation by its own date for every consumer',
      { at: '2026-06-01', path: '/api/v1/orders/old/7', consumer: 'acme' },
      'version_moved',
    ],
    [
      'checks the lifecycle before scopes',
      { at: '2027-01-15', path: '/api/v1/orders/other', consumer: 'other' },
      'version_retired',
    ],
    [
      'checks the scopes of an operation for an admitted consumer',
      { at: '2027-01-15', path: '/api/v1/orders/other', consumer: 'acme' },
      'scope_insufficient',
    ],
    [
      'applies no exception to a public operation, which ends without a token',
      { at: '2027-01-15', path: '/api/v1/orders/open', method: 'POST', consumer: 'acme' },
      'version_retired',
    ],
  ])('%s', async (_, situation, outcome) => {
    expect((await judge(situation)).outcome).toBe(outcome);
  });
});

describe('NEG-3: a lower-ranked version in Accept, after one that has a sunset,', () => {
  const accept = 'application/vnd.acme.v1+json, application/vnd.acme.v2+json;q=0.5';
  const path = '/api/orders/7';

  it.each<[string, Situation, string | undefined]>([
    ['is not used before the sunset', { at: '2027-01-14', consumer: 'other' }, 'v1'],
    ['is not used while an exception may admit a consumer', { at: '2027-06-29', consumer: 'acme' }, 'v1'],
    ['is used once no exception is left', { at: '2027-06-30', consumer: 'acme' }, 'v2'],
  ])('%s', async (_, situation, label) => {
    const { outcome, facts } = await judge({ accept, path, ...situation });
    expect([outcome, facts.decision.version?.label]).toEqual(['forward', label]);
  });

  it('is not used after the sunset in `mode: observe`', async () => {
    const { outcome, facts } = await judge({
      plan: OBSERVED,
      accept,
      path,
      at: '2028-01-01',
      consumer: 'other',
    });
    expect([outcome, facts.decision.version?.label]).toEqual(['forward', 'v1']);
    expect(facts.decision.observed).toBe('version_retired');
  });
});

describe('redirects', () => {
  it('LNK-2, RET-4: lead to the successor operation in the other version', async () => {
    const { location } = await judge({ at: '2026-06-01', path: '/api/v1/orders/old/a%2Fb' });
    expect(location).toBe('https://api.example.com/api/v2/orders/a%2Fb');
  });

  it('RET-4: never lead to an ended operation', async () => {
    const open = await judge({ at: '2026-02-28', path: '/api/v0/orders/gone' });
    expect(open.location).toBe('https://api.example.com/api/v2/orders/gone');
    const gone = await judge({ at: '2026-03-01', path: '/api/v0/orders/gone' });
    expect(gone.outcome).toBe('version_retired');
    expect((await judge({ at: '2026-06-01', path: '/api/v1/orders/old/gone' })).outcome).toBe(
      'version_retired',
    );
  });

  it('stay in the version if its own operation is the successor', async () => {
    const { location } = await judge({ at: '2026-03-01', path: '/api/v2/orders/gone' });
    expect(location).toBe('https://api.example.com/api/v2/orders');
  });
});

describe('RET-11: a version without an upstream, at any instant', () => {
  const path = '/api/v0/orders/7';
  it.each<[string, Situation, string]>([
    ['redirects after its sunset', { at: '2026-01-01', path }, 'version_moved'],
    ['redirects before its sunset', { at: '2025-12-31', path }, 'version_moved'],
    ['redirects writes too', { at: '2025-12-31', path, method: 'POST' }, 'version_moved'],
    ['is gone while there is no redirect target', { at: '2024-12-31', path }, 'version_retired'],
    ['is unknown before its release', { at: '2022-12-31', path }, 'version_unknown'],
  ])('%s', async (_, situation, outcome) => {
    const judged = await judge(situation);
    expect(judged.outcome).toBe(outcome);
    const { phase, successor } = judged.facts.decision;
    if (outcome === 'version_unknown') return;
    expect([phase?.stage, phase?.warning, phase?.replace.map(([name]) => name)]).toEqual([
      'retired',
      undefined,
      ['deprecation', 'sunset', 'x-api-deprecation-info'],
    ]);
    const there = 'https://api.example.com/api/v2/orders/7';
    expect(successor.replacement).toBe(outcome === 'version_moved' ? there : undefined);
    expect(judged.location).toBe(outcome === 'version_moved' ? there : undefined);
  });

  it('does not serve excepted consumers', async () => {
    const gone = POLICY.replace('  v1: { targets: [http://127.0.0.1:4001] }\n', '')
      .replace('sunset: 2027-01-15', 'sunset: 2026-10-15')
      .replace('until: 2026-12-01, from: [limits]', 'until: 2026-10-01, from: [limits]');
    const situation = { plan: await planOf(gone), at: '2026-11-20', consumer: 'acme' };
    expect((await judge(situation)).outcome).toBe('version_retired');
    expect((await judge({ ...situation, at: '2026-02-01' })).outcome).toBe('version_retired');
  });
});

describe('for any dates', () => {
  const STAGES: readonly Stage[] = ['planned', 'active', 'deprecated', 'sunset', 'retired'];
  const day = fc
    .integer({ min: 0, max: 4000 })
    .map((days) => Temporal.PlainDate.from('2020-01-01').add({ days }).toString());
  const instant = fc.integer({ min: Date.UTC(2019, 0, 1), max: Date.UTC(2033, 0, 1) });

  it('stages only move forward, and an operation is never at an earlier stage than its version', async () => {
    const drawn = fc.record({
      dates: fc.array(day, { minLength: 6, maxLength: 6 }).map((days) => days.toSorted()),
      hasDeprecated: fc.boolean(),
      hasSunset: fc.boolean(),
      instants: fc
        .array(instant, { minLength: 2, maxLength: 12 })
        .map((each) => each.toSorted((a, b) => a - b)),
    });
    await fc.assert(
      fc.asyncProperty(drawn, async ({ dates, hasDeprecated, hasSunset, instants }) => {
        const [released, ownDeprecated, deprecated, ownSunset, sunset, retired] = dates;
        const text = POLICY.slice(0, POLICY.indexOf('versions:')).replace(/ {2}v2:.*\n/, '');
        const version = `v1: { released: ${released}, deprecated: ${deprecated}, sunset: ${sunset}, retired: ${retired}`;
        const own = [
          ...(hasDeprecated ? [`deprecated: ${ownDeprecated}`] : []),
          ...(hasSunset ? [`sunset: ${ownSunset}`] : []),
        ].join(', ');
        const file = `${text}versions:\n  ${version}, operations: { GET /x: { ${own} } } }\n`;
        const whole = (await planOf(file)).apis[0]?.versions.get('v1');
        const part = whole?.operations?.list[0];
        if (whole === undefined || part === undefined)
          throw new Error('a version or its operation is missing');
        const stages = instants.map((now) =>
          [whole, part].map(({ phases }) => STAGES.indexOf(phaseAt(phases, now).stage)),
        );
        for (const [index, [ofWhole = 0, ofPart = 0]] of stages.entries()) {
          expect(ofPart).toBeGreaterThanOrEqual(ofWhole);
          const [laterWhole = ofWhole, laterPart = ofPart] = stages[index + 1] ?? [];
          expect(laterWhole).toBeGreaterThanOrEqual(ofWhole);
          expect(laterPart).toBeGreaterThanOrEqual(ofPart);
        }
      }),
      { numRuns: 60 },
    );
  }, 30_000);
});
