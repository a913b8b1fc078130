// Lines and findings about current calls, from a policy and a response of the ledger.
import { describe, expect, it } from 'vitest';
import type { UsageRowBody, UsedVersion } from '../../gateway/api/usage-answers.ts';
import type { LiveUsage } from '../../gateway/cli/live-usage.ts';
import { formatImpact, usageImpacts } from '../../gateway/cli/usage-impact.ts';
import { hasPlan } from '../../gateway/plan/load.ts';
import { NOW, workspace } from '../plan/workspace.ts';
import { answer, CALLERS, DECIDES, POLICY, RETIRES, row } from './called-orders.ts';

async function impactsOf(
  more: string,
  changes: Partial<UsedVersion> = {},
  now = NOW,
  { callers = CALLERS, kept }: { callers?: readonly UsageRowBody[]; kept?: string } = {},
): Promise<readonly string[]> {
  await using files = await workspace({ 'policies/orders.yaml': POLICY.replace('#more', more) });
  const loaded = await files.load();
  if (!hasPlan(loaded)) throw new Error(JSON.stringify(loaded.problems));
  const month = { ...answer(changes), ...(kept !== undefined && { kept }) };
  const live: LiveUsage = {
    kind: 'usage',
    now: month.now,
    answers: new Map([
      [30, month],
      [60, answer({ ...changes, consumers: 20 })],
    ]),
    callers,
  };
  const { impacts, problems } = usageImpacts(loaded.sources.policies, live, now);
  return [...impacts.map(formatImpact), ...problems.map(({ line, message }) => `${line}: ${message}`)];
}

const NEAR = Date.UTC(2027, 0, 1);
const withException = (until: string, from = 'sunset') =>
  `retired: 2027-07-15\n    exceptions: [ { consumer: acme, until: ${until}, from: [${from}], why: x, by: y } ]`;
const exception = (calls: number) => ({
  exceptions: [
    { consumer: 'acme', from: ['sunset'], until: '', why: '', by: '', calls, lastCall: null, summary: '' },
  ],
});

describe('the impact on current callers', () => {
  type Row = [string, string, Partial<UsedVersion>, number, readonly string[]];
  it.each<Row>([
    ['the consumers that a retirement affects', '', {}, NOW, [RETIRES]],
    [
      'few calls as a total',
      '',
      { consumers: 1, calls: 12 },
      NOW,
      ['orders v1: retires on 2027-01-15 for 1 consumer, 12 calls in 30 days'],
    ],
    [
      'calls per day since the ledger began to record',
      '',
      { calls: 310, looks: { since: '2026-11-10T00:00:00Z', because: 'ledger' } },
      NOW,
      [
        'orders v1: retires on 2027-01-15 for 14 consumers, 31 calls a day; the ledger has recorded it only since 2026-11-10',
      ],
    ],
    [
      'calls per day by the gateway clock, even if the files are judged as of a later day',
      '',
      { calls: 310, looks: { since: '2026-11-10T00:00:00Z', because: 'deprecated' } },
      NEAR,
      [
        'orders v1: retires on 2027-01-15 for 14 consumers, 31 calls a day; it has been deprecated only since 2026-11-10',
      ],
    ],
    ['nothing for a version without calls', '', { consumers: 0, calls: 0 }, NOW, []],
    ['nothing for an ended version', '', {}, Date.UTC(2027, 0, 15), []],
    [
      'that retire_when is met',
      'retire_when: { consumers_below: 20 }',
      {},
      NOW,
      [RETIRES, 'orders v1: retire_when below 20 consumers in 30 days: met'],
    ],
    [
      'that retire_when is exceeded in the days that it counts',
      'retire_when: { consumers_below: 20, calls_below: 1000000/60d, on_exceed: hold }',
      {},
      NOW,
      [
        RETIRES,
        'orders v1: retire_when below 20 consumers and 1,000,000 calls in 60 days: exceeded by 20 consumers, 93,000 calls in 60 days, its sunset would be held',
      ],
    ],
    [
      'an exceeded retire_when shortly before the sunset as a finding',
      'retire_when: { consumers_below: 1 }',
      {},
      NEAR,
      [
        RETIRES,
        '15: v1, 2027-01-15: retire_when below 1 consumer in 30 days: exceeded by 14 consumers, 93,000 calls in 30 days, its sunset stays',
      ],
    ],
    ...(['hold', 'warn'] as const).map(
      (onExceed): Row => [
        `how to end a running hold with on_exceed: ${onExceed}`,
        `retire_when: { consumers_below: 20, on_exceed: ${onExceed} }`,
        { decides: { ...DECIDES, heldUntil: '2027-01-18T00:00:00Z' } },
        NOW,
        [
          RETIRES,
          'orders v1: retire_when below 20 consumers in 30 days: met',
          onExceed === 'hold'
            ? 'orders v1: its retirement is held now, until 2027-01-18 or longer; on_exceed: warn lets it expire'
            : 'orders v1: its retirement is held now, until 2027-01-18 at the latest; sundial pause --end ends it at once',
        ],
      ],
    ),
    [
      'that the ledger has recorded too few days for a rule',
      'retire_when: { consumers_below: 20 }',
      {
        decides: { ...DECIDES, countedSince: '2026-11-01T00:00:00Z' },
      },
      NOW,
      [
        RETIRES,
        'orders v1: retire_when below 20 consumers in 30 days: the ledger has not counted long enough',
      ],
    ],
    [
      'how many consumers a freeze refuses',
      'freeze: 2026-06-01',
      {},
      NOW,
      [
        RETIRES,
        'orders v1: closed to new consumers since 2026-06-01: refuses 2 of 3 consumers that called it in 30 days',
      ],
    ],
    [
      'how many consumers call before a coming freeze',
      'freeze: 2026-12-01',
      {},
      NOW,
      [RETIRES, 'orders v1: closes to new consumers on 2026-12-01; 3 consumers call it now'],
    ],
    [
      'a freeze that refuses no consumer as a finding',
      'freeze: 2026-06-01',
      {
        decides: { ...DECIDES, countedSince: '2026-06-01T00:00:00Z' },
      },
      NOW,
      [RETIRES, '15: this freeze refuses no consumer, because calls of v1 are counted only since 2026-06-01'],
    ],
    [
      'the calls under an exception',
      withException('2027-06-30'),
      exception(120),
      NOW,
      [RETIRES, 'orders v1: acme has an exception from sunset until 2027-06-30: 120 calls in 30 days'],
    ],
    [
      'an exception that ends soon and is still used as a finding',
      withException('2026-12-01', 'brownouts'),
      exception(120),
      NOW,
      [
        RETIRES,
        '16: an exception from brownouts until 2026-12-01 ends in 11 days, and acme still calls: 120 calls in 30 days',
      ],
    ],
    [
      'an exception that ends soon and is no longer used',
      withException('2026-12-01', 'brownouts'),
      exception(0),
      NOW,
      [RETIRES, 'orders v1: acme has an exception from brownouts until 2026-12-01: 0 calls in 30 days'],
    ],
  ])('reports %s', async (_title, more, changes, now, expected) => {
    expect(await impactsOf(more, changes, now)).toEqual(expected);
  });

  it('reports that a rule cannot be judged if the ledger has deleted days that it counts', async () => {
    const rule = 'retire_when: { consumers_below: 20 }';
    const said = async (kept: string) => (await impactsOf(rule, { decides: DECIDES }, NOW, { kept })).at(-1);
    expect(await said('2026-11-14T00:00:00Z')).toBe(
      'orders v1: retire_when below 20 consumers in 30 days: the ledger has not counted long enough',
    );
    expect(await said('2026-10-21T00:00:00Z')).toMatch(/: met$/);
  });

  it('counts a consumer with key and token once, from its first call by either', async () => {
    const byKey = (consumer: string, firstCall: string) => ({
      ...row(consumer, firstCall),
      via: 'key' as const,
    });
    const callers = [...CALLERS, byKey('globex', '2026-03-01'), byKey('acme', '2026-09-01')];
    expect(await impactsOf('freeze: 2026-06-01', { decides: DECIDES }, NOW, { callers })).toContain(
      'orders v1: closed to new consumers since 2026-06-01: refuses 1 of 3 consumers that called it in 30 days',
    );
  });
});
