// What dates mean to who calls now: lines and findings of `check --live` and `diff --live`, from an answer of the ledger.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { runCheck } from '../../gateway/cli/check.ts';
import { runDiff } from '../../gateway/cli/diff.ts';
import type { LiveUsage } from '../../gateway/cli/live/ask-usage.ts';
import { spellImpact, usageImpacts } from '../../gateway/cli/live/usage-impact.ts';
import { isWhole } from '../../gateway/plan/load.ts';
import type { UsageAnswer, UsageRowBody, UsedVersion } from '../../gateway/plan/usage-answers.ts';
import { GATEWAY, NOW, workspace } from '../plan/workspace.ts';

const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: { identity: main, scopes: any }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    successor: v2
    guide: https://docs.example.com/v2
    #more
  v2: { released: 2025-01-01 }
`;
const trend = { week: 0, weekBefore: 0 };

const row = (consumer: string, firstCall: string): UsageRowBody => ({
  api: 'orders',
  version: 'v1',
  consumer,
  via: 'token',
  calls: 10,
  trend,
  firstCall: `${firstCall}T00:00:00Z`,
  lastCall: '2026-11-19T00:00:00Z',
  operations: [],
});
const CALLERS = [row('acme', '2026-02-01'), row('globex', '2026-07-01'), row('initech', '2026-08-01')];

const used = (changes: Partial<UsedVersion> = {}): UsedVersion => ({
  api: 'orders',
  version: 'v1',
  stage: 'deprecated',
  deprecated: '2026-01-15T00:00:00Z',
  sunset: '2027-01-15T00:00:00Z',
  successor: 'v2',
  consumers: 14,
  calls: 93_000,
  trend,
  lastCall: '2026-11-19T00:00:00Z',
  verdict: 'called',
  summary: '',
  operations: [],
  exceptions: [],
  ...changes,
});

const answer = (changes: Partial<UsedVersion> = {}): UsageAnswer => ({
  now: '2026-11-20T00:00:00Z',
  since: '2026-10-21',
  began: '2026-01-01T00:00:00Z',
  recording: true,
  versions: [used(changes)],
  consumers: CALLERS,
  next: null,
});

async function told(
  more: string,
  changes: Partial<UsedVersion> = {},
  now = NOW,
  { callers = CALLERS, kept }: { callers?: readonly UsageRowBody[]; kept?: string } = {},
): Promise<readonly string[]> {
  await using files = await workspace({ 'policies/orders.yaml': POLICY.replace('#more', more) });
  const loaded = await files.load();
  if (!isWhole(loaded)) throw new Error(JSON.stringify(loaded.problems));
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
  return [...impacts.map(spellImpact), ...problems.map(({ line, message }) => `${line}: ${message}`)];
}

const RETIRES = 'orders v1: retires on 2027-01-15 for 14 consumers, 3,100 calls a day';
const NEAR = Date.UTC(2027, 0, 1);
const leave = (until: string, from = 'sunset') =>
  `retired: 2027-07-15\n    exceptions: [ { consumer: acme, until: ${until}, from: [${from}], why: x, by: y } ]`;
const exception = (calls: number) => ({
  exceptions: [
    { consumer: 'acme', from: ['sunset'], until: '', why: '', by: '', calls, lastCall: null, summary: '' },
  ],
});

const DECIDES = {
  countedSince: '2026-01-01T00:00:00Z',
  freeze: null,
  retirement: null,
  heldUntil: null,
  summaries: [],
};

describe('what dates mean to who calls now', () => {
  type Row = [string, string, Partial<UsedVersion>, number, readonly string[]];
  it.each<Row>([
    ['who is retired', '', {}, NOW, [RETIRES]],
    [
      'how few calls',
      '',
      { consumers: 1, calls: 12 },
      NOW,
      ['orders v1: retires on 2027-01-15 for 1 consumer, 12 calls in 30 days'],
    ],
    [
      'how often, over no more days than the gateway has looked',
      '',
      { calls: 310, looks: { since: '2026-11-10T00:00:00Z', because: 'ledger' } },
      NOW,
      [
        'orders v1: retires on 2027-01-15 for 14 consumers, 31 calls a day; the ledger watches it since 2026-11-10 only',
      ],
    ],
    [
      'the same by the gateway, however far ahead the files are judged',
      '',
      { calls: 310, looks: { since: '2026-11-10T00:00:00Z', because: 'deprecated' } },
      NEAR,
      [
        'orders v1: retires on 2027-01-15 for 14 consumers, 31 calls a day; it is deprecated since 2026-11-10 only',
      ],
    ],
    ['nobody', '', { consumers: 0, calls: 0 }, NOW, []],
    ['nothing once it has ended', '', {}, Date.UTC(2027, 0, 15), []],
    [
      'that a rule is met',
      'retire_when: { consumers_below: 20 }',
      {},
      NOW,
      [RETIRES, 'orders v1: retire_when below 20 consumers in 30 days: met'],
    ],
    [
      'that a rule is not met in its own days',
      'retire_when: { consumers_below: 20, calls_below: 1000000/60d, on_exceed: hold }',
      {},
      NOW,
      [
        RETIRES,
        'orders v1: retire_when below 20 consumers and 1,000,000 calls in 60 days: exceeded by 20 consumers, 93,000 calls in 60 days, its sunset would be held',
      ],
    ],
    [
      'that too much is called shortly before a sunset, as a finding',
      'retire_when: { consumers_below: 1 }',
      {},
      NEAR,
      [
        RETIRES,
        '15: v1, 2027-01-15: retire_when below 1 consumer in 30 days: exceeded by 14 consumers, 93,000 calls in 30 days, its sunset comes all the same',
      ],
    ],
    ...(['hold', 'warn'] as const).map(
      (onExceed): Row => [
        `of a hold that runs how to end it, where the file says ${onExceed}`,
        `retire_when: { consumers_below: 20, on_exceed: ${onExceed} }`,
        { decides: { ...DECIDES, heldUntil: '2027-01-18T00:00:00Z' } },
        NOW,
        [
          RETIRES,
          'orders v1: retire_when below 20 consumers in 30 days: met',
          onExceed === 'hold'
            ? 'orders v1: its retirement is held now, until 2027-01-18 or longer: on_exceed: warn lets it run out'
            : 'orders v1: its retirement is held now, until 2027-01-18, and not longer: sundial pause --end ends it at once',
        ],
      ],
    ),
    [
      'that a ledger is too young for a rule',
      'retire_when: { consumers_below: 20 }',
      {
        decides: { ...DECIDES, countedSince: '2026-11-01T00:00:00Z' },
      },
      NOW,
      [
        RETIRES,
        'orders v1: retire_when below 20 consumers in 30 days: the ledger has not looked long enough',
      ],
    ],
    [
      'whom a freeze refuses',
      'freeze: 2026-06-01',
      {},
      NOW,
      [
        RETIRES,
        'orders v1: closed to new consumers since 2026-06-01: refuses 2 of 3 consumers that called it in 30 days',
      ],
    ],
    [
      'whom a freeze to come finds',
      'freeze: 2026-12-01',
      {},
      NOW,
      [RETIRES, 'orders v1: closes to new consumers on 2026-12-01; 3 consumers call it now'],
    ],
    [
      'that a freeze refuses nobody, as a finding',
      'freeze: 2026-06-01',
      {
        decides: { ...DECIDES, countedSince: '2026-06-01T00:00:00Z' },
      },
      NOW,
      [RETIRES, '15: this freeze refuses nobody: calls of v1 are counted only since 2026-06-01'],
    ],
    [
      'what leave is used for',
      leave('2027-06-30'),
      exception(120),
      NOW,
      [RETIRES, 'orders v1: acme has leave from sunset until 2027-06-30: 120 calls in 30 days'],
    ],
    [
      'that leave is about to end and still used, as a finding',
      leave('2026-12-01', 'brownouts'),
      exception(120),
      NOW,
      [
        RETIRES,
        '16: leave from brownouts until 2026-12-01 ends in 11 days, and acme still calls: 120 calls in 30 days',
      ],
    ],
    [
      'that leave is about to end and used no more',
      leave('2026-12-01', 'brownouts'),
      exception(0),
      NOW,
      [RETIRES, 'orders v1: acme has leave from brownouts until 2026-12-01: 0 calls in 30 days'],
    ],
  ])('tells %s', async (_title, more, changes, now, expected) => {
    expect(await told(more, changes, now)).toEqual(expected);
  });

  it('tells that a rule cannot be judged of days that the ledger has forgotten', async () => {
    const rule = 'retire_when: { consumers_below: 20 }';
    const said = async (kept: string) => (await told(rule, { decides: DECIDES }, NOW, { kept })).at(-1);
    expect(await said('2026-11-14T00:00:00Z')).toBe(
      'orders v1: retire_when below 20 consumers in 30 days: the ledger has not looked long enough',
    );
    expect(await said('2026-10-21T00:00:00Z')).toMatch(/: met$/);
  });

  it('tells of a consumer that is known by its key and by tokens once, from its first call by either', async () => {
    const byKey = (consumer: string, firstCall: string) => ({
      ...row(consumer, firstCall),
      via: 'key' as const,
    });
    const callers = [...CALLERS, byKey('globex', '2026-03-01'), byKey('acme', '2026-09-01')];
    expect(await told('freeze: 2026-06-01', { decides: DECIDES }, NOW, { callers })).toContain(
      'orders v1: closed to new consumers since 2026-06-01: refuses 1 of 3 consumers that called it in 30 days',
    );
  });
});

describe('a command that asks the running gateway', () => {
  /** One with an answer of its own where an admin listener would be. */
  async function gatewayAt(answered: UsageAnswer) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const isHello = request.url === '/-/healthy';
      if (!isHello) asked.push(request.url ?? '');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(isHello ? { status: 'healthy' } : answered));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const config = GATEWAY.replace('127.0.0.1:9901', `127.0.0.1:${port}`);
    const close = () => new Promise<void>((resolve) => void server.close(() => resolve()));
    return { asked, config, close };
  }
  const common = { environment: {}, now: NOW, colour: false } as const;

  it('diff --live says of a changed version whom that meets, and of others nothing', async () => {
    const { asked, config, close } = await gatewayAt(answer());
    await using files = await workspace({
      'config/gateway.yaml': config,
      'policies/orders.yaml': POLICY.replace('2027-01-15', '2027-03-15'),
      'old/orders.yaml': POLICY,
    });
    const options = {
      ...common,
      older: `${files.folder}/old`,
      newer: undefined,
      configFile: files.configFile,
      cwd: files.folder,
      exitCode: false,
      format: 'text' as const,
    };
    const { text } = await runDiff({ ...options, live: true });
    expect(text).toContain('orders v1: sunset 2027-01-15 -> 2027-03-15, +2 months\n');
    expect(text).toContain('now:\n  orders v1: retires on 2027-03-15 for 14 consumers, 3,100 calls a day\n');
    expect(asked).toEqual(['/-/usage?since=30d']);
    expect((await runDiff(options)).text).not.toContain('now:');
    const json = JSON.parse((await runDiff({ ...options, live: true, format: 'json' })).text);
    expect(json.impact).toMatchObject([{ api: 'orders', version: 'v1' }]);
    await close();
    expect((await runDiff({ ...options, live: true })).text).toContain('nothing is said of usage: ');
  });

  it('check --live asks for the callers of a frozen version, and for nobody else’s', async () => {
    const { asked, config, close } = await gatewayAt(answer({ decides: DECIDES }));
    const policy = POLICY.replace('#more', 'freeze: 2026-06-01');
    const fresh = policy.replaceAll('orders', 'invoices');
    await using files = await workspace({
      'config/gateway.yaml': config,
      'policies/orders.yaml': policy,
      'policies/new.yaml': fresh,
    });
    const { configFile, folder: cwd } = files;
    const live = { today: NOW };
    const { text } = await runCheck({
      ...common,
      files: [],
      configFile,
      cwd,
      format: 'text',
      strict: false,
      live,
    });
    expect(text).toContain('orders v1: closed to new consumers since 2026-06-01: refuses 2 of 3 consumers');
    expect(asked).toEqual(['/-/usage?since=30d', '/-/usage?since=30d&api=orders&version=v1']);
    await close();
  });

  it('check --live says it of every version', async () => {
    const { config, close } = await gatewayAt(answer());
    await using files = await workspace({ 'config/gateway.yaml': config, 'policies/orders.yaml': POLICY });
    const { text } = await runCheck({
      ...common,
      files: [],
      configFile: files.configFile,
      cwd: files.folder,
      format: 'text',
      strict: false,
      live: { today: NOW },
    });
    expect(text).toContain(`${RETIRES}\n`);
    await close();
  });
});
