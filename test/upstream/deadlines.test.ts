// Deadlines with a mocked clock: when each expires, and that one timer serves all of them.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDeadlines } from '../../gateway/upstream/deadlines.ts';
import { createManualClock } from '../support/manual-clock.ts';

it('each deadline expires in time, in any order of start', async () => {
  const clock = createManualClock();
  const startDeadline = createDeadlines(clock);
  const begun = clock.now();
  const passed: [number, number][] = [];
  for (const ms of [300, 100, 200, 100.5])
    startDeadline(ms, () => passed.push([ms, Math.ceil(clock.now() - begun - ms)]));
  await clock.pass(1_000);
  expect(passed).toEqual([
    [100, 0],
    [100.5, 1],
    [200, 0],
    [300, 0],
  ]);
});

it('one timer serves all deadlines, and no timer remains after they are stopped', async () => {
  const clock = createManualClock();
  const startDeadline = createDeadlines(clock);
  const all = [300, 100, 200, 100].map((ms) => startDeadline(ms, () => undefined));
  expect(clock.pending()).toBe(1);
  for (const deadline of all) deadline.stop();
  await clock.pass(100);
  expect(clock.pending()).toBe(0);
});

it('a deadline does not expire if its timer fires early', async () => {
  const clock = createManualClock();
  let passed = 0;
  const startDeadline = createDeadlines({ ...clock, after: (ms, run) => clock.after(ms / 2, run) });
  startDeadline(100, () => {
    passed += 1;
  });
  await clock.pass(99);
  expect(passed).toBe(0);
  await clock.pass(2);
  expect(passed).toBe(1);
});

it('a deadline that expires may stop others and start new ones', async () => {
  const clock = createManualClock();
  const startDeadline = createDeadlines(clock);
  const passed: string[] = [];
  startDeadline(100, () => {
    passed.push('first');
    second.stop();
    startDeadline(50, () => passed.push('third'));
  });
  const second = startDeadline(100, () => passed.push('second'));
  await clock.pass(149);
  expect(passed).toEqual(['first']);
  await clock.pass(1);
  expect(passed).toEqual(['first', 'third']);
});

it('every deadline expires once unless it is stopped, in any order of events', async () => {
  const step = fc.record({ ms: fc.constantFrom(10, 20, 30), stop: fc.option(fc.nat(9)), wait: fc.nat(15) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const clock = createManualClock();
      const startDeadline = createDeadlines(clock);
      const begun = steps.map(({ ms }) => ({ ms, at: 0, stoppedAt: Number.POSITIVE_INFINITY, passed: [0] }));
      const stops: (() => void)[] = [];
      for (const [index, { ms, stop, wait }] of steps.entries()) {
        const one = begun[index];
        if (one === undefined) throw new Error('no such step');
        one.at = clock.now() + ms;
        const deadline = startDeadline(ms, () => void one.passed.push(clock.now()));
        stops.push(() => {
          one.stoppedAt = Math.min(one.stoppedAt, clock.now());
          deadline.stop();
        });
        if (stop !== null) stops[stop]?.();
        await clock.pass(wait);
      }
      await clock.pass(100);
      for (const { at, stoppedAt, passed } of begun)
        expect(passed.slice(1)).toEqual(stoppedAt < at ? [] : [at]);
      expect(clock.pending()).toBe(0);
    }),
    { numRuns: 50 },
  );
});

it('no timer is negative if a deadline expires while another one is handled', async () => {
  const clock = createManualClock();
  const waits: number[] = [];
  let busy = 0;
  const startDeadline = createDeadlines({
    now: () => clock.now() + busy,
    after: (ms, run) => {
      waits.push(ms);
      return clock.after(ms, run);
    },
  });
  const passed: number[] = [];
  startDeadline(100, () => {
    passed.push(100);
    busy = 10;
  });
  startDeadline(105, () => passed.push(105));
  await clock.pass(100);
  await clock.pass(0);
  expect(passed).toEqual([100, 105]);
  expect(Math.min(...waits)).toBe(0);
});
