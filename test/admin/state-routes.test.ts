// Versions, traffic, limits and upstreams in the admin API, and whom a retirement today would affect.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminAnswer } from '../../gateway/admin/answers.ts';
import { type StateRoutePorts, stateRoutes } from '../../gateway/admin/dashboard/state-routes.ts';
import { NO_MATCHES } from '../../gateway/plan/routes/nodes-by-name.ts';
import { createBrownoutCalendar } from '../../gateway/policy/lifecycle/brownout-calendar.ts';
import type { Override } from '../../gateway/policy/lifecycle/override.ts';
import type { UsageRecord } from '../../gateway/policy/usage/ledger.ts';
import type { Stores } from '../../gateway/stores/stores.ts';
import type { MetricReading } from '../../gateway/telemetry/exposition.ts';
import { openEmbeddedStores } from '../support/embedded-stores.ts';
import { api, LIMITS, NOW, plan, RULE, upstream, version } from '../support/exchange-samples.ts';

const DAY_MS = 86_400_000;
const at = (day: string) => Date.parse(`${day}T00:00:00Z`);
const stack = new AsyncDisposableStack();
let stores: Stores;

const record = (more: Partial<UsageRecord>): UsageRecord => ({
  consumer: 'acme',
  via: 'token',
  api: 'orders',
  version: 'v1',
  operation: undefined,
  firstAt: at('2026-08-01'),
  lastAt: at('2026-11-19'),
  callsByDay: { '2026-08-01': 100, '2026-11-19': 3 },
  agents: [],
  sample: undefined,
  ...more,
});

const window = {
  from: NOW - 60_000,
  until: NOW + 60_000,
  rule: 0,
  status: 410,
  retryAfter: undefined,
  message: undefined,
  share: undefined,
  announced: at('2026-11-01'),
} as const;
const going = version({
  upstream,
  limits: {
    ...LIMITS,
    each: [{ ...RULE, deprecated: { name: 'deprecated', units: 60, windowMs: 60_000, burst: 60 } }],
  },
  brownouts: createBrownoutCalendar([window]),
  exceptions: [
    { consumer: 'hooli', until: at('2027-06-30'), from: ['sunset'], why: 'x', by: 'y', phases: [] },
    { consumer: 'acme', until: at('2027-06-30'), from: ['limits'], why: 'x', by: 'y', phases: [] },
    { consumer: 'late', until: at('2026-11-01'), from: ['sunset'], why: 'x', by: 'y', phases: [] },
  ],
});
const PLAN = plan([api([going])]);

beforeAll(async () => {
  ({ stores } = stack.use(await openEmbeddedStores()));
  await stores.ledger.add({
    writer: 'w',
    number: 1,
    at: at('2026-08-01'),
    watched: [{ api: 'orders', version: 'v1' }],
    records: [
      record({}),
      record({ operation: 'GET /search', callsByDay: { '2026-11-18': 2 } }),
      record({ consumer: 'hooli', callsByDay: { '2026-11-18': 6 } }),
      record({ consumer: 'hooli', via: 'address', callsByDay: { '2026-11-18': 7 } }),
      record({ consumer: 'late', callsByDay: { '2026-11-20': 11 } }),
      record({ consumer: 'late', via: 'key', callsByDay: { '2026-11-20': 1 } }),
      record({ consumer: 'gone', callsByDay: { '2026-08-01': 13 }, lastAt: at('2026-08-01') }),
      record({ version: 'v2', consumer: 'other' }),
    ],
  });
});
afterAll(() => stack.disposeAsync());

const COUNTED: Readonly<Record<string, readonly MetricReading[]>> = {
  sundial_requests_total: [
    reading({ api: 'orders', version: 'v1', stage: 'deprecated', code: '200' }, 6),
    reading({ api: 'orders', version: 'v1', stage: 'deprecated', code: '502' }, 1),
    reading({ api: 'orders', version: 'v2', stage: 'active', code: '200' }, 21),
    reading({ api: 'none', version: 'none', stage: 'none', code: '404' }, 4),
  ],
  sundial_version_last_request_timestamp_seconds: [reading({ api: 'orders', version: 'v1' }, 1_795_000_000)],
  sundial_ratelimit_decisions_total: [
    reading({ api: 'orders', version: 'v1', policy: 'deprecated', decision: 'allowed' }, 5),
    reading({ api: 'orders', version: 'v1', policy: 'deprecated', decision: 'limited' }, 2),
    reading({ api: 'orders', version: 'v1', policy: 'default', decision: 'allowed' }, 99),
  ],
  sundial_upstream_up: [reading({ upstream: 'orders-v1', target: 'http://127.0.0.1:1' }, 0)],
  sundial_upstream_ejections_total: [
    reading({ upstream: 'orders-v1', target: 'http://127.0.0.1:1', reason: 'health' }, 3),
    reading({ upstream: 'orders-v1', target: 'http://127.0.0.1:1', reason: 'breaker' }, 0),
  ],
};

function reading(labels: Readonly<Record<string, string>>, value: number): MetricReading {
  return { labels, value };
}

async function get(path: string, changes: Partial<StateRoutePorts> = {}, names: readonly string[] = []) {
  const route = stateRoutes({
    plan: () => PLAN,
    now: () => NOW,
    monotonic: () => 0,
    overrides: { current: () => [] },
    ledger: stores.ledger,
    recordsUsage: true,
    metrics: { read: async (name) => COUNTED[name] ?? [] },
    noticeDays: undefined,
    readiness: () => ({
      policies: {
        reloadRefused: false,
        restartNeeded: false,
        quarantined: ['payments'],
        leftOut: ['refunds'],
      },
    }),
    ...changes,
  }).find((each) => each.path === path);
  const [first = '', second = ''] = names;
  const answer: AdminAnswer | undefined = await route?.show({
    parameter: (name) => (name === 'api' ? first : second),
    query: new URLSearchParams(),
    accept: undefined,
    body: undefined,
  });
  return { status: answer?.status, body: JSON.parse(answer?.body ?? 'null') };
}

const DETAIL = '/-/versions/{api}/{version}';
const detail = (changes: Partial<StateRoutePorts> = {}) => get(DETAIL, changes, ['orders', 'v1']);

describe('the versions', () => {
  it('come with the names of the quarantined and the left-out APIs', async () => {
    const { body } = await get('/-/versions');
    expect(body).toMatchObject({ quarantined: ['payments'], leftOut: ['refunds'] });
  });

  it('come with the number of days before a sunset at which the dashboard warns', async () => {
    expect((await get('/-/versions')).body.noticeDays).toBe(90);
    expect((await get('/-/versions', { noticeDays: 60 })).body.noticeDays).toBe(60);
  });

  it('have stage, phases, dates and the running brownout', async () => {
    const { body } = await get('/-/versions');
    expect(body).toMatchObject({
      now: '2026-11-20T00:00:00Z',
      apis: [{ api: 'orders', stage: 'deprecated' }],
    });
    expect(body.apis[0].versions).toMatchObject([
      {
        version: 'v1',
        whole: false,
        stage: 'deprecated',
        released: '2024-06-01T00:00:00Z',
        deprecated: '2026-01-15T00:00:00Z',
        sunset: '2027-04-15T00:00:00Z',
        successor: 'v2',
        after: { answer: 410, to: null },
        brownouts: [{ from: '2026-11-19T23:59:00Z', until: '2026-11-20T00:01:00Z', share: null }],
        brownoutUntil: '2026-11-20T00:01:00Z',
        paused: false,
      },
    ]);
    const phases: { stage: string; from: string | null }[] = body.apis[0].versions[0].phases;
    expect(phases.map(({ stage }) => stage)).toEqual(['planned', 'active', 'deprecated', 'retired']);
    expect(phases[0]?.from).toBeNull();
  });

  it('have the sunset and the brownouts that a pause leaves', async () => {
    const until = at('2027-05-01');
    const common = { id: 'p', author: 'a', reason: 'r', from: NOW - DAY_MS, until };
    const pause: Override = { kind: 'pause', api: 'orders', label: 'v1', ...common };
    const { body } = await get('/-/versions', { overrides: { current: () => [pause] } });
    expect(body.apis[0].versions[0]).toMatchObject({
      paused: true,
      brownouts: [],
      brownoutUntil: null,
      sunset: '2027-05-01T00:00:00Z',
    });
  });

  it('have their freeze, the hold of the guard and their operations', async () => {
    const operation = version({ operation: 'GET /search', limits: LIMITS });
    const closing = version({
      limits: LIMITS,
      upstream,
      retireWhen: { consumersBelow: undefined, callsBelow: 1, days: 30, onExceed: 'hold' },
      freeze: at('2026-12-01'),
      operations: { list: [operation], match: () => undefined, reached: () => NO_MATCHES },
    });
    const hold: Override = {
      ...{ kind: 'hold', id: 'h', api: 'orders', label: 'v1', author: 'guard', reason: 'still called' },
      ...{ from: at('2027-04-14'), until: at('2027-04-18') },
    };
    const changes = {
      plan: () => plan([api([closing])]),
      now: () => at('2027-04-16'),
      overrides: { current: () => [hold] },
    };
    expect((await get('/-/versions', changes)).body.apis[0].versions).toMatchObject([
      {
        held: true,
        paused: false,
        freeze: '2026-12-01T00:00:00Z',
        sunset: '2027-04-18T00:00:00Z',
        operations: [{ operation: 'GET /search', sunset: '2027-04-15T00:00:00Z' }],
      },
    ]);
    // An operation without limits of its own shares those of its version, which are listed once.
    const { limits } = (await get('/-/limits', changes)).body;
    expect(limits.map(({ operation: of }: { operation: string | null }) => of)).toEqual([null]);
  });

  it('have their full limit while they are planned', async () => {
    const { schedule, phasesOf } = version();
    const [released, deprecated] = [at('2027-01-01'), at('2028-01-01')];
    const planned = { ...schedule, released, deprecated, sunset: at('2029-01-01') };
    const coming = version({ schedule: planned, phases: phasesOf(planned), limits: going.limits });
    const { body } = await get('/-/limits', { plan: () => plan([api([coming])]) });
    expect(body.limits).toMatchObject([{ stage: 'planned', limit: 'default', full: null }]);
  });
});

describe('one version', () => {
  it('has its calls of thirty days and today, and the impact of a retirement today', async () => {
    const { status, body } = await detail();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      recording: true,
      countedSince: '2026-08-01T00:00:00Z',
      recorded: 'all',
      version: { version: 'v1' },
      answers: [
        { status: '200', requests: 6 },
        { status: '502', requests: 1 },
      ],
    });
    expect(body.days).toHaveLength(31);
    expect(body.days.slice(-3)).toEqual([
      { day: '2026-11-18', calls: 15 },
      { day: '2026-11-19', calls: 3 },
      { day: '2026-11-20', calls: 12 },
    ]);
    // An exception from limits does not cover the sunset. An address is not the consumer of the same name.
    expect(body.impact).toEqual({
      refused: { consumers: 4, calls: 24 },
      spared: { consumers: 1, calls: 6 },
    });
  });

  it('says that calls are not counted while the ledger is off', async () => {
    expect((await detail({ recordsUsage: false })).body).toMatchObject({
      recording: false,
      countedSince: null,
      recorded: 'none',
    });
  });

  it.each([
    ['2026-01-01', 'operations'],
    ['2026-02-01', 'all'],
    ['2027-05-01', 'exceptions'],
  ])('says at %s which calls are recorded: %s', async (day, recorded) => {
    const operation = version({ operation: 'GET /search' });
    const { schedule, phasesOf } = version();
    const dated = { ...schedule, deprecated: at('2026-01-15') };
    const ending = version({
      upstream,
      schedule: dated,
      phases: phasesOf(dated),
      operations: { list: [operation], match: () => undefined, reached: () => NO_MATCHES },
    });
    const { body } = await detail({ plan: () => plan([api([ending])]), now: () => at(day) });
    expect(body.recorded).toBe(recorded);
  });

  it('gets 503 if counting takes longer than 8 seconds', async () => {
    let clock = 0;
    const { status, body } = await detail({ monotonic: () => (clock += 9_000) });
    expect(status).toBe(503);
    expect(body.message).toContain('within 8 seconds');
  });

  it.each([
    ['orders', 'v9'],
    ['nothing', 'v1'],
  ])('%s %s gets 404', async (...names) => {
    expect((await get(DETAIL, {}, names)).status).toBe(404);
  });
});

it('traffic has the share of deprecated requests, and apart the requests without a version', async () => {
  expect((await get('/-/traffic')).body).toEqual({
    now: '2026-11-20T00:00:00Z',
    requests: 28,
    deprecated: 7,
    share: 0.25,
    unresolved: 4,
    versions: [
      { api: 'orders', version: 'v1', requests: 7, deprecated: 7, errors: 1, lastRequest: 1_795_000_000 },
      { api: 'orders', version: 'v2', requests: 21, deprecated: 0, errors: 0, lastRequest: null },
    ],
  });
  const nothing = await get('/-/traffic', { metrics: { read: async () => [] } });
  expect(nothing.body).toMatchObject({ requests: 0, share: null, versions: [] });
});

it('a limit has its current units, its full units and the counts of its decisions', async () => {
  expect((await get('/-/limits')).body.limits).toMatchObject([
    {
      api: 'orders',
      version: 'v1',
      operation: null,
      limit: 'deprecated',
      units: 60,
      full: { units: 1, windowMs: 1000 },
      by: 'consumer',
      decisions: { allowed: 5, limited: 2, shadow_limited: 0, degraded: 0 },
    },
  ]);
});

it('an upstream has its targets, and their state if they are watched', async () => {
  const { body } = await get('/-/upstreams');
  expect(body.upstreams).toMatchObject([
    {
      upstream: 'orders-v1',
      versions: [{ api: 'orders', version: 'v1' }],
      targets: [{ target: 'http://127.0.0.1:1', up: false, ejections: [{ by: 'health', count: 3 }] }],
    },
  ]);
  const unwatched = await get('/-/upstreams', { metrics: { read: async () => [] } });
  expect(unwatched.body.upstreams[0].targets).toEqual([
    { target: 'http://127.0.0.1:1', up: null, ejections: [], recent: { calls: 0, failed: 0 }, failing: null },
  ]);
});

describe('a target is failing', () => {
  const labels = { upstream: 'orders-v1', target: 'http://127.0.0.1:1' };
  const read = async (failed: number, answered: number) => {
    const counted: Readonly<Record<string, readonly MetricReading[]>> = {
      sundial_upstream_recent_calls: [
        reading({ ...labels, result: 'success' }, answered),
        reading({ ...labels, result: 'failure' }, failed),
        reading({ ...labels, target: 'http://127.0.0.1:2', result: 'failure' }, 99),
      ],
      sundial_upstream_failing_since_timestamp_seconds: [reading(labels, 1_795_000_000)],
      sundial_upstream_last_failure_timestamp_seconds: [
        reading({ ...labels, error: 'dns' }, 1_795_000_005),
        reading({ ...labels, error: 'refused' }, 1_795_000_009),
        reading({ ...labels, error: 'reset' }, 1_795_000_001),
      ],
    };
    const { body } = await get('/-/upstreams', { metrics: { read: async (name) => counted[name] ?? [] } });
    return body.upstreams[0].targets[0];
  };

  it.each([
    [5, 0, 1],
    [5, 5, 0.5],
    [60, 20, 0.75],
  ])(
    'with %i failed calls and %i successful ones: with its begin, share and last error',
    async (failed, answered, share) => {
      expect(await read(failed, answered)).toMatchObject({
        up: null,
        recent: { calls: failed + answered, failed },
        failing: { since: '2026-11-18T11:06:40Z', share, error: 'refused' },
      });
    },
  );

  it.each([
    [4, 0],
    [5, 6],
    [0, 0],
  ])('not with %i failed calls and %i successful ones', async (failed, answered) => {
    expect(await read(failed, answered)).toMatchObject({ failing: null });
  });
});
