// Responses stay the same until the next change in `explain` and while they are fresh (CACHE-6).
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { nextChanges } from '../../gateway/cli/explain/explain-next.ts';
import { type JudgedRequest, judge } from '../../gateway/cli/judge.ts';
import { assumePins } from '../../gateway/cli/known-account.ts';
import { longestReuse } from '../../gateway/exchange/answers/freshness.ts';
import { compileApi, planSteps } from '../../gateway/plan/compile/plan.ts';
import { hasPlan, type LoadedPlan } from '../../gateway/plan/load.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import type { Override } from '../../gateway/policy/lifecycle/override.ts';
import type { PolicyFile, VersionFile } from '../../gateway/sections/policy-file.ts';
import { atOnce } from '../../gateway/system/time-slices.ts';
import { workspace } from '../plan/workspace.ts';
import { view } from '../support/exchange-samples.ts';

const BEGIN = Date.UTC(2026, 10, 20);
const LABELS = ['v1', 'v2', 'v2.1.0', 'v3'] as const;
const POLICY = `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" }, { header: API-Version }, { default: v2 } ]
access: public
limits: { rate: 600/1m, deprecated: 50% }
upstreams: { v1: { targets: [http://127.0.0.1:4001] } }
versions: { v1: { released: 2024-01-01 } }
`;

let whole: LoadedPlan;
beforeAll(async () => {
  await using files = await workspace({
    'policies/orders.yaml': POLICY.replace('{ default: v2 }', '{ default: v1 }'),
  });
  const loaded = await files.load();
  if (!hasPlan(loaded)) throw new Error('the sample is a whole plan');
  whole = loaded;
});

/** Close together, so that lifetimes of minutes and seconds end at them. */
const instant = fc.integer({ min: 0, max: 40 }).map((step) => BEGIN + step * 5_000);
const label = fc.constantFrom(...LABELS);

const life = fc
  .record({
    dates: fc.uniqueArray(instant, { minLength: 5, maxLength: 5 }),
    known: fc.integer({ min: 1, max: 5 }),
    successor: fc.option(label, { nil: undefined }),
    redirect: fc.option(label, { nil: undefined }),
    old: fc.option(fc.record({ dates: fc.tuple(instant, instant), to: label, redirects: fc.boolean() }), {
      nil: undefined,
    }),
    served: fc.boolean(),
    announces: fc.boolean(),
  })
  .map(({ dates, known, successor, redirect, old, served, announces }) => {
    const [released = BEGIN, ...ends] = dates.toSorted((a, b) => a - b);
    const [deprecated, sunset, retired, forgotten] = ends.slice(0, known - 1);
    const operation = old && {
      'GET /7': {
        deprecated: Math.min(...old.dates),
        sunset: Math.max(...old.dates),
        successor: { label: old.to, template: undefined },
        after: old.redirects ? ('redirect' as const) : ('gone' as const),
      },
    };
    const extended =
      announces && deprecated !== undefined && sunset !== undefined
        ? [{ announced: deprecated + 1_000, to: sunset + 2_500 }]
        : undefined;
    const version: VersionFile = {
      released,
      ...(announces && deprecated !== undefined && { announced: deprecated - 2_000 }),
      deprecated,
      sunset,
      ...(extended && { extended }),
      retired,
      forgotten,
      successor,
      after: redirect === undefined ? 'gone' : { redirect },
      ...(operation && { operations: operation }),
    };
    return { version, served: served || sunset === undefined };
  });

const pause = fc.record({
  kind: fc.constant('pause' as const),
  id: fc.uuid(),
  api: fc.constant('orders'),
  label: fc.option(label, { nil: undefined }),
  author: fc.constant('ana'),
  reason: fc.constant('why'),
  from: instant,
  until: instant,
});

const situation = fc.record({
  lives: fc.tuple(life, life, life, life),
  overrides: fc.array(pause, { maxLength: 2 }),
  now: instant,
  after: fc.nat(1_000),
  path: fc.constantFrom(
    ...['/api/v1/orders/7', '/api/v2/orders/7', '/api/orders/7', '/api/v2.1.0/orders/8', '/api/v3/orders/7'],
  ),
});

type Lives = readonly { readonly version: VersionFile; readonly served: boolean }[];

function planOf(lives: Lives): GatewayPlan {
  const [source] = whole.sources.policies;
  if (source === undefined) throw new Error('the sample has a policy file');
  const targets = Object.values(source.file.upstreams ?? {})[0];
  if (targets === undefined) throw new Error('the sample has an upstream');
  const named = LABELS.map((each, index) => [each, lives[index]] as const);
  const file: PolicyFile = {
    ...source.file,
    resolve: source.file.resolve?.map((entry) => (entry.default === undefined ? entry : { default: 'v2' })),
    upstreams: Object.fromEntries(named.flatMap(([each, of]) => (of?.served ? [[each, targets]] : []))),
    versions: Object.fromEntries(named.flatMap(([each, of]) => (of ? [[each, of.version]] : []))),
  };
  const { settings } = whole;
  return atOnce(planSteps({ settings, apis: [compileApi(file, settings)], revision: '0' }));
}

function judging(lives: Lives, overrides: readonly Override[], path: string) {
  const { settings } = whole;
  const plan = planOf(lives);
  const consumer = { id: 'acme', mayLabelMetrics: true, isNamed: true, scopes: new Set<string>() };
  const pins = assumePins({}, BEGIN);
  return (now: number) =>
    judge(
      { kind: 'view', view: view({ path }) },
      { plan, settings, now, overrides, consumer, account: {}, pins },
    );
}

/** The lifecycle content of a response. */
function lifecycleOf({ facts, ending }: JudgedRequest) {
  const { headers } = ending.kind === 'answered' ? ending.answer : ending;
  const { deprecation, sunset, link, warning, location, ...others } = headers.record();
  const info = others['x-api-deprecation-info'];
  const status = ending.kind === 'answered' ? ending.answer.status : 200;
  return { label: facts.version?.label, status, deprecation, sunset, link, warning, location, info };
}

/** Instants near every date and pause. */
function instantsOf(lives: Lives, overrides: readonly Override[]): readonly number[] {
  const dates = lives.flatMap(({ version }) => [
    ...Object.values(version).filter((each) => typeof each === 'number'),
    ...(version.extended ?? []).flatMap(({ announced, to }) => [announced, to]),
    ...Object.values(version.operations ?? {}).flatMap(({ deprecated, sunset }) => [deprecated, sunset]),
  ]);
  const all = [...dates, ...overrides.flatMap(({ from, until }) => [from, until])];
  const known = all.filter((each) => each !== undefined);
  return [...new Set(known.flatMap((at) => [at - 1, at, at + 999]))].sort((a, b) => a - b);
}

/** The instant until which the response may be reused. */
function freshUntil({ facts, ending }: JudgedRequest): number {
  if (ending.kind === 'forwarded') return facts.now + longestReuse({ start: facts, decision: facts }) * 1000;
  const [, seconds = '0'] = /max-age=(\d+)/.exec(String(ending.answer.headers.get('cache-control'))) ?? [];
  return facts.now + Number(seconds) * 1000;
}

describe('for random plans', () => {
  it('CACHE-6: a response stays the same until the next reported change and while it is fresh', async () => {
    await fc.assert(
      fc.asyncProperty(situation, async ({ lives, overrides, now: at, after, path }) => {
        const now = at + after;
        const judgeAt = judging(lives, overrides, path);
        const first = await judgeAt(now);
        const [next] = await nextChanges(first, judgeAt, 1);
        const until = Math.max(next?.at ?? Number.POSITIVE_INFINITY, freshUntil(first));
        for (const then of instantsOf(lives, overrides)) {
          if (then <= now || then >= until) continue;
          expect([then - now, lifecycleOf(await judgeAt(then))]).toEqual([then - now, lifecycleOf(first)]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it.each(['/.well-known/api-catalog', '/.well-known/lifecycle/orders'])(
    'CAT-3, CACHE-6: %s does not change while it is fresh',
    async (path) => {
      await fc.assert(
        fc.asyncProperty(situation, async ({ lives, overrides, now: at, after }) => {
          const now = at + after;
          const judgeAt = judging(lives, overrides, path);
          const first = await judgeAt(now);
          const until = freshUntil(first);
          for (const then of instantsOf(lives, overrides)) {
            if (then <= now || then >= until) continue;
            const { ending } = await judgeAt(then);
            expect([then - now, ending.kind === 'answered' && ending.answer.body]).toEqual([
              then - now,
              first.ending.kind === 'answered' && first.ending.answer.body,
            ]);
          }
        }),
        { numRuns: 20 },
      );
    },
  );
});
