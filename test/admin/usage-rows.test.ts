// Ledger rows in the admin API: pages, CSV, all records of one consumer, and erasure.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CROWD, openUsage, type UsageFixture } from './usage-fixture.ts';

let fixture: UsageFixture;
beforeAll(async () => {
  fixture = await openUsage();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe('GET /-/usage', () => {
  it('has a row per consumer with all its operations', async () => {
    const { consumers, next } = await fixture.usage('api=orders&version=v1');
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

  it('has pages; each consumer is on one page, and versions are on the first page only', async () => {
    const first = await fixture.usage('api=zoo');
    const second = await fixture.usage(`api=zoo&after=${encodeURIComponent(first.next ?? '')}`);
    expect([first.versions?.length, second.versions, second.next]).toEqual([1, undefined, null]);
    const names = [...first.consumers, ...second.consumers].map(({ consumer }) => consumer);
    expect(names).toEqual(CROWD.map(({ consumer }) => consumer));
    expect(first.consumers.length).toBeLessThan(600);
  });

  it('has all records of one consumer, without verdicts', async () => {
    const { versions, since, records } = await fixture.usage('consumer=acme');
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

  it('responds with CSV if Accept prefers it, in pages with a link to the next one', async () => {
    const { contentType, headers, body } = await fixture.look('api=orders&version=v1', 'text/csv');
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
    const crowd = await fixture.look('api=zoo&since=7d', 'text/csv');
    const [, following = ''] = /^<\/-\/usage\?(.*)>; rel="next"$/.exec(crowd.headers.link ?? '') ?? [];
    const rest = await fixture.look(following, 'text/csv');
    expect(crowd.body.split('\r\n').length + rest.body.split('\r\n').length).toBe(650 + 4);
  });

  it.each([
    ['sinse=30d', 'unknown parameter "sinse" (did you mean "since"?)'],
    ['since=soon', '"since" is not a length such as 30d or a past day such as 2026-10-01'],
    ['since=2027-01-01', '"since" is not a length such as 30d or a past day such as 2026-10-01'],
    ['api=', '"api" is empty, too long or not printable'],
    ['api=a&api=b', '"api" is given 2 times'],
    ['consumer=%E2%80%AEx', '"consumer" is empty, too long or not printable'],
    ['after=nowhere', '"after" is not the "next" of a previous page'],
  ])('?%s is refused: %s', async (query, problem) => {
    const { status, body } = await fixture.look(query);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ error: 'Bad Request', problems: [problem] });
  });

  it.each([
    ['api=order', 'Not in the policies or the ledger: "order". Known: orders.'],
    ['api=orders&version=v9', 'Not in the policies or the ledger: "v9". Known: v0, v1, v2.'],
  ])('?%s gets 404 instead of a verdict', async (query, message) => {
    const { status, body } = await fixture.look(query);
    expect([status, JSON.parse(body).message]).toEqual([404, message]);
  });
});

describe('DELETE /-/usage', () => {
  it('erases all records of a consumer; the audit has their number, but not the name', async () => {
    const { answer, audit } = await fixture.erase('consumer=hooli', { by: 'maria', why: 'asked for it' });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { now: expect.any(String), erased: 1 }]);
    expect(audit).toEqual({
      by: 'maria',
      why: 'asked for it',
      subject: expect.stringMatching(/^sha256:[0-9a-f]{32}$/),
      after: { erased: 1 },
    });
    expect((await fixture.usage('consumer=hooli')).records).toEqual([]);
    expect(JSON.parse((await fixture.erase('consumer=hooli')).answer.body)).toMatchObject({ erased: 0 });
  });

  it('ERR-5: is refused while the store cannot be written, because calls in memory would be missing', async () => {
    const show = (recordsUsage: boolean) => {
      const [route] = fixture.routes(recordsUsage, { readiness: () => ({ store: { state: 'down' } }) });
      if (route?.method !== 'GET') throw new Error('the first route must be GET');
      return route.show({
        parameter: () => '',
        query: new URLSearchParams(),
        accept: undefined,
        body: undefined,
      });
    };
    const refused = await show(true);
    expect([refused.status, JSON.parse(refused.body).message]).toEqual([
      503,
      'The store cannot be written, so recent calls are missing. The log has the reason. Retry.',
    ]);
    expect((await show(false)).status).toBe(200);
  });

  it('names the known versions if the version is unknown in every API', async () => {
    const { status, body } = await fixture.look('version=v9');
    expect([status, JSON.parse(body).message]).toEqual([
      404,
      expect.stringMatching(/^Not in the policies or the ledger: "v9"\. Known: .*\bv1\b/),
    ]);
  });

  it.each([
    ['', undefined, 'name the consumer whose records'],
    ['consumer=', undefined, '"consumer" is empty'],
    ['consumer=acme&api=orders', undefined, 'unknown parameter "api"'],
    ['consumer=acme', { reason: 'x' }, 'unknown member "reason"'],
  ])('?%s with %j is refused', async (query, body, problem) => {
    const { answer } = await fixture.erase(query, body);
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.stringContaining(JSON.stringify(problem).slice(1, -1)),
    ]);
    expect((await fixture.usage('consumer=acme')).records).toHaveLength(3);
  });
});
