// How many series there can be: whatever clients send, and however many consumers call what is deprecated.
import { describe, expect, it } from 'vitest';
import type { GatewayPlan } from '../../gateway/plan/plan.ts';
import { api, deprecatedFacts, plan, version } from '../support/exchange-samples.ts';
import { harness, outcome, unrouted, WALL } from './telemetry-harness.ts';

const orders = 'api="orders",version="v1"';
function consumer(id: string, named = true) {
  return { id, named, via: 'token' as const, scopes: new Set<string>(), claims: {} };
}

describe('the page', () => {
  it('promise 37: has few series whatever paths, methods, codes, versions, consumers, hosts and agents come in', async () => {
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
        {
          ...known[index % 2 === 0 ? 0 : 1],
          requested: `v${index}`,
          consumer: consumer(`c${index}`, index % 3 === 0),
        },
        wild,
      );
    }
    // 200 consumers and the rest of them; two groups of eleven codes; a few cells each of the other metrics.
    expect(Object.keys(await series('sundial_')).length - before).toBeLessThan(202 + 2 * 11 + 60);
    const text = (await telemetry.metrics.render()).body;
    for (const foreign of ['agent', '2001:db8', 'M77', '/77', 'v77']) expect(text).not.toContain(foreign);
  });

  it('keeps what was counted of an API that a reload takes away, less its gauges, and goes on when it comes back', async () => {
    let current: GatewayPlan = plan();
    const { telemetry, series } = harness(() => current);
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    const counted = Object.keys(await series('sundial_requests_total'));
    current = plan([]);
    expect(Object.keys(await series('sundial_requests_total'))).toEqual(counted);
    expect(await series('sundial_version_sunset')).toEqual({});
    current = plan();
    telemetry.observer.onAnswer({ ...deprecatedFacts(), api: api(), version: version() }, outcome());
    expect(Object.values(await series('sundial_requests_total'))).toEqual([2]);
  });
});

describe('consumers of deprecated versions', () => {
  const name = (label: string) => `sundial_deprecated_requests_total{${orders},consumer="${label}"}`;

  it('are counted by name; ids that name no application share one series', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer({ ...deprecatedFacts(), consumer: consumer('acme') }, outcome());
    telemetry.observer.onAnswer({ ...deprecatedFacts(), consumer: consumer('user-4711', false) }, outcome());
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    expect(await series('sundial_deprecated_requests_total')).toEqual({
      [name('acme')]: 1,
      [name('none')]: 2,
    });
  });

  it('are not counted on a version that is not deprecated', async () => {
    const { telemetry, series } = harness();
    const [active] = version().phases.filter((phase) => phase.stage === 'active');
    telemetry.observer.onAnswer(
      { ...deprecatedFacts(), phase: active, consumer: consumer('acme') },
      outcome(),
    );
    expect(await series('sundial_deprecated_requests_total')).toEqual({ [name('none')]: 0 });
  });

  it('have at most 200 series; the rest is other, and the dropped counter moves', async () => {
    const { telemetry, series } = harness();
    const facts = deprecatedFacts();
    for (let index = 0; index < 250; index += 1) {
      telemetry.observer.onAnswer({ ...facts, consumer: consumer(`c${index}`) }, outcome());
    }
    const page = await series('sundial_deprecated_requests_total');
    // And the one that is there before anybody calls.
    expect(Object.keys(page)).toHaveLength(202);
    expect(page[name('other')]).toBe(50);
    expect(await series('sundial_metrics_series_dropped_total')).toEqual({
      'sundial_metrics_series_dropped_total{metric="sundial_deprecated_requests_total"}': 50,
    });
  });

  it('leave after 35 idle days and make room', async () => {
    const { telemetry, clocks, series } = harness();
    telemetry.observer.onAnswer({ ...deprecatedFacts(), consumer: consumer('old') }, outcome());
    clocks.wall = WALL + 35 * 86_400_000;
    expect(await series(name('old'))).toEqual({ [name('old')]: 1 });
    clocks.wall += 1;
    expect(await series(name('old'))).toEqual({});
  });

  it('cannot break the page with what stands in a token', async () => {
    const { telemetry, series } = harness();
    const id = `a"b\\c\nd\re\ud800${'x'.repeat(5000)}`;
    telemetry.observer.onAnswer({ ...deprecatedFacts(), consumer: consumer(id) }, outcome());
    const [line = ''] = Object.keys(await series('sundial_deprecated_requests_total'));
    expect(line).toContain('consumer="a\\"b\\\\c\ufffdd\ufffde\ufffdx');
    expect(line.length).toBeLessThan(300);
  });
});

describe('consumers that several workers have met', () => {
  /** A worker that has met consumers `from` to `to`, each once. */
  async function met(from: number, to: number) {
    const { telemetry } = harness();
    const facts = deprecatedFacts();
    for (let index = from; index < to; index += 1)
      telemetry.observer.onAnswer({ ...facts, consumer: consumer(`c${index}`) }, outcome());
    return telemetry.metrics.snapshot();
  }
  const name = (label: string) => `sundial_deprecated_requests_total{${orders},consumer="${label}"}`;

  it('are 200 in all; who came later is among the others, is counted there, and stays there', async () => {
    const [first, second] = [await met(0, 150), await met(100, 250)];
    let workers = [first, second];
    const { series } = harness(plan, undefined, async () => workers);
    const page = async () => series('sundial_deprecated_requests_total');
    const shown = await page();
    expect(Object.keys(shown)).toHaveLength(202);
    expect(shown).toMatchObject({ [name('c0')]: 1, [name('c149')]: 2, [name('other')]: 50 });
    expect(Object.values(shown).reduce((sum, each) => sum + each, 0)).toBe(300);
    const dropped = async () => Object.values(await series('sundial_metrics_series_dropped_total'))[0];
    expect(await dropped()).toBe(50);
    // The other way round, and one who has met them all: nobody changes places.
    workers = [second, first, await met(0, 200)];
    const again = await page();
    expect(new Set(Object.keys(again))).toEqual(new Set(Object.keys(shown)));
    expect(again).toMatchObject({ [name('c0')]: 2, [name('c149')]: 3, [name('other')]: 50 });
    // Once nobody counts them any more, there is room.
    workers = [await met(300, 400)];
    expect(await page()).toMatchObject({ [name('c399')]: 1 });
    expect(await dropped()).toBe(0);
  });
});
