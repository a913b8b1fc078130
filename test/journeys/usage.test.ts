// Calls to deprecated versions: counted, shown by `sundial usage`, shown to their own consumer, and erased.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type Ended, operate, type Surroundings } from '../support/command.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer, type TestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
const WATCHED = Date.UTC(2026, 9, 1);
const NOW = Date.UTC(2026, 10, 20, 12);
/** Only its quotation marks keep it from being a formula, an option or the end of a line. */
const HOSTILE = '=HYPERLINK("https://evil.example") 名';
const OWN = '/.well-known/lifecycle/usage.json';
let now = WATCHED;
let gateway: RunningGateway;
let client: Client;
let admin: Client;
let issuer: TestIssuer;

beforeAll(async () => {
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const environment = { ECHO: echo.url, ISSUER: issuer.url };
  gateway = stack.use(await runGateway({ policies: 'usage', lifecycleNow: () => now, environment }));
  client = stack.use(overHttp1(gateway.https));
  admin = stack.use(overHttp1(gateway.admin, { tls: false }));
  await kept((usage) => usage.began !== null);
  now = NOW;
  for (const id of ['acme', 'acme', 'globex', HOSTILE])
    expect((await call(id, '/api/v1/orders/7')).status).toBe(200);
  expect((await call('acme', '/api/v1/orders/search')).status).toBe(200);
  expect((await call('acme', '/api/v2/orders/7')).status).toBe(200);
  expect((await call('initech', '/api/v1/orders/7')).status).toBe(200);
  // A caller without the scope is refused and does not count.
  expect((await call('hooli', '/api/v1/orders/7', { scope: 'none' })).status).toBe(403);
  for (let count = 0; count < 3; count += 1)
    expect((await client.ask({ path: '/api/v1/open', headers: { 'user-agent': 'curl/8' } })).status).toBe(
      200,
    );
  await kept(({ consumers }) => consumers.reduce((sum, { calls }) => sum + calls, 0) === 9);
});
afterAll(() => stack.disposeAsync());

interface Usage {
  readonly began: string | null;
  readonly consumers: readonly { readonly consumer: string; readonly calls: number }[];
  readonly records?: readonly unknown[];
}

/** Waits until the store has what was counted. */
const kept = (isThere: (usage: Usage) => boolean) =>
  vi.waitFor(
    async () => {
      const { json } = await admin.ask({ path: '/-/usage' });
      expect(isThere(json as unknown as Usage)).toBe(true);
    },
    { timeout: 20_000, interval: 20 },
  );

const holding = async (id: string, claims: Record<string, unknown> = {}) => ({
  authorization: `Bearer ${await issuer.sign({ sub: id, client_id: id, ...claims })}`,
});

const call = async (id: string, path: string, claims?: Record<string, unknown>): Promise<Answer> =>
  client.ask({
    path,
    headers: { ...(await holding(id, claims)), 'user-agent': `${id.slice(0, 4)}-sdk/1.2` },
  });

async function sundial(words: readonly string[], around: Surroundings = {}): Promise<Ended> {
  const reach = ['--admin', `http://127.0.0.1:${gateway.admin}`];
  const environment = { SUNDIAL_ADMIN_TOKEN: await gateway.adminToken() };
  return operate([...words, ...reach], { ...around, environment });
}

describe('sundial usage', () => {
  it('shows what is safe to retire, who still calls the rest, and all exceptions', async () => {
    const { exitCode, stdout, stderr } = await sundial(['usage']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toBe(`\
open v1  deprecated since 2026-01-15, sunset 2027-02-15 in 86 days, successor v2
  still called by 1 consumer, 3 calls in 30 days
    CONSUMER   KNOWN BY  CALLS  TREND  LAST CALL (UTC)   OPERATIONS  USER AGENT
    127.0.0.1  address       3      -  2026-11-20 12:00  -           curl/8

orders v0  deprecated since 2026-01-15, sunset 2027-02-15 in 86 days, successor v2
  0 calls in 30 days: safe to retire

orders v1  deprecated since 2026-01-15, sunset 2027-02-15 in 86 days, successor v2
  still called by 4 consumers, 6 calls in 30 days
    CONSUMER                               KNOWN BY  CALLS  TREND  LAST CALL (UTC)   OPERATIONS                USER AGENT
    acme                                   token         3      -  2026-11-20 12:00  other calls, GET /search  acme-sdk/1.2
    =HYPERLINK("https://evil.example") 名  token         1      -  2026-11-20 12:00  -                         =HYP-sdk/1.2
    globex                                 token         1      -  2026-11-20 12:00  -                         glob-sdk/1.2
    initech                                token         1      -  2026-11-20 12:00  -                         init-sdk/1.2
  acme has an exception from sunset until 2027-06-30 (contract 4711; by api-team): 3 calls, the last 2026-11-20 12:00

Counted from 2026-10-21 to 2026-11-20 12:00 UTC by the gateway's clock; the ledger begins 2026-10-01 00:00.
Trend: the last seven whole days compared with the seven days before.
`);
  });

  it('filters by API, version, consumer and time', async () => {
    const filter = ['--api', 'orders', '--version', 'v1', '--consumer', 'globex', '--since', '7d'];
    const { stdout } = await sundial(['usage', ...filter, '--operations']);
    expect(stdout).toContain('globex');
    expect(stdout).toContain('Counted from 2026-11-13 to ');
    for (const other of ['acme', 'initech', 'open', 'v0', 'safe', 'still called'])
      expect(stdout).not.toContain(other);
    now += 40 * 86_400_000;
    expect((await sundial(['usage', '--api', 'orders', '--version', 'v1'])).stdout).toContain(
      '\n  0 calls in 30 days: safe to retire\n',
    );
    now = NOW;
  });

  it('prints JSON and CSV', async () => {
    const json = await sundial(['usage', '--consumer', 'acme', '--format', 'json']);
    expect(JSON.parse(json.stdout)).toMatchObject({
      next: null,
      since: '2026-10-01',
      records: [
        {
          operation: null,
          callsByDay: { '2026-11-20': 2 },
          sample: { method: 'GET', requestId: expect.any(String) },
        },
        { operation: 'GET /search', callsByDay: { '2026-11-20': 1 } },
      ],
    });
    const csv = await sundial(['usage', '--api', 'orders', '--format', 'csv']);
    expect(csv.stdout.split('\r\n')).toHaveLength(1 + 5 + 1);
    expect(csv.stdout).toContain(`orders,v1,"'=HYPERLINK(""https://evil.example"") 名",token,,1,0,0,`);
  });

  it.each([
    [['--api', 'order'], 1, 'Not in the policies or the ledger: "order". Known: open, orders.'],
    [['--since', 'soon'], 2, 'Write a length such as 30d'],
    [['--erase', 'acme', '--api', 'orders'], 2, 'cannot be used with option'],
    [['--erase', 'acme', '--format', 'csv'], 2, '--erase prints a table or JSON, not CSV'],
    [['--yes'], 2, '--yes needs --erase'],
    [['--erase', 'acme'], 2, 'there is no terminal for the question: use --yes'],
  ])('%j exits with %i: %s', async (words, exitCode, said) => {
    const ended = await sundial(['usage', ...words]);
    expect(ended).toMatchObject({ exitCode, stdout: '' });
    expect(ended.stderr).toContain(said);
  });
});

describe('a consumer’s own usage', () => {
  it('shows its calls and the dates of their versions, and nothing of other consumers', async () => {
    const answer = await call('acme', OWN);
    expect(answer).toMatchObject({
      status: 200,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'private, no-store',
        vary: 'Authorization, X-API-Key',
      },
    });
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    expect(answer.json).toEqual({
      consumer: 'acme',
      since: '2026-08-22',
      until: '2026-11-20T12:00:00Z',
      versions: [
        {
          api: 'orders',
          version: 'v1',
          url: 'https://127.0.0.1/api/v1/orders',
          lifecycle: 'https://127.0.0.1/.well-known/lifecycle/orders',
          stage: 'deprecated',
          released: '2024-06-01T00:00:00Z',
          deprecated: '2026-01-15T00:00:00Z',
          sunset: '2027-02-15T00:00:00Z',
          retired: '2027-07-15T00:00:00Z',
          successor: 'v2',
          migration_guide: 'https://docs.example.com/orders/v1-to-v2',
          reason: 'money amounts become integers',
          next_change: { at: '2027-02-15T00:00:00Z', stage: 'sunset' },
          exceptions: [{ from: ['sunset'], until: '2027-06-30T00:00:00Z' }],
          calls: 3,
          last_call: '2026-11-20T12:00:00Z',
          operations: [
            { operation: null, calls: 2, last_call: '2026-11-20T12:00:00Z' },
            {
              operation: 'GET /search',
              calls: 1,
              last_call: '2026-11-20T12:00:00Z',
              stage: 'deprecated',
              released: '2024-06-01T00:00:00Z',
              deprecated: '2026-01-15T00:00:00Z',
              sunset: '2027-01-15T00:00:00Z',
              successor: 'v2',
              migration_guide: 'https://docs.example.com/orders/v1-to-v2',
              reason: 'money amounts become integers',
              next_change: { at: '2027-01-15T00:00:00Z', stage: 'retired' },
            },
          ],
        },
      ],
    });
  });

  it.each([
    ['an anonymous caller', 401, { 'www-authenticate': 'Bearer realm="api"' }],
    ['an invalid token', 401, { 'www-authenticate': expect.stringContaining('error="invalid_token"') }],
  ])('is refused for %s', async (who, status, headers) => {
    const stranger = { authorization: 'Bearer e30.e30.e30' };
    const answer = await client.ask({ path: OWN, headers: who === 'an anonymous caller' ? {} : stranger });
    expect(answer).toMatchObject({ status, headers: { ...headers, 'cache-control': 'no-store' } });
    expect(answer.text).not.toContain('acme');
  });

  it('is empty without calls to deprecated versions', async () => {
    for (const id of ['127.0.0.1', 'hooli'])
      expect((await call(id, OWN)).json).toMatchObject({ consumer: id, versions: [] });
  });

  it('FWD-15: is read-only', async () => {
    const headers = await holding('acme');
    expect(await client.ask({ method: 'POST', path: OWN, headers })).toMatchObject({
      status: 405,
      headers: { allow: 'GET, HEAD' },
    });
    expect(await client.ask({ method: 'HEAD', path: OWN, headers })).toMatchObject({ status: 200, text: '' });
  });
});

describe('sundial usage --erase', () => {
  it('asks for confirmation, and erases nothing without it', async () => {
    const confirm = vi.fn(async () => false);
    expect(await sundial(['usage', '--erase', 'globex'], { confirm })).toMatchObject({
      exitCode: 1,
      stderr: 'sundial: nothing was erased\n',
    });
    expect(confirm).toHaveBeenCalledWith('Erase all records of globex? They cannot be restored.');
    expect((await admin.ask({ path: '/-/usage?consumer=globex' })).json.records).toHaveLength(1);
  });

  it('erases a consumer, with an audit line that does not name it', async () => {
    const words = ['usage', '--erase', 'globex', '--yes', '--by', 'maria', '--why', 'asked for it'];
    expect(await sundial(words)).toEqual({
      exitCode: 0,
      stdout: 'Erased 1 record of globex. New calls are counted again.\n',
      stderr: '',
    });
    expect((await admin.ask({ path: '/-/usage?consumer=globex' })).json.records).toEqual([]);
    expect((await sundial(words)).stdout).toBe('The ledger has no records of globex.\n');
    const line = gateway.log.find(({ audit }) => audit !== undefined);
    expect(line?.audit).toMatchObject({ action: 'erase_usage', by: 'maria', after: { erased: 1 } });
    expect(JSON.stringify(line)).not.toContain('globex');
  });

  it('requires the token', async () => {
    const answer = await admin.ask({ method: 'DELETE', path: '/-/usage?consumer=acme' });
    expect(answer.status).toBe(401);
    expect((await admin.ask({ path: '/-/usage?consumer=acme' })).json.records).toHaveLength(2);
  });
});
