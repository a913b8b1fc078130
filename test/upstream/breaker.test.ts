// The states of a circuit breaker, with a random order of events.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BreakerRules } from '../../gateway/plan/upstreams/target-rules.ts';
import { type Breaker, type BreakerPeriod, createBreaker } from '../../gateway/upstream/targets/breaker.ts';

const RULES: BreakerRules = { failures: 3, open: 10_000, strict: true };

function harness(rules: BreakerRules | undefined = RULES) {
  const changes: boolean[] = [];
  const breaker = createBreaker((closed) => void changes.push(closed));
  breaker.configure(rules);
  return { breaker, changes };
}

const fail = (breaker: Breaker, now: number, count = 1): void => {
  for (let index = 0; index < count; index += 1) breaker.failed(breaker.begin(now), now);
};

describe('a circuit breaker', () => {
  it('opens after consecutive failures, but not if an answer is between them', () => {
    const { breaker, changes } = harness();
    fail(breaker, 0, 2);
    breaker.answered(breaker.begin(0));
    fail(breaker, 0, 2);
    expect([breaker.isClosed(), changes]).toEqual([true, []]);
    fail(breaker, 0);
    expect([breaker.isClosed(), breaker.admits(0), changes]).toEqual([false, false, [false]]);
  });

  it('admits one trial request after its open time, and no second one while it runs', () => {
    const { breaker } = harness();
    fail(breaker, 0, 3);
    expect([breaker.admits(9_999), breaker.waitMs(4_000)]).toEqual([false, 6_000]);
    expect(breaker.admits(10_000)).toBe(true);
    breaker.begin(10_000);
    expect([breaker.admits(10_001), breaker.waitMs(10_001)]).toEqual([false, 0]);
  });

  it.each([
    ['an answer closes it', 'answered', true, true],
    ['a failure opens it for the same time again', 'failed', false, false],
    ['a disconnected client changes nothing: the next request may try', 'cancelled', true, false],
  ] as const)('after a trial request, %s', (_what, outcome, admits, closed) => {
    const { breaker } = harness();
    fail(breaker, 0, 3);
    const period = breaker.begin(10_000);
    breaker[outcome](period, 12_000);
    expect([breaker.admits(12_000), breaker.isClosed()]).toEqual([admits, closed]);
    if (outcome === 'failed') expect(breaker.waitMs(12_000)).toBe(10_000);
  });

  it('reports one opening and one closing, even if trials fail in between', () => {
    const { breaker, changes } = harness();
    fail(breaker, 0, 3);
    for (const now of [10_000, 20_000, 30_000]) fail(breaker, now);
    breaker.answered(breaker.begin(40_000));
    expect(changes).toEqual([false, true]);
  });

  it('ignores outcomes of requests from an earlier state', () => {
    const { breaker } = harness();
    const [slow, late] = [breaker.begin(0), breaker.begin(0)];
    fail(breaker, 0, 3);
    breaker.answered(slow);
    expect(breaker.isClosed()).toBe(false);
    breaker.answered(breaker.begin(10_000));
    fail(breaker, 10_000, 2);
    breaker.failed(late, 10_000);
    expect(breaker.isClosed()).toBe(true);
  });

  it('closes before its open time when a request is answered', () => {
    const { breaker } = harness();
    fail(breaker, 0, 3);
    breaker.answered(breaker.begin(5));
    expect(breaker.isClosed()).toBe(true);
  });

  it('never opens without rules, and closes when its rules are removed', () => {
    const { breaker, changes } = harness();
    fail(breaker, 0, 3);
    breaker.configure(undefined);
    expect([breaker.isClosed(), changes]).toEqual([true, [false, true]]);
    fail(breaker, 0, 50);
    expect(breaker.isClosed()).toBe(true);
  });

  it('admits one trial at a time after its open time, and closes after an answer', () => {
    const step = fc.record({
      what: fc.constantFrom('begin', 'answered', 'failed', 'cancelled'),
      which: fc.nat(20),
      ms: fc.nat(6_000),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const { breaker, changes } = harness();
        const open: BreakerPeriod[] = [];
        let now = 0;
        let trying: BreakerPeriod | undefined;
        for (const { what, which, ms } of steps) {
          now += ms;
          if (what === 'begin') {
            if (!breaker.admits(now)) continue;
            const wasClosed = breaker.isClosed();
            expect(wasClosed || trying === undefined).toBe(true);
            const period = breaker.begin(now);
            if (!wasClosed) trying = period;
            open.push(period);
            continue;
          }
          const [period] = open.splice(which % Math.max(1, open.length), 1);
          if (period === undefined) continue;
          breaker[what](period, now);
          if (period !== trying) continue;
          trying = undefined;
          expect(breaker.isClosed()).toBe(what === 'answered');
          if (what === 'failed') expect(breaker.waitMs(now)).toBe(RULES.open);
        }
        // Reports alternate, and the first is an opening.
        expect(changes.every((closed, index) => closed === (index % 2 === 1))).toBe(true);
        while (!breaker.admits(now)) {
          if (trying !== undefined) breaker.cancelled(trying, now);
          trying = undefined;
          now += RULES.open;
        }
        breaker.answered(breaker.begin(now));
        expect(breaker.isClosed()).toBe(true);
      }),
    );
  });
});
