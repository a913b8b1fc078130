// What the admin API tells of the ledger: summaries, rows in pages, CSV, all that is kept of one consumer, and its erasure.
// The ledger is the embedded store, the plan a small one at a fixed instant.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AdminAnswer } from '../../gateway/admin/answers.ts';
import type { Written } from '../../gateway/admin/route.ts';
import { type UsagePorts, usageRoutes } from '../../gateway/admin/usage.ts';
import { readUsageAnswer, type UsageAnswer } from '../../gateway/plan/usage-answers.ts';
import type { PageAsked, UsageBatch, UsageRecord } from '../../gateway/policy/usage/ledger.ts';
import { openStores } from '../../gateway/stores/open-stores.ts';
import type { Stores } from '../../gateway/stores/stores.ts';
import { api, NOW as MIDNIGHT, plan, version } from '../support/exchange-samples.ts';

const NOW = MIDNIGHT + 43_200_000;
const at = (day: string) => Date.parse(`${day}T00:00:00Z`);
const stack = new AsyncDisposableStack();
let stores: Stores;

const record = (more: Partial<UsageRecord> = {}): UsageRecord => ({
  consumer: 'acme',
  via: 'token',
  api: 'orders',
  version: 'v1',
  operation: undefined,
  firstAt: at('2026-08-01'),
  lastAt: at('2026-11-19'),
  callsByDay: { '2026-08-01': 1, '2026-11-19': 3 },
  agents: ['curl/8'],
  sample: { method: 'GET', template: '/api/v1/orders/*', requestId: 'r1' },
  ...more,
});
const LATE = { firstAt: at('2026-11-10'), callsByDay: { '2026-11-10': 5 }, lastAt: at('2026-11-10') };
/** More than a page has, in an API that no policy has any more. */
const CROWD = Array.from({ length: 650 }, (_, index) =>
  record({
    api: 'zoo',
    consumer: `client-${String(index).padStart(3, '0')}`,
    callsByDay: { '2026-11-19': 2 },
  }),
);

const v0 = version({ label: 'v0' });
const going = version({
  exceptions: [
    {
      consumer: 'acme',
      until: at('2027-06-30'),
      from: ['brownouts', 'sunset'],
      why: 'contract 4711',
      by: 'api-team',
      phases: [],
    },
    { consumer: 'initech', until: at('2026-11-01'), from: ['limits'], why: 'x', by: 'y', phases: [] },
    { consumer: 'hooli', until: at('2026-12-01'), from: ['limits'], why: 'x', by: 'y', phases: [] },
  ],
});
const young = version({ label: 'v2' });
const PLAN = plan([api([v0, going, young])]);

beforeAll(async () => {
  const folder = stack.adopt(await mkdtemp(join(tmpdir(), 'sundial-usage-')), (path) =>
    rm(path, { recursive: true }),
  );
  stores = stack.adopt(
    await openStores({
      store: { kind: 'embedded', folder },
      replicas: 1,
      monotonic: () => performance.now(),
      onState: () => undefined,
      onFault: (error) => expect.fail(String(error)),
    }),
    (opened) => opened.close(),
  );
  const records = [
    record(),
    record({ operation: 'GET /search', ...LATE }),
    record({ consumer: '203.0.113.9', via: 'address', ...LATE }),
    record({ consumer: '=cmd|"/c calc"', via: 'key', ...LATE }),
    record({ api: 'lost', consumer: 'acme', ...LATE }),
    record({ consumer: 'hooli', callsByDay: { '2026-08-01': 7 }, lastAt: at('2026-08-01') }),
    ...CROWD,
  ];
  const orders = (label: string) => ({ api: 'orders', version: label });
  const first: Partial<UsageBatch> = { at: at('2026-08-01'), watched: [orders('v0'), orders('v1')] };
  await stores.ledger.add({ writer: 'w', number: 1, ...first, records: [] } as UsageBatch);
  const parts = [records.slice(0, 200), records.slice(200, 400), records.slice(400, 600), records.slice(600)];
  for (const [index, part] of parts.entries()) {
    const watched = index === 0 ? [orders('v2')] : [];
    await stores.ledger.add({ writer: 'w', number: index + 2, at: at('2026-11-15'), watched, records: part });
  }
});
afterAll(() => stack.disposeAsync());

const routes = (recordsUsage = true, changes: Partial<UsagePorts> = {}) =>
  usageRoutes({
    plan: () => PLAN,
    now: () => NOW,
    monotonic: () => performance.now(),
    overrides: { current: () => [] },
    ledger: stores.ledger,
    recordsUsage,
    keptFrom: () => undefined,
    ...changes,
  });

async function look(query: string, accept?: string, recordsUsage = true): Promise<AdminAnswer> {
  const route = routes(recordsUsage).find(({ method }) => method === 'GET');
  if (route?.method !== 'GET') throw new Error('no such page');
  return route.show({ parameter: () => '', query: new URLSearchParams(query), accept, body: undefined });
}

async function usage(query = ''): Promise<UsageAnswer> {
  const { status, body } = await look(query);
  expect(status).toBe(200);
  const answer = readUsageAnswer(JSON.parse(body));
  if (answer === undefined) throw new Error('not as it should be');
  return answer;
}

function erase(query: string, body?: unknown): Promise<Written> {
  const route = routes().find(({ method }) => method === 'DELETE');
  if (route?.method !== 'DELETE') throw new Error('no such write');
  return route.perform({ parameter: () => '', query: new URLSearchParams(query), accept: undefined, body });
}

describe('those with the most calls', () => {
  it('come first, whatever they are called, however many others there are and whatever they called it by', async () => {
    const { consumers, next, versions } = await usage('most=3');
    expect(consumers.map(({ consumer, via, calls }) => [consumer, via, calls])).toEqual([
      ['acme', 'token', 8],
      ['acme', 'token', 5],
      ['203.0.113.9', 'address', 5],
    ]);
    expect(consumers.map(({ api: of }) => of)).toEqual(['orders', 'lost', 'orders']);
    expect(consumers[0]?.operations.map(({ operation }) => operation)).toEqual([null, 'GET /search']);
    expect(next).toBeNull();
    expect(versions).toEqual((await usage()).versions);
  });

  it('have all their operations where those stand on two pages of the ledger', async () => {
    const count = async (_filter: unknown, _window: unknown, { after }: PageAsked) => {
      const row = { api: 'orders', version: 'v1', consumer: 'acme', via: 'token', agents: [] } as const;
      const counted = { firstAt: NOW, lastAt: NOW, calls: 4, week: 0, weekBefore: 0 };
      const operation = after === undefined ? undefined : 'GET /search';
      const records = [{ ...row, ...counted, operation }];
      return { records, next: after === undefined ? '["orders","v1","acme","token",""]' : undefined };
    };
    const [route] = routes(true, { ledger: { ...stores.ledger, count } });
    if (route?.method !== 'GET') throw new Error('no such page');
    const query = new URLSearchParams('most=1');
    const { body } = await route.show({ parameter: () => '', query, accept: undefined, body: undefined });
    expect(JSON.parse(body).consumers).toMatchObject([
      { calls: 8, operations: [{ operation: null }, { operation: 'GET /search' }] },
    ]);
  });

  it.each(['most=0', 'most=501', 'most=1e2', 'most=', 'most=3&after=x', 'most=3&consumer=acme'])(
    'are not asked for by %s',
    async (query) => {
      expect((await look(query)).status).toBe(400);
    },
  );
});

describe('a store that answers each question in time, and all of them too slowly', () => {
  it('ERR-5: is asked no more after 25 seconds, and whoever asked is told why', async () => {
    let monotonic = 0;
    let asked = 0;
    const count = async () => {
      monotonic += 900;
      asked += 1;
      return { records: [], next: '["","","","",""]' };
    };
    const slow = { monotonic: () => monotonic, ledger: { ...stores.ledger, count } };
    const [route] = routes(true, slow);
    if (route?.method !== 'GET') throw new Error('no such page');
    const query = new URLSearchParams();
    const { status, headers, body } = await route.show({
      ...{ parameter: () => '', query, accept: undefined, body: undefined },
    });
    expect({ status, headers, ...JSON.parse(body) }).toEqual({
      ...{ status: 503, headers: { 'retry-after': '1' }, error: 'Service Unavailable', retryAfter: 1 },
      message:
        'The store did not tell all of it within 25 seconds. Ask again, or for less: one api, one version.',
    });
    expect(asked).toBe(28);
  });
});

describe('GET /-/usage', () => {
  it('says of each version whether it is safe to retire, who calls it and who has leave', async () => {
    const { versions, since, began } = await usage('api=orders');
    expect({ since, began }).toEqual({ since: '2026-10-21', began: '2026-08-01T00:00:00Z' });
    expect(versions).toMatchObject([
      {
        version: 'v0',
        stage: 'deprecated',
        verdict: 'unused',
        summary: '0 calls in 30 days: safe to retire',
        consumers: 0,
        lastCall: null,
      },
      {
        version: 'v1',
        deprecated: '2026-01-15T00:00:00Z',
        sunset: '2027-04-15T00:00:00Z',
        successor: 'v2',
        verdict: 'called',
        summary: 'still called by 3 consumers, 18 calls in 30 days',
        looks: { since: '2026-10-21T00:00:00Z', because: 'window' },
        calls: 18,
        trend: { week: 3, weekBefore: 15 },
        lastCall: '2026-11-19T00:00:00Z',
        operations: [
          { operation: null, consumers: 3, calls: 13 },
          { operation: 'GET /search', consumers: 1, calls: 5 },
        ],
        exceptions: [
          {
            consumer: 'acme',
            summary: 'acme has leave from brownouts and sunset until 2027-06-30',
            calls: 8,
            lastCall: '2026-11-19T00:00:00Z',
          },
          {
            consumer: 'initech',
            summary: 'initech had leave from limits until 2026-11-01: it has run out',
            calls: 0,
            lastCall: null,
          },
          { consumer: 'hooli', summary: 'hooli has leave from limits until 2026-12-01: it ends in 10 days' },
        ],
      },
      {
        version: 'v2',
        verdict: 'too_early',
        summary: '0 calls, but the ledger watches it since 2026-11-15 only: too early to say',
        looks: { since: '2026-11-15T00:00:00Z', because: 'ledger' },
      },
    ]);
  });

  it('tells of what the policies have forgotten, behind all that they have', async () => {
    const { versions = [] } = await usage();
    expect(versions.map((each) => [each.api, each.version, each.stage, each.summary])).toEqual([
      ['orders', 'v0', 'deprecated', expect.any(String)],
      ['orders', 'v1', 'deprecated', expect.any(String)],
      ['orders', 'v2', 'deprecated', expect.any(String)],
      ['lost', 'v1', null, 'is in no policy any more; 5 calls by 1 consumer in 30 days'],
      ['zoo', 'v1', null, 'is in no policy any more; 1,300 calls by 650 consumers in 30 days'],
    ]);
  });

  it('calls nothing safe to retire while the ledger is off, however long it was on before', async () => {
    const { body } = await look('version=v0', undefined, false);
    expect(JSON.parse(body)).toMatchObject({
      recording: false,
      versions: [
        { verdict: 'too_early', summary: '0 calls, but the ledger does not watch it: too early to say' },
      ],
    });
  });

  it('calls nothing safe to retire of days that it has forgotten, and says which those are', async () => {
    const told = async (kept: string) => {
      const [route] = routes(true, { keptFrom: () => at(kept) });
      if (route?.method !== 'GET') throw new Error('no such page');
      const query = new URLSearchParams('version=v0');
      const { body } = await route.show({ parameter: () => '', query, accept: undefined, body: undefined });
      const answer = readUsageAnswer(JSON.parse(body));
      return [answer?.kept, answer?.versions?.[0]?.summary];
    };
    expect(await told('2026-11-14')).toEqual([
      '2026-11-14T00:00:00Z',
      '0 calls, but the ledger watches it since 2026-11-14 only: too early to say',
    ]);
    expect((await told('2026-10-21'))[1]).toBe('0 calls in 30 days: safe to retire');
  });

  it('has a row for each consumer that called, by all its operations', async () => {
    const { consumers, next } = await usage('api=orders&version=v1');
    expect(next).toBeNull();
    expect(consumers.map(({ consumer, via, calls }) => [consumer, via, calls])).toEqual([
      ['203.0.113.9', 'address', 5],
      ['=cmd|"/c calc"', 'key', 5],
      ['acme', 'token', 8],
    ]);
    expect(consumers[2]).toMatchObject({
      firstCall: '2026-08-01T00:00:00Z',
      trend: { week: 3, weekBefore: 5 },
      operations: [{ operation: null, agents: ['curl/8'] }, { operation: 'GET /search' }],
    });
  });

  it('tells many rows in pages, each consumer once, the versions on the first alone', async () => {
    const first = await usage('api=zoo');
    const second = await usage(`api=zoo&after=${encodeURIComponent(first.next ?? '')}`);
    expect([first.versions?.length, second.versions, second.next]).toEqual([1, undefined, null]);
    const names = [...first.consumers, ...second.consumers].map(({ consumer }) => consumer);
    expect(names).toEqual(CROWD.map(({ consumer }) => consumer));
    expect(first.consumers.length).toBeLessThan(600);
  });

  it('tells all that is kept of one consumer, and no verdict by what it does', async () => {
    const { versions, since, records } = await usage('consumer=acme');
    expect(since).toBe('2026-08-01');
    expect(versions?.map((each) => [each.api, each.version, each.verdict, each.summary])).toEqual([
      ['orders', 'v1', null, null],
      ['lost', 'v1', null, null],
    ]);
    expect(records).toEqual([
      expect.objectContaining({ api: 'lost' }),
      {
        api: 'orders',
        version: 'v1',
        operation: null,
        consumer: 'acme',
        via: 'token',
        firstCall: '2026-08-01T00:00:00Z',
        lastCall: '2026-11-19T00:00:00Z',
        callsByDay: { '2026-08-01': 1, '2026-11-19': 3 },
        agents: ['curl/8'],
        sample: { method: 'GET', template: '/api/v1/orders/*', requestId: 'r1' },
      },
      expect.objectContaining({ operation: 'GET /search' }),
    ]);
  });

  it('is CSV for who asks for it, in pages that name the next one', async () => {
    const { contentType, headers, body } = await look('api=orders&version=v1', 'text/csv');
    expect(contentType).toBe('text/csv; charset=utf-8; header=present');
    expect(headers).not.toHaveProperty('link');
    expect(body.split('\r\n')).toEqual([
      'api,version,consumer,known_by,operation,calls,calls_last_7_days,calls_7_days_before,first_call,last_call,user_agents',
      'orders,v1,203.0.113.9,address,,5,0,5,2026-11-10T00:00:00Z,2026-11-10T00:00:00Z,curl/8',
      `orders,v1,"'=cmd|""/c calc""",key,,5,0,5,2026-11-10T00:00:00Z,2026-11-10T00:00:00Z,curl/8`,
      'orders,v1,acme,token,,3,3,0,2026-08-01T00:00:00Z,2026-11-19T00:00:00Z,curl/8',
      'orders,v1,acme,token,GET /search,5,0,5,2026-11-10T00:00:00Z,2026-11-10T00:00:00Z,curl/8',
      '',
    ]);
    const crowd = await look('api=zoo&since=7d', 'text/csv');
    const [, following = ''] = /^<\/-\/usage\?(.*)>; rel="next"$/.exec(crowd.headers.link ?? '') ?? [];
    const rest = await look(following, 'text/csv');
    expect(crowd.body.split('\r\n').length + rest.body.split('\r\n').length).toBe(650 + 4);
  });

  it.each([
    ['sinse=30d', 'unknown parameter "sinse": did you mean "since"?'],
    ['since=soon', '"since" is no length such as 30d and no day such as 2026-10-01 that has been'],
    ['since=2027-01-01', '"since" is no length such as 30d and no day such as 2026-10-01 that has been'],
    ['api=', '"api" is empty, too long or not printable'],
    ['api=a&api=b', '"api" is given 2 times'],
    ['consumer=%E2%80%AEx', '"consumer" is empty, too long or not printable'],
    ['after=nowhere', '"after" is no place that a page named as its "next"'],
  ])('?%s is refused: %s', async (query, problem) => {
    const { status, body } = await look(query);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ error: 'Bad Request', problems: [problem] });
  });

  it.each([
    ['api=order', 'Neither the policies nor the ledger have "order". There are orders.'],
    ['api=orders&version=v9', 'Neither the policies nor the ledger have "v9". There are v0, v1, v2.'],
  ])('?%s is found nowhere: nothing of it is said to be safe', async (query, message) => {
    const { status, body } = await look(query);
    expect([status, JSON.parse(body).message]).toEqual([404, message]);
  });
});

describe('DELETE /-/usage', () => {
  it('forgets a consumer whole, and tells the audit how much, but not of whom', async () => {
    const { answer, audit } = await erase('consumer=hooli', { by: 'maria', why: 'asked for it' });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { now: expect.any(String), erased: 1 }]);
    expect(audit).toEqual({
      by: 'maria',
      why: 'asked for it',
      subject: expect.stringMatching(/^sha256:[0-9a-f]{32}$/),
      after: { erased: '1' },
    });
    expect((await usage('consumer=hooli')).records).toEqual([]);
    expect(JSON.parse((await erase('consumer=hooli')).answer.body)).toMatchObject({ erased: 0 });
  });

  it.each([
    ['', undefined, 'say whose records'],
    ['consumer=', undefined, '"consumer" is empty'],
    ['consumer=acme&api=orders', undefined, 'unknown parameter "api"'],
    ['consumer=acme', { reason: 'x' }, 'unknown member "reason"'],
  ])('?%s with %j is refused', async (query, body, problem) => {
    const { answer } = await erase(query, body);
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.stringContaining(JSON.stringify(problem).slice(1, -1)),
    ]);
    expect((await usage('consumer=acme')).records).toHaveLength(3);
  });
});
