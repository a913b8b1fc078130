// The choice of a target with circuit breakers, health checks and slow start.
import { describe, expect, it } from 'vitest';
import { Fault } from '../../gateway/exchange/directive.ts';
import type { TargetChange } from '../../gateway/exchange/version-states.ts';
import type { GatewayPlan, UpstreamPlan } from '../../gateway/plan/plan.ts';
import { DEFAULT_BREAKER } from '../../gateway/sections/upstreams/compile.ts';
import { atOnce } from '../../gateway/system/time-slices.ts';
import type { Choice } from '../../gateway/upstream/targets/target-state.ts';
import { createTargets, type Targets } from '../../gateway/upstream/targets/targets.ts';
import { api, plan, upstream as sample, version } from '../support/exchange-samples.ts';
import { createManualClock } from '../support/manual-clock.ts';

const A = 'http://10.0.0.1:80';
const B = 'http://10.0.0.2:80';
const HEALTH = { path: '/healthz', every: 5_000, timeout: 1_000, healthy: 2, unhealthy: 3 };

const upstreamOf = (changes: Partial<UpstreamPlan> = {}, ...origins: string[]): UpstreamPlan => ({
  ...sample,
  targets: origins.map((origin) => ({ origin })),
  ...changes,
});
const planOf = (...upstreams: UpstreamPlan[]): GatewayPlan =>
  plan([api(upstreams.map((upstream, index) => version({ upstream, label: `v${index + 1}` })))]);

function harness(random = 0.5) {
  const clock = createManualClock();
  const sick = new Set<string>();
  const probes: string[] = [];
  const changes: TargetChange[] = [];
  const targets = createTargets({
    clock,
    random: () => random,
    probe: async ({ target, rules }) => {
      probes.push(`${target.origin}${rules.path}`);
      return sick.has(target.origin) ? 'status 500' : undefined;
    },
    onChange: (change) => void changes.push(change),
  });
  return { clock, sick, probes, changes, targets };
}

function use(targets: Targets, upstream: UpstreamPlan, outcome: 'answered' | 'failed', key?: string): string {
  const choice = targets.choose(upstream, key);
  choice.settle(outcome === 'failed' ? 'upstream_reset' : outcome);
  return choice.target.origin;
}

function refusal(targets: Targets, upstream: UpstreamPlan): Fault {
  try {
    targets.choose(upstream, undefined);
  } catch (thrown) {
    if (thrown instanceof Fault) return thrown;
    throw thrown;
  }
  throw new Error('a target was chosen');
}

describe('the choice of a target', () => {
  it('uses round robin, and avoids the target of a failed call if another one is in service', () => {
    const { targets } = harness();
    const both = upstreamOf({}, A, B);
    expect([1, 2, 3, 4].map(() => use(targets, both, 'answered'))).toEqual([A, B, A, B]);
    const avoid = { origin: A };
    expect([1, 2, 3].map(() => targets.choose(both, undefined, avoid).target.origin)).toEqual([B, B, B]);
    const single = upstreamOf({ name: 'single' }, A);
    expect(targets.choose(single, undefined, avoid).target.origin).toBe(A);
  });

  it('uses the fewest running requests if configured, until each call is settled', () => {
    const { targets } = harness();
    const both = upstreamOf({ balance: 'least-requests' }, A, B);
    const first = targets.choose(both, undefined);
    const busy = first.target.origin;
    const others = [1, 2].map(() => {
      const choice = targets.choose(both, undefined);
      choice.settle('answered');
      return choice.target.origin;
    });
    expect(others).not.toContain(busy);
    first.settle('answered');
    // A second settlement of the same call has no effect.
    first.settle('answered');
    const chosen: Choice[] = [1, 2, 3, 4].map(() => targets.choose(both, undefined));
    expect(chosen.filter(({ target }) => target.origin === busy)).toHaveLength(2);
  });

  it('depends on the caller if configured, and is round robin without a caller', () => {
    const { targets } = harness();
    const both = upstreamOf({ balance: 'consumer' }, A, B);
    const callers = Array.from({ length: 40 }, (_, index) => `consumer-${index}`);
    const first = callers.map((key) => use(targets, both, 'answered', key));
    expect(callers.map((key) => use(targets, both, 'answered', key))).toEqual(first);
    expect(new Set(first).size).toBe(2);
    expect(new Set([1, 2].map(() => use(targets, both, 'answered'))).size).toBe(2);
  });
});

describe('a circuit breaker of several targets', () => {
  const strict = { failures: 2, open: 10_000, strict: true };

  it('takes a failing target out, and admits one trial request after its open time', async () => {
    const { targets, clock, changes } = harness();
    const both = upstreamOf({ breaker: strict }, A, B);
    atOnce(targets.keepSteps(planOf(both)));
    for (let index = 0; index < 4; index += 1) {
      const { target, settle } = targets.choose(both, undefined);
      settle(target.origin === A ? 'upstream_reset' : 'answered');
    }
    expect(changes).toEqual([{ upstream: 'orders-v1', target: A, up: false, by: 'breaker', why: undefined }]);
    expect([1, 2, 3].map(() => use(targets, both, 'answered'))).toEqual([B, B, B]);
    expect([...targets.states()].map(({ up }) => up)).toEqual([false, true]);
    await clock.pass(10_000);
    const chosen = [1, 2, 3].map(() => targets.choose(both, undefined));
    expect(chosen.filter(({ target }) => target.origin === A)).toHaveLength(1);
    for (const { settle } of chosen) settle('answered');
    expect(changes.at(-1)).toMatchObject({ target: A, up: true });
  });

  it('counts a response head as an answer, before a long stream ends', async () => {
    const { targets, clock } = harness();
    const one = upstreamOf({ breaker: strict }, A);
    use(targets, one, 'failed');
    use(targets, one, 'failed');
    await clock.pass(10_000);
    const stream = targets.choose(one, undefined);
    stream.answered();
    expect(use(targets, one, 'answered')).toBe(A);
  });

  it('FWD-18: refuses with the time of the next trial if all targets are out', async () => {
    const { targets, clock } = harness();
    const both = upstreamOf({ breaker: strict }, A, B);
    for (let index = 0; index < 2; index += 1) use(targets, both, 'failed');
    await clock.pass(2_500);
    for (let index = 0; index < 2; index += 1) use(targets, both, 'failed');
    await clock.pass(2_600);
    const fault = refusal(targets, both);
    expect(fault).toMatchObject({ code: 'upstream_unavailable', service: 'orders-v1', retryAfterSeconds: 8 });
    await clock.pass(7_390);
    expect(refusal(targets, both).retryAfterSeconds).toBe(1);
    await clock.pass(10);
    expect([A, B]).toContain(targets.choose(both, undefined).target.origin);
  });

  it('that is not configured never refuses: failing targets are used if all fail', () => {
    const { targets } = harness();
    const both = upstreamOf({ breaker: DEFAULT_BREAKER }, A, B);
    const chosen = Array.from({ length: 40 }, () => use(targets, both, 'failed'));
    expect(new Set(chosen.slice(-2))).toEqual(new Set([A, B]));
    expect(use(targets, both, 'answered')).toBe(use(targets, both, 'answered'));
  });

  it('does not exist for a single target without one in the policy', () => {
    const { targets, changes } = harness();
    const one = upstreamOf({}, A);
    for (let index = 0; index < 50; index += 1) expect(use(targets, one, 'failed')).toBe(A);
    atOnce(targets.keepSteps(planOf(one)));
    expect(changes).toEqual([]);
    expect([...targets.states()]).toMatchObject([{ target: A, up: undefined, recent: { failed: 50 } }]);
  });
});

describe('health checks', () => {
  it('start after a random part of the interval, and run only where configured', async () => {
    const { targets, clock, probes } = harness(0.2);
    atOnce(targets.keepSteps(planOf(upstreamOf({ health: HEALTH }, A), upstreamOf({ name: 'plain' }, B))));
    await clock.pass(999);
    expect(probes).toEqual([]);
    await clock.pass(1);
    await clock.pass(10_000);
    expect(probes).toEqual([`${A}/healthz`, `${A}/healthz`, `${A}/healthz`]);
  });

  it('take a target out after consecutive failures, and back after consecutive successes', async () => {
    const { targets, clock, sick, changes } = harness();
    const both = upstreamOf({ health: HEALTH }, A, B);
    atOnce(targets.keepSteps(planOf(both)));
    sick.add(A);
    await clock.pass(10_000);
    expect(changes).toEqual([]);
    await clock.pass(5_000);
    expect(changes).toEqual([
      { upstream: 'orders-v1', target: A, up: false, by: 'health', why: 'status 500' },
    ]);
    expect([1, 2].map(() => use(targets, both, 'answered'))).toEqual([B, B]);
    sick.delete(A);
    await clock.pass(5_000);
    sick.add(A);
    await clock.pass(5_000);
    sick.delete(A);
    await clock.pass(5_000);
    expect(changes).toHaveLength(1);
    await clock.pass(5_000);
    expect(changes.at(-1)).toMatchObject({ target: A, up: true, by: 'health' });
    expect(new Set([1, 2].map(() => use(targets, both, 'answered')))).toEqual(new Set([A, B]));
  });

  it('FWD-18: take a failed target out, and the refusal has the time of its possible return', async () => {
    const { targets, clock, sick } = harness();
    const one = upstreamOf({ health: HEALTH }, A);
    atOnce(targets.keepSteps(planOf(one)));
    sick.add(A);
    await clock.pass(15_000);
    // The next check is 2.5 s away, and two successful ones are needed.
    expect(refusal(targets, one).retryAfterSeconds).toBe(8);
  });

  it('keep their results over a reload, unless it removes the target', async () => {
    const { targets, clock, sick, probes } = harness();
    const upstream = () => upstreamOf({ health: HEALTH }, A);
    atOnce(targets.keepSteps(planOf(upstream())));
    sick.add(A);
    await clock.pass(15_000);
    const after = upstream();
    atOnce(targets.keepSteps(planOf(after)));
    expect(clock.pending()).toBe(1);
    expect(refusal(targets, after).code).toBe('upstream_unavailable');
    atOnce(targets.keepSteps(planOf(upstreamOf({ health: HEALTH }, B))));
    const before = probes.length;
    await clock.pass(60_000);
    expect(probes.slice(before)).not.toContain(`${A}/healthz`);
    expect(clock.pending()).toBe(1);
    const again = upstream();
    atOnce(targets.keepSteps(planOf(again)));
    expect(use(targets, again, 'answered')).toBe(A);
  });

  it('that a request started during a reload continue, and those of removed targets end', async () => {
    const { targets, clock } = harness();
    const old = upstreamOf({ health: HEALTH }, B);
    atOnce(targets.keepSteps(planOf(old)));
    const first = upstreamOf({ name: 'first' }, A);
    const late = upstreamOf({ health: HEALTH }, A);
    const steps = targets.keepSteps(planOf(first, late));
    steps.next();
    const underWay = targets.choose(late, undefined);
    expect(use(targets, old, 'answered')).toBe(B);
    atOnce(steps);
    expect([...targets.states()].map(({ upstream, target, up }) => ({ upstream, target, up }))).toEqual([
      { upstream: 'first', target: A, up: undefined },
      { upstream: late.name, target: A, up: true },
    ]);
    expect(clock.pending()).toBe(1);
    underWay.settle('answered');
    expect(use(targets, late, 'answered')).toBe(A);
  });

  it('put the target back when they are removed, and apply a new interval at once', async () => {
    const { targets, clock, sick, probes } = harness(0);
    atOnce(targets.keepSteps(planOf(upstreamOf({ health: { ...HEALTH, every: 3_600_000 } }, A))));
    await clock.pass(0);
    expect(probes).toHaveLength(1);
    atOnce(targets.keepSteps(planOf(upstreamOf({ health: HEALTH }, A))));
    sick.add(A);
    await clock.pass(10_000);
    const without = upstreamOf({}, A);
    expect(refusal(targets, upstreamOf({ health: HEALTH }, A)).code).toBe('upstream_unavailable');
    atOnce(targets.keepSteps(planOf(without)));
    expect([use(targets, without, 'answered'), clock.pending()]).toEqual([A, 0]);
  });

  it('end when the gateway closes, also while one runs', async () => {
    const clock = createManualClock();
    const signals: AbortSignal[] = [];
    const targets = createTargets({
      clock,
      random: () => 0,
      probe: ({ signal }) => {
        signals.push(signal);
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve('given up')));
      },
      onChange: () => undefined,
    });
    atOnce(targets.keepSteps(planOf(upstreamOf({ health: HEALTH }, A))));
    await clock.pass(0);
    targets.close();
    await clock.pass(60_000);
    expect([signals.map(({ aborted }) => aborted), clock.pending()]).toEqual([[true], 0]);
  });
});

describe('a slow start', () => {
  it('gives a returning target a share that grows to the full one', async () => {
    const { targets, clock, sick } = harness(0);
    const both = upstreamOf({ health: HEALTH, slowStart: 100_000 }, A, B);
    atOnce(targets.keepSteps(planOf(both)));
    sick.add(A);
    await clock.pass(10_000);
    sick.delete(A);
    await clock.pass(10_000);
    const shareOfA = () => {
      const chosen = Array.from({ length: 300 }, () => use(targets, both, 'answered'));
      return chosen.filter((origin) => origin === A).length / 300;
    };
    expect(shareOfA()).toBeLessThan(0.02);
    await clock.pass(50_000);
    expect(shareOfA()).toBeCloseTo(1 / 3, 1);
    await clock.pass(50_000);
    expect(shareOfA()).toBeCloseTo(1 / 2, 2);
  });

  it('does not apply at the start of the gateway', () => {
    const { targets } = harness();
    const both = upstreamOf({ slowStart: 100_000 }, A, B);
    expect([1, 2, 3, 4].map(() => use(targets, both, 'answered'))).toEqual([A, B, A, B]);
  });
});

describe('calls of the last minute', () => {
  const recentOf = (targets: Targets) => [...targets.states()].map(({ up, recent }) => ({ up, ...recent }));

  it('are counted for 60 seconds, also for a target without health checks', async () => {
    const { targets, clock } = harness();
    const one = upstreamOf({}, A);
    atOnce(targets.keepSteps(planOf(one)));
    for (let call = 0; call < 3; call += 1) use(targets, one, 'answered');
    await clock.pass(2_000);
    for (let call = 0; call < 5; call += 1) use(targets, one, 'failed');
    await clock.pass(4_000);
    const last = { error: 'upstream_reset', agoMs: 4_000 };
    expect(recentOf(targets)).toEqual([{ up: undefined, answered: 3, failed: 5, failingMs: 4_000, last }]);
    await clock.pass(54_000);
    expect(recentOf(targets)).toMatchObject([{ answered: 0, failed: 5, failingMs: 58_000 }]);
    await clock.pass(2_000);
    expect(recentOf(targets)).toMatchObject([
      { answered: 0, failed: 0, failingMs: undefined, last: { agoMs: 60_000 } },
    ]);
  });

  it('do not count a disconnected client as a failure', () => {
    const { targets } = harness();
    const one = upstreamOf({}, A);
    atOnce(targets.keepSteps(planOf(one)));
    for (let call = 0; call < 9; call += 1) targets.choose(one, undefined).settle('cancelled');
    expect(recentOf(targets)).toEqual([
      { up: undefined, answered: 0, failed: 0, failingMs: undefined, last: undefined },
    ]);
  });

  it('end a failing period after several answers, and a later failure starts a new one', async () => {
    const { targets, clock } = harness();
    const one = upstreamOf({}, A);
    atOnce(targets.keepSteps(planOf(one)));
    use(targets, one, 'failed');
    await clock.pass(10_000);
    for (let call = 0; call < 3; call += 1) use(targets, one, 'answered');
    await clock.pass(10_000);
    for (let call = 0; call < 2; call += 1) use(targets, one, 'failed');
    await clock.pass(3_000);
    expect(recentOf(targets)).toMatchObject([{ answered: 3, failed: 3, failingMs: 3_000 }]);
  });

  it('survive a reload, and take no target out of service', () => {
    const { targets, changes } = harness();
    const before = upstreamOf({}, A, B);
    atOnce(targets.keepSteps(planOf(before)));
    for (let call = 0; call < 40; call += 1) use(targets, before, 'failed');
    const after = upstreamOf({}, A, B);
    atOnce(targets.keepSteps(planOf(after)));
    expect(recentOf(targets)).toMatchObject([{ failed: 20 }, { failed: 20 }]);
    expect([use(targets, after, 'answered'), use(targets, after, 'answered')]).toEqual([A, B]);
    expect(changes).toEqual([]);
  });
});
