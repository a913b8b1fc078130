// The delay before a worker is replaced: none after a calm period, growing in a crash loop.
import { expect, it } from 'vitest';
import { createRestartDelay, pause } from '../../../gateway/server/workers/restart-delay.ts';

it('the first worker is replaced at once, and in a crash loop the delay doubles up to 10 s', () => {
  let now = 0;
  const next = createRestartDelay(() => now);
  const pauses = Array.from({ length: 10 }, () => {
    const ms = next();
    now += ms + 500;
    return ms;
  });
  expect(pauses).toEqual([0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});

it('a crash loop starts fewer than 8,660 workers a day, and a calm period resets the delay', () => {
  let now = 0;
  const next = createRestartDelay(() => now);
  let starts = 0;
  for (; now < 86_400_000; starts += 1) now += next();
  expect(starts).toBeLessThan(8_660);
  now += 30_001;
  expect(next()).toBe(0);
});

it('a pause ends early when it is aborted', async () => {
  const until = new AbortController();
  const paused = pause(3_600_000, until.signal);
  until.abort();
  await paused;
  await pause(3_600_000, until.signal);
});
