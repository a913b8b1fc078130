// Operations, exceptions and observation in the order of judgement: one policy file, judged at any instant.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { createExchange } from '../../gateway/exchange/exchange.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import { phaseAt } from '../../gateway/policy/lifecycle/phases.ts';
import type { Stage } from '../../gateway/policy/lifecycle/schedule.ts';
import type { Quota, Take } from '../../gateway/policy/rate-limit/limit.ts';
import { planOf } from '../plan/workspace.ts';
import { NO_USAGE, view } from '../support/exchange-samples.ts';
import { NEW_KEYS } from '../support/new-keys.ts';

const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { media_type: "application/vnd.acme.{version}+json" } ]
access: { identity: main, scopes: { read: [orders:read] } }
limits: { rate: 600/1m, deprecated: 50% }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v0: { released: 2023-01-01, deprecated: 2024-06-01, sunset: 2026-01-01, after: { redirect: v2 } }
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    retired: 2027-07-15
    successor: v2
    exceptions:
      - { consumer: acme, until: 2027-06-30, from: [sunset], why: contract 4711, by: api-team }
      - { consumer: acme, until: 2026-12-01, from: [limits], why: year end, by: api-team }
    operations:
      GET /old/{id}: { deprecated: 2025-06-01, sunset: 2026-06-01, successor: "v2 GET /{id}", after: redirect }
      GET /other: { access: { scopes: [orders:other] }, guide: https://docs.example.com/other }
      GET /heavy: { limits: { rate: 60/1m } }
      POST /open: { access: public }
  v2:
    released: 2025-01-01
    operations:
      GET /gone: { deprecated: 2025-02-01, sunset: 2026-03-01, after: redirect, successor: GET / }
`;

let enforced: GatewayPlan;
let observed: GatewayPlan;

beforeAll(async () => {
  enforced = await planOf(POLICY);
  observed = await planOf(`mode: observe\n${POLICY}`);
});

interface Situation {
  readonly plan?: GatewayPlan;
  readonly at: string;
  readonly path?: string;
  readonly method?: string;
  /** Undefined: no token at all. */
  readonly consumer?: string;
  readonly accept?: string;
  readonly allowed?: boolean;
  readonly storeAway?: boolean;
}

interface Judged {
  readonly outcome: string;
  readonly location: string | undefined;
  readonly facts: ExchangeFacts;
  readonly taken: Take | undefined;
}

async function judge(situation: Situation): Promise<Judged> {
  const {
    at,
    path = '/api/v1/orders/7',
    method = 'GET',
    consumer,
    allowed = true,
    storeAway = false,
  } = situation;
  const now = Temporal.Instant.from(at.includes('T') ? at : `${at}T00:00:00Z`).epochMilliseconds;
  let taken: Take | undefined;
  const exchange = createExchange({
    plan: () => situation.plan ?? enforced,
    now: () => now,
    wallClock: () => now,
    monotonic: () => 0,
    guard: () => ({ allowed: true, remaining: 1, retryAfterMs: 0, resetMs: 0 }),
    limiter: {
      take: (parts) =>
        parts.map((part): Quota => {
          const { limit, rule } = part;
          taken = part;
          if (storeAway) return { kind: 'unavailable', limit, rule };
          return { kind: 'counted', limit, rule, allowed, remaining: 0, retryAfterMs: 400, resetMs: 400 };
        }),
    },
    pins: { find: () => undefined, claim: async (_key, pin) => pin, replace: async () => true },
    idempotency: NEW_KEYS,
    overrides: () => [],
    ledger: NO_USAGE,
    authenticators: new Map([
      [
        'main',
        tokenAuthenticator(() => 0, {
          claims: () => true,
          verify: (id) => ({
            kind: 'consumer',
            consumer: { id, named: true, via: 'token', scopes: new Set(['orders:read']), claims: {} },
          }),
        }),
      ],
    ]),
    adoption: { saw: () => undefined, isLate: () => false },
    onFault: () => undefined,
    hstsSeconds: undefined,
  });
  const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
  const headers = {
    ...(consumer !== undefined && { authorization: `Bearer ${consumer}` }),
    ...(situation.accept !== undefined && { accept: situation.accept }),
  };
  const directive = await exchange.decide(view({ path, method, headers }), facts);
  const refusal = directive.kind === 'refuse' ? directive.refusal : undefined;
  return {
    outcome: refusal?.reason ?? directive.kind,
    location: refusal?.reason === 'version_moved' ? refusal.location : undefined,
    facts,
    taken,
  };
}

describe('the order, with a consumer who may pass', () => {
  it.each<[string, Situation, string]>([
    ['before the sunset anybody is served', { at: '2027-01-14', consumer: 'other' }, 'forward'],
    ['ORD-3: between, a token is asked for first', { at: '2027-01-15' }, 'credentials_missing'],
    [
      'ORD-3: between, who has no leave is told the end',
      { at: '2027-01-15', consumer: 'other' },
      'version_retired',
    ],
    ['between, who has leave passes', { at: '2027-06-29T23:59:59.999Z', consumer: 'acme' }, 'forward'],
    ['when the last leave has ended, nobody is asked', { at: '2027-06-30' }, 'version_retired'],
    [
      'leave is for the version, not beyond its retirement',
      { at: '2027-07-15', consumer: 'acme' },
      'version_retired',
    ],
    [
      'an operation that has ended by its own date has ended for everybody',
      { at: '2026-06-01', path: '/api/v1/orders/old/7', consumer: 'acme' },
      'version_moved',
    ],
    [
      'lifecycle comes before scopes',
      { at: '2027-01-15', path: '/api/v1/orders/other', consumer: 'other' },
      'version_retired',
    ],
    [
      'scopes of an operation are asked for of who passes',
      { at: '2027-01-15', path: '/api/v1/orders/other', consumer: 'acme' },
      'scope_insufficient',
    ],
    [
      'a public operation knows nobody to let pass, and needs no token to end',
      { at: '2027-01-15', path: '/api/v1/orders/open', method: 'POST', consumer: 'acme' },
      'version_retired',
    ],
  ])('%s', async (_, situation, outcome) => {
    expect((await judge(situation)).outcome).toBe(outcome);
  });
});

describe('NEG-3: another version listed beside one that is past its sunset', () => {
  const accept = 'application/vnd.acme.v1+json, application/vnd.acme.v2+json;q=0.5';
  const path = '/api/orders/7';

  it.each<[string, Situation, string | undefined]>([
    ['stands behind it before the sunset', { at: '2027-01-14', consumer: 'other' }, 'v1'],
    ['stands behind it as long as somebody may pass', { at: '2027-06-29', consumer: 'acme' }, 'v1'],
    ['answers once nobody may', { at: '2027-06-30', consumer: 'acme' }, 'v2'],
  ])('%s', async (_, situation, label) => {
    const { outcome, facts } = await judge({ accept, path, ...situation });
    expect([outcome, facts.version?.label]).toEqual(['forward', label]);
  });

  it('stands behind it where its end is only observed', async () => {
    const { outcome, facts } = await judge({
      plan: observed,
      accept,
      path,
      at: '2028-01-01',
      consumer: 'other',
    });
    expect([outcome, facts.version?.label]).toEqual(['forward', 'v1']);
    expect(facts.observed).toBe('version_retired');
  });
});

describe('where redirects lead', () => {
  it('LNK-2, RET-4: to the operation that takes over, in the other version', async () => {
    const { location } = await judge({ at: '2026-06-01', path: '/api/v1/orders/old/a%2Fb' });
    expect(location).toBe('https://api.example.com/api/v2/orders/a%2Fb');
  });

  it('RET-4: never to what has ended there too', async () => {
    const open = await judge({ at: '2026-02-28', path: '/api/v0/orders/gone' });
    expect(open.location).toBe('https://api.example.com/api/v2/orders/gone');
    const gone = await judge({ at: '2026-03-01', path: '/api/v0/orders/gone' });
    expect(gone.outcome).toBe('version_retired');
    expect((await judge({ at: '2026-06-01', path: '/api/v1/orders/old/gone' })).outcome).toBe(
      'version_retired',
    );
  });

  it('stay on the version where its own operation takes over', async () => {
    const { location } = await judge({ at: '2026-03-01', path: '/api/v2/orders/gone' });
    expect(location).toBe('https://api.example.com/api/v2/orders');
  });
});

describe('RL-11: what is counted together', () => {
  it.each<[string, Situation, string, number]>([
    ['a version', { at: '2026-01-14' }, 'orders:v1:default', 600],
    ['a deprecated version', { at: '2026-01-15' }, 'orders:v1:deprecated', 300],
    [
      'an operation like its version',
      { at: '2026-01-15', path: '/api/v1/orders/open', method: 'POST' },
      'orders:v1:deprecated',
      300,
    ],
    [
      'an operation not yet deprecated',
      { at: '2025-05-31', path: '/api/v1/orders/old/7' },
      'orders:v1:default',
      600,
    ],
    [
      'an operation deprecated before its version',
      { at: '2025-06-01', path: '/api/v1/orders/old/7' },
      'orders:v1 GET /old/{id}:deprecated',
      300,
    ],
    [
      'an operation with a rate of its own',
      { at: '2026-01-14', path: '/api/v1/orders/heavy' },
      'orders:v1 GET /heavy:default',
      60,
    ],
    [
      'the same, lowered',
      { at: '2026-01-15', path: '/api/v1/orders/heavy' },
      'orders:v1 GET /heavy:deprecated',
      30,
    ],
  ])('%s', async (_, situation, key, units) => {
    const { taken } = await judge({ consumer: 'other', ...situation });
    expect(taken?.key.endsWith(`}:${key}`)).toBe(true);
    expect(taken?.limit.units).toBe(units);
  });

  it('a lowered rate of the version does not raise the smaller one of an operation', async () => {
    const plan = await planOf(POLICY.replace('deprecated: 50%', 'deprecated: 300/1m'));
    const { taken } = await judge({
      plan,
      at: '2026-01-15',
      path: '/api/v1/orders/heavy',
      consumer: 'other',
    });
    expect(taken?.limit).toMatchObject({ name: 'deprecated', units: 60 });
    expect((await judge({ plan, at: '2026-01-15', consumer: 'other' })).taken?.limit.units).toBe(300);
  });

  it('with leave from lowered limits the full one counts on, until it ends', async () => {
    const during = await judge({ at: '2026-11-30', consumer: 'acme' });
    expect(during.taken).toMatchObject({ key: '{consumer:acme}:orders:v1:default', limit: { units: 600 } });
    const after = await judge({ at: '2026-12-01', consumer: 'acme' });
    expect(after.taken).toMatchObject({ key: '{consumer:acme}:orders:v1:deprecated', limit: { units: 300 } });
  });
});

describe('RET-11: a version without an upstream, whatever the clock says', () => {
  const path = '/api/v0/orders/7';
  it.each<[string, Situation, string]>([
    ['redirects after its sunset', { at: '2026-01-01', path }, 'version_moved'],
    ['redirects before it', { at: '2025-12-31', path }, 'version_moved'],
    ['redirects writes too', { at: '2025-12-31', path, method: 'POST' }, 'version_moved'],
    ['is gone while there is nowhere to go to', { at: '2024-12-31', path }, 'version_retired'],
    ['is unknown before its release', { at: '2022-12-31', path }, 'version_unknown'],
  ])('%s', async (_, situation, outcome) => {
    const judged = await judge(situation);
    expect(judged.outcome).toBe(outcome);
    const { phase, successor } = judged.facts;
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

  it('has nothing to let anybody pass to who has leave from the sunset', async () => {
    const gone = POLICY.replace('  v1: { targets: [http://127.0.0.1:4001] }\n', '')
      .replace('sunset: 2027-01-15', 'sunset: 2026-10-15')
      .replace('until: 2026-12-01, from: [limits]', 'until: 2026-10-01, from: [limits]');
    const situation = { plan: await planOf(gone), at: '2026-11-20', consumer: 'acme' };
    expect((await judge(situation)).outcome).toBe('version_retired');
    expect((await judge({ ...situation, at: '2026-02-01' })).outcome).toBe('version_retired');
  });
});

describe('mode: observe', () => {
  it.each<[string, Situation, string | undefined, string]>([
    ['what would pass is not noted', { at: '2026-11-20' }, undefined, 'forward'],
    ['a version past its sunset is served', { at: '2027-08-01' }, 'version_retired', 'forward'],
    ['the limit is noted', { at: '2026-11-20', allowed: false }, 'rate_limited', 'forward'],
    ['a store that is away is noted', { at: '2026-11-20', storeAway: true }, 'limits_unavailable', 'forward'],
    [
      'one request is noted once, for what comes first',
      { at: '2027-08-01', allowed: false },
      'version_retired',
      'forward',
    ],
    [
      'without an upstream the end stands',
      { at: '2027-08-01', path: '/api/v0/orders' },
      undefined,
      'version_moved',
    ],
    ['who has leave is not noted', { at: '2027-01-15', consumer: 'acme' }, undefined, 'forward'],
  ])('%s', async (_, situation, reason, outcome) => {
    const { outcome: actual, facts } = await judge({ plan: observed, consumer: 'other', ...situation });
    expect(actual).toBe(outcome);
    expect(facts.observed).toBe(reason);
  });

  it('tokens and scopes are asked for as ever', async () => {
    const { outcome, facts } = await judge({ plan: observed, at: '2027-08-01' });
    expect(outcome).toBe('credentials_missing');
    expect(facts.observed).toBe('version_retired');
  });

  it('past the sunset the lowered limit goes on', async () => {
    const { taken } = await judge({ plan: observed, at: '2027-08-01', consumer: 'other' });
    expect(taken?.limit.name).toBe('deprecated');
  });
});

describe('for any dates', () => {
  const STAGES: readonly Stage[] = ['planned', 'active', 'deprecated', 'sunset', 'retired'];
  const day = fc
    .integer({ min: 0, max: 4000 })
    .map((days) => Temporal.PlainDate.from('2020-01-01').add({ days }).toString());
  const instant = fc.integer({ min: Date.UTC(2019, 0, 1), max: Date.UTC(2033, 0, 1) });

  it('stages only move forward in time, and an operation is never behind its version', async () => {
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
