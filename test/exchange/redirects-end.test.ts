// RET-4: no redirect leads to another redirect, for random versions and operations that no check has seen.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { EVERY_SCOPE, judge } from '../../gateway/cli/judge.ts';
import { assumePins } from '../../gateway/cli/known-account.ts';
import { parseRequest } from '../../gateway/cli/parse-request.ts';
import { compileApi, planSteps } from '../../gateway/plan/compile/plan.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { Settings } from '../../gateway/plan/settings.ts';
import { policyGrammar } from '../../gateway/sections/policy-file.ts';
import { ORDERS, workspace } from '../plan/workspace.ts';

const LABELS = ['v1', 'v2', 'v3'];
const PATHS = ['/a', '/b', '/c/{id}', '/{any}'];
const DAYS = ['2026-02-01', '2026-03-01', '2026-04-01', '2026-05-01'];
const TIMES = [...DAYS, '2026-06-01'].map((text) => Date.parse(`${text}T00:00:00Z`));

const URLS = LABELS.flatMap((label) =>
  ['/a', '/b', '/c/7', '/d'].map((tail) => `/api/${label}/orders${tail}`),
);

const day = fc.constantFrom(...DAYS);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const label = fc.constantFrom(...LABELS);
/** A capture of `/c/{id}` matches no other template, so its parameter leads only to itself. */
const operation = fc.record(
  {
    sunset: day,
    after: fc.constantFrom('gone', 'redirect', 'redirect'),
    successor: fc.oneof(label, fc.constantFrom('GET /a', 'GET /b', 'v1 GET /a', 'v2 GET /b', 'v3 GET /a')),
  },
  { requiredKeys: ['successor'] },
);
const version = fc.record({
  sunset: maybe(day),
  to: maybe(label),
  operations: fc.dictionary(fc.constantFrom(...PATHS.map((path) => `GET ${path}`)), operation),
});
const file = fc.tuple(version, version, version);

let settings: Settings;
beforeAll(async () => {
  await using files = await workspace({ 'policies/orders.yaml': ORDERS });
  const loaded = await files.load();
  if (loaded.settings === undefined) throw new Error('the gateway file is not in order');
  settings = loaded.settings;
});

function planOf(
  versions: readonly (typeof file extends fc.Arbitrary<infer T> ? T : never)[number][],
): GatewayPlan {
  const upstreams = Object.fromEntries(LABELS.map((each) => [each, { targets: ['http://127.0.0.1:4001'] }]));
  const written = versions.map(({ sunset, to, operations }, index) => [
    LABELS[index] ?? '',
    {
      released: '2025-01-01',
      deprecated: '2026-01-01',
      ...(sunset !== undefined && { sunset }),
      ...(to !== undefined && { after: { redirect: to } }),
      operations,
    },
  ]);
  const api = compileApi(
    policyGrammar.parse({
      api: 'orders',
      base: '/api/orders',
      resolve: [{ path: '/api/{version}/orders' }],
      access: 'public',
      upstreams,
      versions: Object.fromEntries(written),
    }),
    settings,
  );
  const steps = planSteps({ settings, apis: [api], revision: '' });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

async function locationOf(plan: GatewayPlan, url: string, now: number): Promise<string | undefined> {
  const host = new URL(plan.public).hostname;
  const parsed = parseRequest(
    { request: `GET ${url}`, headers: [], host, authorization: undefined },
    settings,
    plan,
  );
  if (parsed.kind === 'unusable') throw new Error(parsed.message);
  const consumer = { id: 'acme', mayLabelMetrics: true, isNamed: true, scopes: EVERY_SCOPE };
  const account = {};
  const known = { plan, settings, now, overrides: [], consumer, account, pins: assumePins(account, now) };
  const { ending } = await judge(parsed, known);
  const location = ending.kind === 'answered' ? ending.answer.headers.get('location') : undefined;
  return typeof location === 'string' ? location : undefined;
}

describe('following redirects', () => {
  it('RET-4: ends after one step at every instant, also with circular successors', async () => {
    let redirected = 0;
    await fc.assert(
      fc.asyncProperty(file, async (versions) => {
        const plan = planOf(versions);
        for (const url of URLS) {
          for (const now of TIMES) {
            const location = await locationOf(plan, url, now);
            if (location === undefined) continue;
            redirected += 1;
            expect(await locationOf(plan, location, now)).toBeUndefined();
          }
        }
      }),
      { numRuns: 30 },
    );
    expect(redirected).toBeGreaterThan(10);
  });
});
