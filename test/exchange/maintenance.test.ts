// Maintenance in the order of judgement: inherited, after lifecycle, before identity, until its end.
import { beforeAll, describe, expect, it } from 'vitest';
import { createExchange } from '../../gateway/exchange/exchange.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { tokenAuthenticator } from '../../gateway/policy/authentication/token-authenticator.ts';
import { planOf } from '../plan/workspace.ts';
import { view } from '../support/exchange-samples.ts';
import { quietPorts } from '../support/quiet-ports.ts';

const UNTIL = Date.parse('2026-11-20T18:00:00Z');
const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: { identity: main, scopes: { read: [orders:read] } }
cors: { origins: [https://app.example.com] }
maintenance: 2026-11-20T18:00:00Z
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
  v3: { targets: [http://127.0.0.1:4003] }
versions:
  v0: { released: 2023-01-01, deprecated: 2024-06-01, sunset: 2026-01-01 }
  v1:
    released: 2024-06-01
    deprecated: 2026-01-15
    sunset: 2027-01-15
    successor: v2
    brownouts: [ { from: 2026-11-20T14:00:00Z, for: 15m, announced: 2026-09-01 } ]
  v2:
    released: 2025-01-01
    maintenance: { until: 2026-11-20T06:00:00Z, why: a new index }
    operations:
      GET /search: { maintenance: 2026-11-22 }
      GET /plain: { guide: https://docs.example.com/plain }
  v3: { released: 2025-06-01 }
`;

let enforced: GatewayPlan;
let observed: GatewayPlan;

beforeAll(async () => {
  enforced = await planOf(POLICY);
  observed = await planOf(`mode: observe\n${POLICY}`);
});

interface Situation {
  readonly path: string;
  /** The real time. */
  readonly at: string;
  /** The lifecycle clock. Default: the real time. */
  readonly lifecycleAt?: string;
  readonly plan?: GatewayPlan;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

async function judge({
  path,
  at,
  lifecycleAt = at,
  plan = enforced,
  method = 'GET',
  headers = {},
}: Situation) {
  const exchange = createExchange({
    ...quietPorts(
      () => plan,
      () => Date.parse(lifecycleAt),
    ),
    wallClock: () => Date.parse(at),
    authenticators: new Map([
      [
        'main',
        tokenAuthenticator(() => 0, {
          claims: () => true,
          verify: () => ({ kind: 'refused', refusal: { reason: 'token_invalid', description: 'No' } }),
        }),
      ],
    ]),
  });
  const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
  const request = view({ path, method, headers });
  const directive = await exchange.decide(request, facts);
  if (directive.kind === 'publish')
    return { outcome: 'published', answer: exchange.publish(directive.publication, facts, request) };
  if (directive.kind !== 'refuse') return { outcome: 'forwarded', answer: undefined };
  return { outcome: directive.refusal.reason, answer: exchange.refuse(directive.refusal, facts, request) };
}

const NOON = '2026-11-20T12:00:00Z';

describe('maintenance', () => {
  it.each<[string, Situation, string]>([
    ['of an API applies to its versions', { path: '/api/v3/orders', at: NOON }, 'maintenance'],
    [
      'ends at its instant, without a reload',
      { path: '/api/v3/orders', at: '2026-11-20T18:00:00Z' },
      'credentials_missing',
    ],
    [
      'lasts until the last millisecond',
      { path: '/api/v3/orders', at: '2026-11-20T17:59:59.999Z' },
      'maintenance',
    ],
    ["of a version replaces the API's", { path: '/api/v2/orders', at: NOON }, 'credentials_missing'],
    ['of a version applies too', { path: '/api/v2/orders', at: '2026-11-20T05:00:00Z' }, 'maintenance'],
    [
      "of an operation replaces the version's",
      { path: '/api/v2/orders/search', at: '2026-11-21T12:00:00Z' },
      'maintenance',
    ],
    [
      'of a version applies to an operation without its own',
      { path: '/api/v2/orders/plain', at: NOON },
      'credentials_missing',
    ],
    ['ORD-3: does not hide a retirement', { path: '/api/v0/orders', at: NOON }, 'version_retired'],
    ['ORD-3: does not hide a brownout', { path: '/api/v1/orders', at: '2026-11-20T14:05:00Z' }, 'brownout'],
    [
      'ORD-3: comes before the token is checked',
      { path: '/api/v3/orders', at: NOON, headers: { authorization: 'Bearer wrong' } },
      'maintenance',
    ],
    ['does not hide an unknown version', { path: '/api/v9/orders', at: NOON }, 'version_unknown'],
    [
      'uses the real time even if the lifecycle clock is moved',
      { path: '/api/v3/orders', at: NOON, lifecycleAt: '2026-12-20T00:00:00Z' },
      'maintenance',
    ],
  ])('%s', async (_what, situation, outcome) => {
    expect((await judge(situation)).outcome).toBe(outcome);
  });

  it('also refuses in `mode: observe`', async () => {
    const { outcome } = await judge({ path: '/api/v3/orders', at: NOON, plan: observed });
    expect(outcome).toBe('maintenance');
  });

  it('ORD-4: does not refuse a preflight', async () => {
    const { answer } = await judge({
      path: '/api/v3/orders',
      at: NOON,
      method: 'OPTIONS',
      headers: { origin: 'https://app.example.com', 'access-control-request-method': 'GET' },
    });
    expect(answer?.status).toBe(204);
  });

  it('ERR-5: names the retry time as a delay and an instant, and no reason', async () => {
    const { answer } = await judge({ path: '/api/v3/orders', at: '2026-11-20T17:59:58.200Z' });
    expect(answer?.status).toBe(503);
    expect(answer?.headers.record()).toMatchObject({
      'retry-after': '2',
      'cache-control': 'no-store',
      'proxy-status': 'sundial; error=destination_unavailable',
    });
    expect(JSON.parse(answer?.body ?? '')).toEqual({
      error: 'Service Unavailable',
      message: 'This service is down for maintenance.',
      retryAfter: 2,
      estimatedRestoration: new Date(UNTIL).toISOString().replace('.000', ''),
    });
    const early = await judge({ path: '/api/v2/orders', at: '2026-11-20T05:00:00Z' });
    expect(early.answer?.body).not.toContain('index');
  });

  it('DEP-1, SUN-1: of a deprecated version has its lifecycle headers', async () => {
    const { answer } = await judge({ path: '/api/v1/orders', at: NOON });
    expect(answer?.headers.record()).toMatchObject({
      deprecation: '@1768435200',
      sunset: 'Fri, 15 Jan 2027 00:00:00 GMT',
      'x-request-id': 'b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001',
    });
  });

  it('is in the lifecycle document, which caches reuse only until its end', async () => {
    const page = async (at: string) => {
      const { answer } = await judge({ path: '/.well-known/lifecycle/orders', at });
      const { versions } = JSON.parse(answer?.body ?? '') as {
        versions: { version: string; maintenance_until?: string }[];
      };
      const listed = versions.flatMap(({ version, maintenance_until: until }) =>
        until === undefined ? [] : [[version, until]],
      );
      return { listed, reuse: answer?.headers.get('cache-control') };
    };
    expect(await page('2026-11-20T17:59:00Z')).toEqual({
      listed: [
        ['v1', '2026-11-20T18:00:00Z'],
        ['v3', '2026-11-20T18:00:00Z'],
      ],
      reuse: 'max-age=60',
    });
    expect(await page('2026-11-20T18:00:00Z')).toEqual({ listed: [], reuse: 'max-age=300' });
  });

  it('is on the lifecycle page in HTML', async () => {
    const { answer } = await judge({
      path: '/.well-known/lifecycle/orders',
      at: NOON,
      headers: { accept: 'text/html' },
    });
    expect(answer?.body).toContain(
      'Down for maintenance until <time datetime="2026-11-20T18:00:00Z">2026-11-20 18:00:00Z</time>',
    );
  });
});
