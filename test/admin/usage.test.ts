// Versions in usage responses: verdicts, callers, exceptions, and versions that no policy has any more.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readUsageAnswer } from '../../gateway/api/usage-answers.ts';
import { at, openUsage, type UsageFixture } from './usage-fixture.ts';

let fixture: UsageFixture;
beforeAll(async () => {
  fixture = await openUsage();
});
afterAll(() => fixture[Symbol.asyncDispose]());

describe('a store that reads each page in time, but all of them too slowly', () => {
  it('ERR-5: is not read any further after 25 seconds, and the response is 503', async () => {
    let monotonic = 0;
    let asked = 0;
    const count = async () => {
      monotonic += 900;
      asked += 1;
      return { records: [], next: '["","","","",""]' };
    };
    const slow = { monotonic: () => monotonic, ledger: { ...fixture.ledger, count } };
    const [route] = fixture.routes(true, slow);
    if (route?.method !== 'GET') throw new Error('no such page');
    const query = new URLSearchParams();
    const { status, headers, body } = await route.show({
      ...{ parameter: () => '', query, accept: undefined, body: undefined },
    });
    expect({ status, headers, ...JSON.parse(body) }).toEqual({
      ...{ status: 503, headers: { 'retry-after': '1' }, error: 'Service Unavailable', retryAfter: 1 },
      message:
        'The store did not return all records within 25 seconds. Retry, or name one api and one version.',
    });
    expect(asked).toBe(28);
  });
});

describe('GET /-/usage', () => {
  it('has the verdict, the calls and the exceptions of each version', async () => {
    const { versions, since, began } = await fixture.usage('api=orders');
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
            summary: 'acme has an exception from brownouts and sunset until 2027-06-30',
            calls: 8,
            lastCall: '2026-11-19T00:00:00Z',
          },
          {
            consumer: 'initech',
            summary: 'initech had an exception from limits until 2026-11-01: it has expired',
            calls: 0,
            lastCall: null,
          },
          {
            consumer: 'hooli',
            summary: 'hooli has an exception from limits until 2026-12-01: it ends in 10 days',
          },
        ],
      },
      {
        version: 'v2',
        verdict: 'too_early',
        summary: '0 calls, but the ledger has recorded it only since 2026-11-15: too early to say',
        looks: { since: '2026-11-15T00:00:00Z', because: 'ledger' },
      },
    ]);
  });

  it('lists versions that no policy has after all others', async () => {
    const { versions = [] } = await fixture.usage();
    expect(versions.map((each) => [each.api, each.version, each.stage, each.summary])).toEqual([
      ['orders', 'v0', 'deprecated', expect.any(String)],
      ['orders', 'v1', 'deprecated', expect.any(String)],
      ['orders', 'v2', 'deprecated', expect.any(String)],
      ['lost', 'v1', null, 'is in no policy any more; 5 calls by 1 consumer in 30 days'],
      ['zoo', 'v1', null, 'is in no policy any more; 1,300 calls by 650 consumers in 30 days'],
    ]);
  });

  it('does not report a version as safe to retire while the ledger is off', async () => {
    const { body } = await fixture.look('version=v0', undefined, false);
    expect(JSON.parse(body)).toMatchObject({
      recording: false,
      versions: [
        { verdict: 'too_early', summary: '0 calls, but the ledger does not record it: too early to say' },
      ],
    });
  });

  it('does not report a version as safe to retire if the ledger has deleted counted days', async () => {
    const told = async (kept: string) => {
      const [route] = fixture.routes(true, { keptFrom: () => at(kept) });
      if (route?.method !== 'GET') throw new Error('no such page');
      const query = new URLSearchParams('version=v0');
      const { body } = await route.show({ parameter: () => '', query, accept: undefined, body: undefined });
      const answer = readUsageAnswer(JSON.parse(body));
      return [answer?.kept, answer?.versions?.[0]?.summary];
    };
    expect(await told('2026-11-14')).toEqual([
      '2026-11-14T00:00:00Z',
      '0 calls, but the ledger has recorded it only since 2026-11-14: too early to say',
    ]);
    expect((await told('2026-10-21'))[1]).toBe('0 calls in 30 days: safe to retire');
  });
});
