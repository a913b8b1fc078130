// How soon workers are replaced: at once after peace, ever later in a crash loop, never a fork bomb.
import { expect, it } from 'vitest';
import { createRestartDelay, pause } from '../../../gateway/server/workers/restart-delay.ts';

it('the first end of a worker is made good at once, those of a loop after pauses that double up to ten seconds', () => {
  let now = 0;
  const next = createRestartDelay(() => now);
  const pauses = Array.from({ length: 10 }, () => {
    const ms = next();
    now += ms + 500;
    return ms;
  });
  expect(pauses).toEqual([0, 100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});

it('a loop that goes on for a day starts no more than a worker in ten seconds, and is forgiven after peace', () => {
  let now = 0;
  const next = createRestartDelay(() => now);
  let starts = 0;
  for (; now < 86_400_000; starts += 1) now += next();
  expect(starts).toBeLessThan(8_660);
  now += 30_001;
  expect(next()).toBe(0);
});

it('a pause ends early when it is told to', async () => {
  const until = new AbortController();
  const paused = pause(3_600_000, until.signal);
  until.abort();
  await paused;
  await pause(3_600_000, until.signal);
});
