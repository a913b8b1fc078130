// A year of one version in three time zones, around each transition and at random instants.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createExchange } from '../../gateway/exchange/exchange.ts';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { workspace } from '../plan/workspace.ts';
import { view } from '../support/exchange-samples.ts';
import { PLENTY, quietPorts } from '../support/quiet-ports.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const day = (text: string) => Temporal.Instant.from(`${text}T00:00:00Z`).epochMilliseconds;
const BEGIN = day('2026-12-25');
const END = day('2028-01-10');

/** Brownouts at 02:30 local time every Sunday, when clocks change, then every day before the sunset. */
const policy = (zone: string) => `api: orders
base: /api/orders
resolve: [ { path: "/api/{version}/orders" } ]
access: public
limits: { rate: 600/1m, by: address, deprecated: 50% }
upstreams:
  v1: { targets: [http://127.0.0.1:4001] }
  v2: { targets: [http://127.0.0.1:4002] }
versions:
  v1:
    released: 2027-01-01
    deprecated: 2027-02-01
    sunset: 2027-12-01
    retired: 2027-12-15
    forgotten: 2028-01-01
    successor: v2
    brownouts:
      - { cron: "30 2 * * sun", zone: ${zone}, for: 45m, until: 2027-11-01, announced: 2027-01-01 }
      - { before_sunset: 14d, cron: "30 2 * * *", zone: ${zone}, for: 20m, announced: 2027-01-01 }
    operations:
      GET /old: { deprecated: 2027-01-20, sunset: 2027-06-01, successor: GET /, brownouts: [ { from: "2027-05-01T12:00:00Z", for: 1h, announced: 2027-01-20 } ] }
  v2: { released: 2027-01-01 }
`;

interface Step {
  readonly at: number;
  /** What a request gets from then on. */
  readonly response: string;
}

/** 02:30 local time. If the clocks skip it, the hour they move to. */
function halfPastTwo(date: Temporal.PlainDate, zone: string): number {
  const local = date.toPlainDateTime('02:30').toZonedDateTime(zone, { disambiguation: 'compatible' });
  return (local.hour === 2 ? local : local.startOfDay().add({ hours: 2 })).epochMilliseconds;
}

function windowsOf(zone: string): readonly (readonly [from: number, until: number])[] {
  const first = Temporal.PlainDate.from('2027-02-01');
  const days = Array.from({ length: 304 }, (_, index) => first.add({ days: index }));
  return days.flatMap((date) => {
    const from = halfPastTwo(date, zone);
    if (date.dayOfWeek === 7 && from < day('2027-11-01')) return [[from, from + 45 * MINUTE] as const];
    const inPhase = from >= day('2027-11-17') && from < day('2027-12-01');
    return inPhase ? [[from, from + 20 * MINUTE] as const] : [];
  });
}

const stepsOf = (zone: string): readonly Step[] =>
  [
    { at: day('2027-01-01'), response: 'active forward 600' },
    { at: day('2027-02-01'), response: 'deprecated forward 300' },
    ...windowsOf(zone).flatMap(([from, until]) => [
      { at: from, response: 'deprecated brownout' },
      { at: until, response: 'deprecated forward 300' },
    ]),
    { at: day('2027-12-01'), response: 'sunset version_retired' },
    { at: day('2027-12-15'), response: 'retired version_retired' },
    { at: day('2028-01-01'), response: 'none version_unknown' },
  ].toSorted((one, other) => one.at - other.at);

const OF_OPERATION: readonly Step[] = [
  { at: day('2027-01-01'), response: 'active forward 600' },
  { at: day('2027-01-20'), response: 'deprecated forward 300' },
  { at: day('2027-05-01') + 720 * MINUTE, response: 'deprecated brownout' },
  { at: day('2027-05-01') + 780 * MINUTE, response: 'deprecated forward 300' },
  { at: day('2027-06-01'), response: 'retired version_retired' },
  { at: day('2028-01-01'), response: 'none version_unknown' },
];

const responseAt = (steps: readonly Step[], now: number) =>
  steps.findLast(({ at }) => at <= now)?.response ?? 'none version_unknown';

async function planOf(text: string): Promise<GatewayPlan> {
  await using files = await workspace({ 'policies/orders.yaml': text });
  const { plan, problems } = await files.load();
  if (plan === undefined) throw new Error(problems.map(({ message }) => message).join('\n'));
  return plan;
}

/** What a request gets at an instant: stage, outcome and limit. */
function asking(plan: GatewayPlan, path: string): (now: number) => Promise<string> {
  return async (now) => {
    let units: number | undefined;
    const exchange = createExchange({
      ...quietPorts(
        () => plan,
        () => now,
      ),
      limiter: {
        take: (parts) =>
          parts.map(({ limit, rule }) => {
            units = limit.units;
            return { kind: 'counted', limit, rule, ...PLENTY };
          }),
      },
    });
    const facts = exchange.begin('b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001');
    const directive = await exchange.decide(view({ path }), facts);
    const outcome = directive.kind === 'refuse' ? directive.refusal.reason : directive.kind;
    return [facts.decision.phase?.stage ?? 'none', outcome, ...(units === undefined ? [] : [units])].join(
      ' ',
    );
  };
}

describe.each(['UTC', 'Europe/Berlin', 'America/New_York'])('a simulated year in %s', (zone) => {
  it.each([
    ['a version', '/api/v1/orders/7', stepsOf(zone)],
    ['an operation', '/api/v1/orders/old', OF_OPERATION],
  ])('%s changes in the second of each transition', async (_what, path, steps) => {
    const ask = asking(await planOf(policy(zone)), path);
    for (const { at } of steps) {
      for (const now of [at - SECOND, at - 1, at, at + 1, at + SECOND])
        expect([now - at, await ask(now)]).toEqual([now - at, responseAt(steps, now)]);
    }
    const instant = fc.integer({ min: BEGIN, max: END });
    await fc.assert(
      fc.asyncProperty(instant, async (now) => {
        expect(await ask(now)).toBe(responseAt(steps, now));
      }),
      { numRuns: 300 },
    );
  });

  it('has a brownout on each Sunday and on each of the last fourteen days', () => {
    expect(windowsOf(zone)).toHaveLength(39 + 14);
  });
});
