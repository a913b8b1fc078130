// The number of series stays bounded, whatever clients send and however many consumers call.
import { describe, expect, it } from 'vitest';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { createWorkerTotals } from '../../gateway/server/workers/worker-counts.ts';
import { api, deprecatedFacts, plan, version, withFacts } from '../support/exchange-samples.ts';
import { harness, outcome, unrouted, WALL } from './telemetry-harness.ts';

const orders = 'api="orders",version="v1"';
function consumer(id: string, mayLabelMetrics = true) {
  return { id, mayLabelMetrics, via: 'token' as const, scopes: new Set<string>(), claims: {} };
}

describe('the metrics page', () => {
  it('has a bounded number of series, whatever values clients send', async () => {
    const { telemetry, series } = harness();
    const known = [deprecatedFacts(), unrouted()] as const;
    const before = Object.keys(await series('sundial_')).length;
    for (let index = 0; index < 10_000; index += 1) {
      const wild = outcome({
        path: `/${index}`,
        method: `M${index}`,
        status: 200 + (index % 100),
        userAgent: `agent ${index}`,
        clientAddress: `2001:db8::${index.toString(16)}`,
      });
      telemetry.observer.onAnswer(
        withFacts(known[index % 2 === 0 ? 0 : 1], {
          requested: `v${index}`,
          consumer: consumer(`c${index}`, index % 3 === 0),
        }),
        wild,
      );
    }
    // 200 consumers, `other` and `none`, two groups of eleven codes, and a few series of each other metric.
    expect(Object.keys(await series('sundial_')).length - before).toBeLessThan(202 + 2 * 11 + 60);
    const text = (await telemetry.metrics.render()).body;
    for (const foreign of ['agent', '2001:db8', 'M77', '/77', 'v77']) expect(text).not.toContain(foreign);
  });

  it('keeps the counters of an API that a reload removes, and continues them when it returns', async () => {
    let current: GatewayPlan = plan();
    const { telemetry, series, moved } = harness(() => current);
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    const counted = Object.keys(await moved('sundial_requests_total'));
    expect(counted).toHaveLength(1);
    current = plan([]);
    expect(Object.keys(await series('sundial_requests_total'))).toEqual(counted);
    expect(await series('sundial_version_sunset')).toEqual({});
    current = plan();
    telemetry.observer.onAnswer(deprecatedFacts({ api: api(), version: version() }), outcome());
    expect(Object.values(await moved('sundial_requests_total'))).toEqual([2]);
  });
});

describe('consumers of deprecated versions', () => {
  const name = (label: string) => `sundial_deprecated_requests_total{${orders},consumer="${label}"}`;

  it('are counted by name; ids that name no application share one series', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(deprecatedFacts({ consumer: consumer('acme') }), outcome());
    telemetry.observer.onAnswer(deprecatedFacts({ consumer: consumer('user-4711', false) }), outcome());
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    expect(await series('sundial_deprecated_requests_total')).toEqual({
      [name('acme')]: 1,
      [name('none')]: 2,
    });
  });

  it('are not counted on a version that is not deprecated', async () => {
    const { telemetry, series } = harness();
    const [active] = version().phases.filter((phase) => phase.stage === 'active');
    telemetry.observer.onAnswer(deprecatedFacts({ phase: active, consumer: consumer('acme') }), outcome());
    expect(await series('sundial_deprecated_requests_total')).toEqual({ [name('none')]: 0 });
  });

  it('have at most 200 series; further consumers count as other and as dropped', async () => {
    const { telemetry, series } = harness();
    const facts = deprecatedFacts();
    for (let index = 0; index < 250; index += 1) {
      telemetry.observer.onAnswer(withFacts(facts, { consumer: consumer(`c${index}`) }), outcome());
    }
    const page = await series('sundial_deprecated_requests_total');
    // 200 consumers, `other`, and `none`, which is there from the start.
    expect(Object.keys(page)).toHaveLength(202);
    expect(page[name('other')]).toBe(50);
    expect(await series('sundial_metrics_series_dropped_total')).toEqual({
      'sundial_metrics_series_dropped_total{metric="sundial_deprecated_requests_total"}': 50,
    });
  });

  it('are removed after 35 idle days', async () => {
    const { telemetry, clocks, series } = harness();
    telemetry.observer.onAnswer(deprecatedFacts({ consumer: consumer('old') }), outcome());
    clocks.wall = WALL + 35 * 86_400_000;
    expect(await series(name('old'))).toEqual({ [name('old')]: 1 });
    clocks.wall += 1;
    expect(await series(name('old'))).toEqual({});
  });

  it('cannot break the page with an id from a token', async () => {
    const { telemetry, series } = harness();
    const id = `a"b\\c\nd\re\ud800${'x'.repeat(5000)}`;
    telemetry.observer.onAnswer(deprecatedFacts({ consumer: consumer(id) }), outcome());
    const [line = ''] = Object.keys(await series('sundial_deprecated_requests_total'));
    expect(line).toContain('consumer="a\\"b\\\\c\ufffdd\ufffde\ufffdx');
    expect(line.length).toBeLessThan(300);
  });
});

describe('consumers of several workers', () => {
  const DAY = 86_400_000;
  const name = (label: string) => `sundial_deprecated_requests_total{${orders},consumer="${label}"}`;

  /** The page of a primary process with workers, whose metrics it reads at `look`. */
  function pageOfWorkers() {
    let monotonic = 0;
    const departures = createWorkerTotals<object>(() => monotonic);
    const page = harness(plan, undefined, departures.all);
    return {
      worker: () => {
        const { telemetry, clocks } = harness();
        const key = {};
        return {
          calls: (...ids: string[]) => {
            for (const id of ids)
              telemetry.observer.onAnswer(deprecatedFacts({ consumer: consumer(id) }), outcome());
          },
          look: async () => {
            clocks.wall = WALL + monotonic;
            departures.keep(key, structuredClone(await telemetry.metrics.snapshot()));
          },
          /** Sets the worker's clock to now, for its next calls. */
          wakes: () => {
            clocks.wall = WALL + monotonic;
          },
          leave: () => departures.remove(key),
        };
      },
      passes: (ms: number) => {
        monotonic += ms;
      },
      consumers: () => page.series('sundial_deprecated_requests_total'),
      dropped: async () => Object.values(await page.series('sundial_metrics_series_dropped_total'))[0],
    };
  }
  const from = (first: number, end: number) =>
    Array.from({ length: end - first }, (_, index) => `c${first + index}`);

  it('have 200 series in total; later consumers count as other, and each keeps its series', async () => {
    const { worker, consumers, dropped, passes } = pageOfWorkers();
    const [first, second, third] = [worker(), worker(), worker()];
    first.calls(...from(0, 150));
    second.calls(...from(100, 250));
    for (const each of [first, second]) await each.look();
    const shown = await consumers();
    expect(Object.keys(shown)).toHaveLength(202);
    expect(shown).toMatchObject({ [name('c0')]: 1, [name('c149')]: 2, [name('other')]: 50 });
    expect(Object.values(shown).reduce((sum, each) => sum + each, 0)).toBe(300);
    expect(await dropped()).toBe(50);
    third.calls(...from(0, 200));
    for (const each of [second, third, first]) await each.look();
    const again = await consumers();
    expect(new Set(Object.keys(again))).toEqual(new Set(Object.keys(shown)));
    expect(again).toMatchObject({ [name('c0')]: 2, [name('c149')]: 3, [name('other')]: 50 });
    // Dropping an idle consumer does not change `other`.
    passes(35 * DAY + 1);
    await third.look();
    third.calls('c240', 'c300');
    for (const each of [first, second, third]) await each.look();
    expect(await consumers()).toEqual({
      [name('none')]: 0,
      [name('c240')]: 1,
      [name('c300')]: 1,
      [name('other')]: 50,
    });
    expect(await dropped()).toBe(50);
  });

  it('are removed after 35 days without a call to any worker, and no sum falls before', async () => {
    const { worker, consumers, passes } = pageOfWorkers();
    const [first, second] = [worker(), worker()];
    const shown = async () => {
      for (const each of [first, second]) await each.look();
      return (await consumers())[name('acme')];
    };
    first.calls(...Array<string>(40).fill('acme'));
    second.calls('acme', 'acme');
    expect(await shown()).toBe(42);
    passes(20 * DAY);
    second.wakes();
    second.calls('acme');
    expect(await shown()).toBe(43);
    // The first worker has dropped its forty calls by now.
    passes(20 * DAY);
    expect(await shown()).toBe(43);
    second.wakes();
    second.calls('acme');
    expect(await shown()).toBe(44);
    second.leave();
    expect(await shown()).toBe(44);
    first.wakes();
    first.calls('acme');
    expect(await shown()).toBe(45);
    passes(35 * DAY);
    expect(await shown()).toBe(45);
    passes(1);
    expect(await shown()).toBeUndefined();
    first.wakes();
    first.calls('acme');
    expect(await shown()).toBe(1);
  });
});
