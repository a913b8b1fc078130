// Usage decides, also after a restart, who is new to a frozen version and whether the guard holds a sunset.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEcho } from '../../upstreams/echo/echo.ts';
import { type RunningGateway, runGateway } from '../support/gateway.ts';
import { type Answer, type Client, overHttp1 } from '../support/http-client.ts';
import { startTestIssuer } from '../support/issuer.ts';

const stack = new AsyncDisposableStack();
const BEFORE = Date.UTC(2026, 4, 31);
const FREEZE = Date.UTC(2026, 5, 1);
const AFTER = Date.UTC(2026, 5, 1, 12);
let now = BEFORE;
let gateway: RunningGateway;
let client: Client;
const tokens = new Map<string, string>();

const ask = (path: string, consumer: string, asked: Client = client): Promise<Answer> =>
  asked.ask({ path, headers: { authorization: `Bearer ${tokens.get(consumer)}` } });

beforeAll(async () => {
  const data = await mkdtemp(join(tmpdir(), 'sundial-usage-'));
  stack.defer(() => rm(data, { recursive: true, force: true }));
  const echo = stack.adopt(await startEcho({ port: 0 }), (service) => service.close());
  const issuer = stack.adopt(await startTestIssuer(), (service) => service.close());
  const start = () =>
    runGateway({
      policies: 'freeze',
      lifecycleNow: () => now,
      environment: { ECHO: echo.url, ISSUER: issuer.url, DATA: data, STORE: `embedded:${data}` },
    });
  for (const id of ['acme', 'globex', 'initech'])
    tokens.set(id, await issuer.sign({ client_id: id, scope: 'orders:read' }));
  {
    await using first = await start();
    await using asking = overHttp1(first.https);
    for (const path of ['/api/v1/invoices/7', '/api/v1/reports/7'])
      expect((await ask(path, 'acme', asking)).status).toBe(200);
    // The first flush stores since when the version is watched, which must be before the freeze.
    await vi.waitFor(async () => {
      expect(await first.metric('sundial_ledger_flushes_total{result="success"}')).toBeGreaterThan(0);
      expect(await first.metric('sundial_ledger_pending_records')).toBe(0);
    }, 20_000);
    // This first call may not be in the store when the freeze begins.
    now = FREEZE - 1;
    expect((await ask('/api/v1/invoices/7', 'initech', asking)).status).toBe(200);
    now = FREEZE;
    expect((await ask('/api/v1/invoices/7', 'initech', asking)).status).toBe(200);
    expect((await ask('/api/v1/invoices/7', 'globex', asking)).status).toBe(403);
  }
  now = AFTER;
  gateway = stack.use(await start());
  client = stack.use(overHttp1(gateway.https));
});
afterAll(() => stack.disposeAsync());

describe('a frozen version', () => {
  it('still serves earlier callers, and refuses all others with a link to its successor', async () => {
    for (const known of ['acme', 'initech'])
      expect((await ask('/api/v1/invoices/7', known)).status).toBe(200);
    const refused = await ask('/api/v1/invoices/7', 'globex');
    expect(refused).toMatchObject({
      status: 403,
      json: {
        error: 'Forbidden',
        message: 'API version v1 has accepted no new consumers since 2026-06-01.',
        replacement: expect.stringMatching(/\/api\/v2\/invoices\/7$/),
        migration_guide: 'https://docs.example.com/invoices/v2',
      },
      headers: { 'cache-control': 'no-store', sunset: 'Fri, 15 Jan 2027 00:00:00 GMT' },
    });
    expect(String(refused.headers.link)).toContain('rel="successor-version"');
    const line = await gateway.accessLine(refused.headers['x-request-id']);
    expect(line).toMatchObject({ refusal: 'adoption_frozen', status: 403, consumer: 'globex' });
    expect((await ask('/api/v2/invoices/7', 'globex')).status).toBe(200);
    const retired = 'sundial_retired_requests_total{api="invoices",version="v1",action="frozen"}';
    expect(await gateway.metric(retired)).toBe(1);
  });

  it('refuses no consumer if calls are counted only since the freeze, and warns', async () => {
    expect((await ask('/api/v0/invoices/7', 'globex')).status).toBe(200);
    const unjudged = 'sundial_freeze_unjudged_total{api="invoices",version="v0",reason="counted_since"}';
    expect(await gateway.metric(unjudged)).toBe(1);
    expect(gateway.log.find(({ api, level }) => api === 'invoices' && level === 'warn')).toMatchObject({
      version: 'v0',
      freeze: '2026-03-01T00:00:00Z',
    });
  });
});

describe('a sunset that comes while usage is too high', () => {
  const HELD = 'sundial_version_retirement_held{api="reports",version="v1"}';

  it('is held by the guard, and shown in metrics, the audit log and the list of overrides', async () => {
    await vi.waitFor(async () => expect(await gateway.metric(HELD)).toBe(1), { interval: 20 });
    const ready = 'sundial_version_retirement_ready{api="reports",version="v1"}';
    expect(await gateway.metric(ready)).toBe(0);
    const why = '1 consumer, 1 call in 30 days; to be retired below 1 consumer and 100 calls in 30 days';
    expect(gateway.log.find(({ message }) => message === 'a retirement is held')).toMatchObject({
      audit: { action: 'hold', by: 'guard', subject: 'reports v1', why },
    });
    await using admin = overHttp1(gateway.admin, { tls: false });
    expect((await admin.ask({ path: '/-/overrides' })).json).toMatchObject({
      overrides: [
        {
          id: 'guard-reports-v1',
          kind: 'hold',
          by: 'guard',
          why,
          until: '2026-06-05T00:00:00Z',
          effects: [{ effect: 'sunset_held' }],
        },
      ],
    });
  });

  it('is shown on the usage page', async () => {
    await using admin = overHttp1(gateway.admin, { tls: false });
    const { json } = await admin.ask({ path: '/-/usage?api=reports&version=v1' });
    expect(json).toMatchObject({
      versions: [
        {
          decides: {
            countedSince: expect.stringMatching(/^2026-05-31T/),
            freeze: null,
            retirement: 'exceeded',
            heldUntil: '2026-06-05T00:00:00Z',
            summaries: [
              'retire_when below 1 consumer and 100 calls in 30 days: exceeded by 1 consumer, 1 call in 30 days, holds the sunset',
              'retirement held until 2026-06-05',
            ],
          },
        },
      ],
    });
    const invoices = await admin.ask({ path: '/-/usage?api=invoices' });
    expect(invoices.json).toMatchObject({
      versions: [
        {
          version: 'v0',
          decides: {
            summaries: [
              'closed to new consumers since 2026-03-01, but refuses no consumer: earlier calls were not counted',
            ],
          },
        },
        { version: 'v1', consumers: 2, decides: { summaries: ['closed to new consumers since 2026-06-01'] } },
      ],
    });
  });

  it('RET-11: takes effect when the hold ends, and not before', async () => {
    now = Date.UTC(2026, 5, 4, 23);
    expect(await ask('/api/v1/reports/7', 'acme')).toMatchObject({
      status: 200,
      headers: { sunset: 'Fri, 05 Jun 2026 00:00:00 GMT' },
    });
    now = Date.UTC(2026, 5, 5);
    expect((await ask('/api/v1/reports/7', 'acme')).status).toBe(410);
  });
});
