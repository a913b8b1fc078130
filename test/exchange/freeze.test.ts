// A frozen version, judged at any instant: who is let in, who is told where to go, and what an operator is told of it.

import { beforeAll, describe, expect, it } from 'vitest';
import { runDiff } from '../../gateway/cli/diff.ts';
import { runExplain } from '../../gateway/cli/explain.ts';
import { runTimeline } from '../../gateway/cli/timeline.ts';
import { createExchange } from '../../gateway/exchange/exchange.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import type { Adopter } from '../../gateway/policy/usage/adoption.ts';
import { GATEWAY, NOW, planOf, workspace } from '../plan/workspace.ts';
import { view } from '../support/exchange-samples.ts';
import { NEW_KEYS } from '../support/new-keys.ts';

const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: { identity: main, scopes: { read: [orders:read] } }
limits: { rate: 600/1m }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    freeze: 2026-06-01
    sunset: 2027-01-15
    successor: v2
    guide: https://docs.example.com/v2
    exceptions: [ { consumer: partner, until: 2026-12-01, from: [freeze], why: contract, by: team } ]
    operations:
      GET /open: { access: public }
      GET /old: { sunset: 2026-09-01 }
  v2: { released: 2025-01-01 }
`;

let enforced: GatewayPlan;
let observed: GatewayPlan;

beforeAll(async () => {
  enforced = await planOf(POLICY);
  observed = await planOf(`mode: observe\n${POLICY}`);
});

interface Situation {
  readonly at?: string;
  readonly path?: string;
  readonly plan?: GatewayPlan;
  /** Undefined: no token at all. */
  readonly consumer?: string;
  readonly scopes?: readonly string[];
}

/** Whoever is called `new…` came too late. */
async function judge({
  at = '2026-11-20',
  path = '/api/v1/orders/7',
  plan = enforced,
  consumer,
  scopes = ['orders:read'],
}: Situation) {
  const now = Date.parse(`${at.includes('T') ? at : `${at}T00:00:00Z`}`);
  const asked: (readonly [Adopter, number])[] = [];
  const counted: string[] = [];
  const seen: Adopter[] = [];
  const exchange = createExchange({
    plan: () => plan,
    now: () => now,
    wallClock: () => now,
    monotonic: () => 0,
    guard: () => ({ allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 0 }),
    limiter: {
      take: (parts) =>
        parts.map(({ key, limit, rule }) => {
          counted.push(key);
          return { kind: 'counted', limit, rule, allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 0 };
        }),
    },
    pins: { find: () => undefined, claim: async (_key, pin) => pin, replace: async () => true },
    adoption: {
      saw: (adopter) => seen.push(adopter),
      isLate: (adopter, freeze) => {
        asked.push([adopter, freeze]);
        return Promise.resolve(adopter.consumer.startsWith('new'));
      },
    },
    ledger: undefined,
    overrides: () => [],
    idempotency: NEW_KEYS,
    authenticators: new Map([
      [
        'main',
        tokenAuthenticator(() => NOW, {
          claims: () => true,
          verify: (id) => ({
            kind: 'consumer',
            consumer: { id, named: true, via: 'token', scopes: new Set(scopes), claims: {} },
          }),
        }),
      ],
    ]),
    onFault: () => undefined,
    hstsSeconds: undefined,
  });
  const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
  const headers = consumer === undefined ? {} : { authorization: `Bearer ${consumer}` };
  const request = view({ path, headers });
  const directive = await exchange.decide(request, facts);
  const refusal = directive.kind === 'refuse' ? directive.refusal : undefined;
  const answer = refusal && exchange.refuse(refusal, facts, request);
  return { outcome: refusal?.reason ?? directive.kind, answer, facts, asked, counted, seen };
}

describe('a frozen version', () => {
  it.each<[string, Situation, string]>([
    ['lets in who was there before', { consumer: 'acme' }, 'forward'],
    ['refuses who came later', { consumer: 'newcomer' }, 'adoption_frozen'],
    ['refuses from the instant of its day', { at: '2026-06-01', consumer: 'newcomer' }, 'adoption_frozen'],
    ['lets everybody in until then', { at: '2026-05-31T23:59:59.999Z', consumer: 'newcomer' }, 'forward'],
    ['refuses a newcomer whatever its scopes', { consumer: 'newcomer', scopes: [] }, 'adoption_frozen'],
    ['asks for a token first', {}, 'credentials_missing'],
    ['does not judge who is known by an address alone', { path: '/api/v1/orders/open' }, 'forward'],
    [
      'is frozen in all its operations',
      { at: '2026-08-01', path: '/api/v1/orders/old', consumer: 'newcomer' },
      'adoption_frozen',
    ],
    [
      'ORD-3: tells of an end before a freeze',
      { path: '/api/v1/orders/old', consumer: 'newcomer' },
      'version_retired',
    ],
    ['ORD-3: ends for everybody', { at: '2027-01-15', consumer: 'newcomer' }, 'version_retired'],
    ['leaves its successor open', { path: '/api/v2/orders/7', consumer: 'newcomer' }, 'forward'],
  ])('%s', async (_title, situation, outcome) => {
    expect((await judge(situation)).outcome).toBe(outcome);
  });

  it('asks the ledger by the id of the consumer, whatever proved it, and only from the day on', async () => {
    const adopter = { consumer: 'acme', api: 'orders', version: 'v1' };
    expect((await judge({ consumer: 'acme' })).asked).toEqual([[adopter, Date.UTC(2026, 5, 1)]]);
    expect((await judge({ at: '2026-05-31', consumer: 'acme' })).asked).toEqual([]);
    const justBefore = { at: '2026-05-31T23:59:59.999Z', consumer: 'acme' };
    expect(await judge(justBefore)).toMatchObject({ asked: [], seen: [adopter] });
    expect((await judge({ path: '/api/v2/orders/7', consumer: 'acme' })).asked).toEqual([]);
  });

  it('lets in who has leave, without asking, until the leave ends', async () => {
    expect(await judge({ consumer: 'partner' })).toMatchObject({ outcome: 'forward', asked: [] });
    expect((await judge({ at: '2026-12-01', consumer: 'partner' })).asked).toHaveLength(1);
  });

  it('says where to go in body and Link, counts the refused against no limit, and lets nobody keep the answer', async () => {
    const { answer, counted } = await judge({ consumer: 'newcomer' });
    expect(counted).toEqual([]);
    expect(answer?.status).toBe(403);
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      error: 'Forbidden',
      message: 'API version v1 takes no new consumers since 2026-06-01.',
      replacement: 'https://api.example.com/api/v2/orders/7',
      migration_guide: 'https://docs.example.com/v2',
    });
    expect(answer?.headers).toMatchObject({
      'cache-control': 'no-store',
      'proxy-status': 'sundial; error=http_request_denied',
      deprecation: '@1768435200',
    });
    expect(answer?.headers['www-authenticate']).toBeUndefined();
    expect(String(answer?.headers.link)).toContain(
      '<https://api.example.com/api/v2/orders/7>; rel="successor-version"',
    );
  });

  it('is only counted where the API is only observed', async () => {
    const { outcome, facts } = await judge({ plan: observed, consumer: 'newcomer' });
    expect([outcome, facts.observed]).toEqual(['forward', 'adoption_frozen']);
  });
});

describe('what an operator is told', () => {
  const policies = { 'policies/orders.yaml': POLICY };

  it.each<[string, Partial<Parameters<typeof runExplain>[0]>, string]>([
    ['assumes that a consumer was seen before', {}, 'since 2026-06-01  (assumed: seen before)'],
    [
      'judges one that was seen later',
      { account: { firstSeen: Date.UTC(2026, 6, 1) } },
      'acme was first seen 2026-07-01',
    ],
    ['of one that has leave', { as: 'partner' }, 'partner has leave'],
    ['of a day that is to come', { now: Date.UTC(2026, 4, 1) }, 'from 2026-06-01  new consumers are refused'],
  ])('explain %s', async (_title, options, said) => {
    await using files = await workspace(policies);
    const { text } = await runExplain({
      request: 'GET /api/v1/orders/7',
      headers: [],
      as: 'acme',
      scopes: undefined,
      paused: undefined,
      format: 'text',
      configFile: files.configFile,
      environment: {},
      now: NOW,
      today: NOW,
      colour: false,
      cwd: files.folder,
      ...options,
    });
    const line = text.split('\n').find((each) => each.startsWith('freeze '));
    expect(line).toContain(said);
    const refused = /^refused +adoption_frozen .*policies\/orders\.yaml:13$/m.test(text);
    expect(refused).toBe(options.account !== undefined);
  });

  it('the timeline marks the day', async () => {
    await using files = await workspace(policies);
    const { text } = await runTimeline({
      api: undefined,
      format: 'text',
      configFile: files.configFile,
      environment: {},
      now: NOW,
      today: NOW,
      columns: 100,
      colour: false,
      cwd: files.folder,
    });
    expect(text).toMatch(/v1 .*▒┊▒/);
    expect(text.replace(/\s+/g, ' ')).toContain('closed to new consumers since 2026-06-01');
    expect(text).toContain('┊ closed to new consumers');
  });

  it('an expectation says when a consumer came', async () => {
    const expect_ = (day: string) =>
      `${POLICY}expect: [ { request: GET /api/v1/orders, as: acme, first_seen: ${day}, at: 2026-11-20, status: 403 } ]\n`;
    await using late = await workspace({ 'policies/orders.yaml': expect_('2026-06-01') });
    await using early = await workspace({ 'policies/orders.yaml': expect_('2026-05-31') });
    const { failedExpectations } = await import('../../gateway/cli/expectations.ts');
    expect(await failedExpectations(await late.load())).toEqual([]);
    expect(await failedExpectations(await early.load())).toMatchObject([{ rule: 'expect' }]);
  });
});

describe('a retirement by usage', () => {
  const RULE = '    retire_when: { consumers_below: 1, calls_below: 100/30d, on_exceed: hold }\n';
  const policy = POLICY.replace('    successor: v2\n', `    successor: v2\n${RULE}`);

  it('is told by explain and the timeline, until the sunset', async () => {
    await using files = await workspace({ 'policies/orders.yaml': policy });
    const common = {
      configFile: files.configFile,
      environment: {},
      today: NOW,
      colour: false,
      cwd: files.folder,
    };
    const explain = async (now: number) => {
      const asked = {
        request: 'GET /api/v1/orders/7',
        headers: [],
        as: 'acme',
        scopes: undefined,
        paused: undefined,
      };
      const { text } = await runExplain({ ...common, ...asked, format: 'text', now });
      return text.split('\n').find((each) => each.startsWith('retires '));
    };
    expect(await explain(NOW)).toMatch(
      /^retires +below 1 consumer and 100 calls in 30 days +else the sunset is held, for 90 days at most +policies\/orders\.yaml:16$/,
    );
    expect(await explain(Date.UTC(2027, 0, 15))).toBeUndefined();
    const { text } = await runTimeline({ ...common, api: undefined, format: 'text', now: NOW, columns: 100 });
    expect(text.replace(/\s+/g, ' ')).toContain(
      'held for at most 90 days unless below 1 consumer and 100 calls in 30 days',
    );
  });

  it('and a freeze are told by diff in words', async () => {
    await using files = await workspace({
      'policies/orders.yaml': policy,
      'old/orders.yaml': POLICY.replace('2026-06-01', '2026-07-01'),
    });
    const { text } = await runDiff({
      older: `${files.folder}/old`,
      newer: undefined,
      configFile: files.configFile,
      format: 'text',
      exitCode: false,
      environment: {},
      now: NOW,
      colour: false,
      cwd: files.folder,
    });
    expect(text).toContain('orders v1: freeze 2026-07-01 -> 2026-06-01');
    expect(text).toContain(
      'orders v1: retirement below 1 consumer and 100 calls in 30 days, else held added',
    );
  });

  it.each<[title: string, from: string, to: string, said: string, gateway?: string]>([
    [
      'without a sunset',
      '    sunset: 2027-01-15\n',
      '',
      'error retire-when: v1 has no sunset that its usage could hold',
    ],
    [
      'without a deprecation',
      '    deprecated: 2026-01-15\n',
      '',
      'error retire-when: v1 is never deprecated, so that its calls are not counted',
    ],
    [
      'in an API that is only observed',
      'api: orders\n',
      'api: orders\nmode: observe\n',
      'warning retire-when: an API that is only observed ends nothing that could be held',
    ],
    [
      'without a ledger',
      '',
      '',
      'warning ledger: nothing is judged while no ledger is kept',
      'ledger: off\n',
    ],
    [
      'and a freeze without a ledger',
      '',
      '',
      'warning ledger: nobody is refused while no ledger is kept',
      'ledger: off\n',
    ],
    [
      'over more days than are kept',
      '',
      '',
      'warning ledger: the ledger keeps 30 days, today among them: it never has 30 whole ones',
      'ledger: { keep: 30d }\n',
    ],
  ])('is found by check %s', async (_title, from, to, said, more = '') => {
    await using files = await workspace({
      'config/gateway.yaml': GATEWAY + more,
      'policies/orders.yaml': policy.replace(from, to),
    });
    const { problems } = await files.load();
    expect(problems.map(({ severity, rule, message }) => `${severity} ${rule}: ${message}`)).toContain(said);
  });
});

describe('check finds', () => {
  it.each<[title: string, from: string, to: string, said: string]>([
    [
      'a freeze of a public API',
      'access: { identity: main, scopes: { read: [orders:read] } }',
      'access: public',
      'error freeze: a public API knows no consumer that could be new',
    ],
    [
      'a freeze of what is not deprecated',
      '    deprecated: 2026-01-15\n',
      '',
      'error freeze: freeze needs deprecated: a version that is not to go has nobody to keep away',
    ],
    [
      'a freeze before the deprecation',
      'freeze: 2026-06-01',
      'freeze: 2026-01-14',
      'error freeze: freeze (2026-01-14) is before deprecated (2026-01-15)',
    ],
    [
      'a freeze with the sunset',
      'freeze: 2026-06-01',
      'freeze: 2027-01-15',
      'error freeze: freeze (2027-01-15) is not before the sunset (2027-01-15): it refuses nobody',
    ],
    [
      'a freeze that leads nowhere',
      '    successor: v2\n',
      '',
      'warning freeze: v1 is frozen without a successor: who is refused is told nowhere to go',
    ],
    [
      'leave from no freeze',
      '    freeze: 2026-06-01\n',
      '',
      'error exception: v1 has no freeze to be excepted from',
    ],
    [
      'leave that ends before the freeze',
      'until: 2026-12-01',
      'until: 2026-06-01',
      'error exception: until (2026-06-01) is not after the freeze (2026-06-01): nothing is excepted',
    ],
    [
      'a freeze of the API that no version takes over',
      'v2: { released: 2025-01-01 }\n',
      'v2: { released: 2025-01-01, freeze: off }\nfreeze: 2026-07-01\n',
      'warning taken-over: freeze does nothing here: every version says freeze or deprecated or sunset of its own',
    ],
  ])('%s', async (_title, from, to, said) => {
    await using files = await workspace({ 'policies/orders.yaml': POLICY.replace(from, to) });
    const { problems } = await files.load();
    expect(problems.map(({ severity, rule, message }) => `${severity} ${rule}: ${message}`)).toContain(said);
  });
});
