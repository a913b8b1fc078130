// Dated versions with pins, over real sockets: which version an account gets, for how long, and who may keep the answer.
// What happens with the store away has its own file, pins-store.test.ts.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Ask, type Client, overHttp1, overHttp2 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

const DAY = Date.UTC(2026, 10, 20);
const stack = new AsyncDisposableStack();
let now = DAY;
let issuer: TestIssuer;
let gateway: RunningGateway;
let client: Client;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  gateway = stack.use(
    await runGateway({
      policies: 'pins',
      lifecycleNow: () => now,
      environment: { ECHO: echo.url, ISSUER: issuer.url },
    }),
  );
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());
beforeEach(() => {
  now = DAY;
});

/** Authorization of an account, one of its own for each test that stores something. */
const holding = async (id: string, claims: Record<string, unknown> = {}) => ({
  authorization: `Bearer ${await issuer.sign({ sub: id, client_id: id, ...claims })}`,
});
const made = (day: string, id = `made-${day}`) => holding(id, { account_created: day });

async function ask(headers: Record<string, string>, more: Partial<Ask> = {}): Promise<Answer> {
  return client.ask({ path: '/api/payments', ...more, headers: { ...headers, ...more.headers } });
}

/** What the service behind was told, else status and reason. */
async function versionFor(headers: Record<string, string>, more: Partial<Ask> = {}): Promise<unknown> {
  const answer = await ask(headers, more);
  if (answer.status === 200) return told(answer).join();
  const { refusal } = await gateway.accessLine(answer.headers['x-request-id']);
  return `${answer.status} ${refusal}`;
}

const told = ({ json }: Answer): readonly unknown[] =>
  (json.headers as [string, string][]).flatMap(([name, value]) =>
    name.toLowerCase() === 'api-version' ? [value] : [],
  );

async function upgrade(api: string, account: string, version: string): Promise<number> {
  await using admin = overHttp1(gateway.admin, { tls: false });
  const answer = await admin.ask({
    path: `/-/pins/${api}/${account}`,
    method: 'PUT',
    headers: {
      authorization: `Bearer ${await gateway.adminToken()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ version, by: 'ops', why: 'asked for it' }),
  });
  return answer.status;
}

describe('an account with a creation day', () => {
  it.each([
    ['2024-09-01', '2024-09-01'],
    ['2025-03-14', '2024-09-01'],
    ['2025-09-14T23:59:59Z', '2024-09-01'],
    ['2025-09-15T00:00:00Z', '2025-09-15'],
    ['2026-11-20', '2026-06-01'],
    ['2030-01-01', '2026-06-01'],
  ])('VER-5: made on %s stays on %s', async (day, version) => {
    expect(await versionFor(await made(day))).toBe(version);
  });

  it('is on that version by the pin, says the log, and counts so', async () => {
    const series = 'sundial_version_resolutions_total{api="payments",carrier="pin",outcome="matched"}';
    const before = (await gateway.metric(series)) ?? 0;
    const answer = await ask(await made('2025-03-14'));
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({
      carrier: 'pin',
      version: '2024-09-01',
      stage: 'deprecated',
    });
    expect(await gateway.metric(series)).toBe(before + 1);
  });

  it('has nothing stored of it: told another day, it is on the version of that one', async () => {
    expect(await versionFor(await made('2025-03-14', 'corrected'))).toBe('2024-09-01');
    expect(await versionFor(await made('2025-10-01', 'corrected'))).toBe('2025-09-15');
  });

  it('stays there when newer versions come', async () => {
    const acme = await made('2025-10-01');
    expect(await versionFor(acme)).toBe('2025-09-15');
    now = Date.UTC(2031, 0, 1);
    expect(await versionFor(acme)).toBe('2025-09-15');
  });

  it('gets the signals of its version, on HEAD as on GET, over HTTP/1.1 and HTTP/2', async () => {
    const acme = await made('2025-03-14');
    await using second = overHttp2(gateway.https);
    for (const each of [client, second]) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await each.ask({ path: '/api/payments', method, headers: acme });
        expect(answer).toMatchObject({
          status: 200,
          headers: {
            deprecation: '@1757894400',
            sunset: 'Mon, 01 Mar 2027 00:00:00 GMT',
            vary: expect.stringContaining('API-Version'),
            'cache-control': 'private',
          },
        });
      }
    }
  });

  it('VER-3: a header names another version for one request, and no conflict', async () => {
    const acme = await made('2025-03-14');
    expect(await versionFor(acme, { headers: { 'API-Version': '2026-06-01' } })).toBe('2026-06-01');
    expect(await versionFor(acme)).toBe('2024-09-01');
  });

  it.each([
    ['2025-01-01', '400 version_unknown'],
    ['2026-12-01', '400 version_unknown'],
    ['2022-01-01', '400 version_unknown'],
    ['latest', '400 version_malformed'],
    ['2023-01-01', '410 version_retired'],
    ['2025-09-15, 2026-06-01', '400 version_ambiguous'],
  ])('VER-3: the header %s never gets the pin instead: %s', async (header, outcome) => {
    expect(await versionFor(await made('2025-03-14'), { headers: { 'API-Version': header } })).toBe(outcome);
  });

  it('follows the retirement of its version, and is told why and what to do', async () => {
    const acme = await made('2025-03-14');
    now = Date.UTC(2027, 2, 1) - 1;
    expect(await versionFor(acme)).toBe('2024-09-01');
    now += 1;
    const answer = await ask(acme);
    expect(answer).toMatchObject({
      status: 410,
      json: {
        message:
          'API version 2024-09-01 was retired on 2027-03-01. Its successor is 2025-09-15. This account is pinned to 2024-09-01: name another version in API-Version.',
      },
      headers: { 'cache-control': 'private, max-age=60', vary: 'API-Version, Origin' },
    });
    expect(await versionFor(acme, { headers: { 'API-Version': '2025-09-15' } })).toBe('2025-09-15');
  });

  it('meets the brownouts of its version', async () => {
    now = Date.UTC(2027, 0, 11, 9);
    expect(await versionFor(await made('2025-03-14'))).toBe('410 brownout');
    expect(await versionFor(await made('2025-10-14'))).toBe('2025-09-15');
  });

  it('that is older than any version met the oldest, which nobody remembers', async () => {
    const answer = await ask(await made('2019-01-01'));
    expect(answer).toMatchObject({
      status: 400,
      json: {
        message:
          'There is no such version: "2022-01-01" in the pin of this account. Versions: 2026-06-01, 2025-09-15, 2024-09-01.',
      },
    });
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'version_unknown', carrier: 'pin' });
  });

  it('has the operations of its version: gone in one, with a scope of its own in another', async () => {
    const path = '/api/payments/refunds';
    expect(await versionFor(await made('2025-03-14'), { path })).toBe('410 version_retired');
    expect(await versionFor(await made('2025-10-14'), { path })).toBe('2025-09-15');
    expect(await versionFor(await made('2026-10-14'), { path })).toBe('403 scope_insufficient');
    const scope = { scope: 'orders:refund', account_created: '2026-10-14' };
    expect(await versionFor(await holding('refunder', scope), { path })).toBe('2026-06-01');
  });
});

describe('who calls is asked first', () => {
  it('a request without a version and without a token is 401, one that names a retired version 410', async () => {
    expect(await versionFor({})).toBe('401 credentials_missing');
    expect(await versionFor({ 'API-Version': '2023-01-01' })).toBe('410 version_retired');
    expect(await versionFor({ authorization: 'Bearer a.b.c' })).toBe('401 token_invalid');
  });

  it('ORD-4: a preflight is answered before anybody is known', async () => {
    const headers = {
      origin: 'https://app.example.com',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization, api-version',
    };
    expect(await ask(headers, { method: 'OPTIONS' })).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': 'https://app.example.com',
        'access-control-allow-headers': 'authorization, api-version',
      },
    });
  });
});

describe('an account without a creation day', () => {
  it('stays on the version of its first call when a newer one is released', async () => {
    const fresh = await holding('first-call');
    expect(await versionFor(fresh)).toBe('2026-06-01');
    now = Date.UTC(2026, 11, 1);
    expect(await versionFor(fresh)).toBe('2026-06-01');
    expect(await versionFor(await holding('later-call'))).toBe('2026-12-01');
  });

  it('of many first calls at once all get one version', async () => {
    const fresh = await holding('many-calls');
    const versions = await Promise.all(Array.from({ length: 20 }, () => versionFor(fresh)));
    expect(new Set(versions)).toEqual(new Set(['2026-06-01']));
  });

  it.each([['last year'], ['2025-02-30'], [1_741_910_400_000], [null], [['2025-03-14']]])(
    'counts one that cannot be read as none: %j',
    async (day) => {
      const id = `unreadable-${JSON.stringify(day)}`;
      expect(await versionFor(await holding(id, { account_created: day }))).toBe('2026-06-01');
    },
  );

  it('is pinned to nothing by a first call that is refused', async () => {
    const reader = await holding('refused-first', { scope: 'orders:read' });
    expect(await versionFor(reader, { method: 'POST', body: '{}' })).toBe('403 scope_insufficient');
    now = Date.UTC(2026, 11, 1);
    expect(await versionFor(reader)).toBe('2026-12-01');
  });

  it('a header for one request pins nobody', async () => {
    const fresh = await holding('header-first');
    expect(await versionFor(fresh, { headers: { 'API-Version': '2024-09-01' } })).toBe('2024-09-01');
    now = Date.UTC(2026, 11, 1);
    expect(await versionFor(fresh)).toBe('2026-12-01');
  });
});

describe('an account that a claim names', () => {
  const transfers = { path: '/api/transfers' };

  it('is one for all its consumers', async () => {
    expect(await versionFor(await holding('desk-1', { account_id: 'shared' }), transfers)).toBe('2026-06-01');
    now = Date.UTC(2026, 11, 1);
    expect(await versionFor(await holding('desk-2', { account_id: 'shared' }), transfers)).toBe('2026-06-01');
    expect(await versionFor(await holding('desk-1', { account_id: 'other' }), transfers)).toBe('2026-12-01');
  });

  it.each([
    ['missing', undefined],
    ['empty', ''],
    ['a list', ['a']],
    ['a line break', 'a\nb'],
    ['too long', 'a'.repeat(257)],
  ])('with a claim that is %s: 401, unless the request names its version', async (_name, account) => {
    const caller = await holding('nameless', { account_id: account });
    const answer = await ask(caller, transfers);
    expect(answer).toMatchObject({
      status: 401,
      json: { message: 'The access token names no account.' },
      headers: { 'www-authenticate': expect.stringContaining('error="invalid_token"') },
    });
    expect(await gateway.accessLine(answer.headers['x-request-id'])).toMatchObject({ token_flaw: 'account' });
    expect(await versionFor(caller, { path: '/api/2025-09-15/transfers' })).toBe('2025-09-15');
  });

  it('VER-3: Accept overrides, or leaves it open', async () => {
    const caller = await holding('ranges', { account_id: 'ranges' });
    const accept = (value: string) => ({ ...transfers, headers: { accept: value } });
    expect(await versionFor(caller, accept('*/*'))).toBe('2026-06-01');
    expect(await versionFor(caller, accept('application/vnd.acme.2025-09-15+json'))).toBe('2025-09-15');
    expect(await versionFor(caller, accept('application/vnd.acme.2024-01-01+json'))).toBe(
      '406 version_unknown',
    );
  });

  it('RET-5: is redirected to the path of the next version once its own has ended, for itself alone', async () => {
    const caller = await holding('mover', { account_id: 'mover' });
    expect(await versionFor(caller, transfers)).toBe('2026-06-01');
    now = Date.UTC(2028, 0, 1);
    const answer = await ask(caller, { path: '/api/transfers/7?x=1' });
    expect(answer).toMatchObject({
      status: 301,
      headers: {
        location: 'https://127.0.0.1/api/2026-12-01/transfers/7?x=1',
        'cache-control': 'private, max-age=60',
      },
    });
    expect(await versionFor(caller, { path: '/api/2026-12-01/transfers/7' })).toBe('2026-12-01');
  });
});

describe('match: exact, with a default, where nothing is refused yet', () => {
  const quotes = { path: '/api/quotes' };
  const version = async (day: string) => {
    const answer = await ask(await made(day), quotes);
    const line = await gateway.accessLine(answer.headers['x-request-id']);
    expect(answer.headers['cache-control']).toBe('private');
    return [answer.status, line.version, line.carrier, line.would_refuse];
  };

  it('the very day of a version is pinned to it, past its sunset too', async () => {
    expect(await version('2024-09-01')).toEqual([200, '2024-09-01', 'pin', 'version_retired']);
  });

  it('any other day has the default, which is private all the same: it follows from the account', async () => {
    expect(await version('2025-10-01')).toEqual([200, '2026-06-01', 'default', undefined]);
    const open = await ask(await made('2025-10-01'), {
      ...quotes,
      headers: { 'Quotes-Version': '2026-06-01' },
    });
    expect(open.headers).not.toHaveProperty('cache-control');
  });
});

describe('an upgrade', () => {
  it('is seen by the next request, and the creation day decides no more', async () => {
    const acme = await made('2025-03-14', 'upgrader');
    expect(await versionFor(acme)).toBe('2024-09-01');
    expect(await upgrade('payments', 'upgrader', '2025-09-15')).toBe(200);
    expect(await versionFor(acme)).toBe('2025-09-15');
    now = Date.UTC(2027, 2, 1);
    expect(await versionFor(acme)).toBe('2025-09-15');
  });

  it('to a version that ends later is no second pin: the end is the answer', async () => {
    const caller = await holding('upgraded-then-ended', { account_id: 'upgraded' });
    expect(await versionFor(caller, { path: '/api/transfers' })).toBe('2026-06-01');
    now = Date.UTC(2026, 11, 1);
    expect(await upgrade('transfers', 'upgraded', '2026-12-01')).toBe(200);
    expect(await versionFor(caller, { path: '/api/transfers' })).toBe('2026-12-01');
  });
});

describe('CACHE-3: what two accounts get from one URL', () => {
  const upstreamSays = (value: string, more = '') =>
    `/api/payments?header=${encodeURIComponent(`Cache-Control:${value}`)}${more}`;

  it.each([
    ['public, max-age=60', 'private, max-age=60'],
    ['s-maxage=600', 'private'],
    ['public, s-maxage=600, must-revalidate', 'private, must-revalidate'],
    ['Public="x", S-MaxAge = 600, ext="a, public"', 'private, ext="a, public"'],
    ['private="Set-Cookie", max-age=60', 'private, max-age=60'],
    ['private, max-age=60', 'private, max-age=60'],
    ['no-store', 'no-store'],
    ['public, no-store', 'no-store'],
  ])('no shared cache keeps: %s becomes %s, on 200, HEAD and 304', async (value, expected) => {
    const [old, young] = [await made('2025-10-14'), await made('2026-10-14')];
    for (const headers of [old, young]) {
      for (const more of [{}, { method: 'HEAD' }, { path: upstreamSays(value, '&status=304') }]) {
        const answer = await ask(headers, { path: upstreamSays(value), ...more });
        expect(answer.headers['cache-control']).toBe(expected);
        expect(answer.headers.vary).toContain('API-Version');
      }
    }
    const bodies = [
      await ask(old, { path: upstreamSays(value) }),
      await ask(young, { path: upstreamSays(value) }),
    ];
    expect(bodies.map(told)).toEqual([['2025-09-15'], ['2026-06-01']]);
  });

  it('nor a network that has a field of its own', async () => {
    const fields = [
      'CDN-Cache-Control:public, max-age=600',
      'Acme-CDN-Cache-Control:max-age=600',
      'Surrogate-Control:max-age=600',
    ];
    const query = fields.map((field) => `header=${encodeURIComponent(field)}`).join('&');
    expect((await ask(await made('2026-10-14'), { path: `/api/payments?${query}` })).headers).toMatchObject({
      'cache-control': 'private',
      'cdn-cache-control': 'private, max-age=600',
      'acme-cdn-cache-control': 'private, max-age=600',
      'surrogate-control': 'no-store',
    });
  });

  it('a version that the request names is for everybody: Vary tells them apart', async () => {
    const headers = { ...(await made('2025-10-14')), 'API-Version': '2026-06-01' };
    const answer = await ask(headers, { path: upstreamSays('public, s-maxage=600') });
    expect(answer.headers['cache-control']).toBe('public, s-maxage=600');
  });
});
