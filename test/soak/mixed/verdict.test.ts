// Tests the judge of a soak with made-up samples.
import { describe, expect, it } from 'vitest';
import type { Sample } from './probe.ts';
import { judge } from './verdict.ts';

const QUIET: Sample = {
  at: 0,
  heap: 40,
  external: 5,
  rss: 200,
  fds: 40,
  resources: { Timeout: 3 },
  lag: { p99: 12, longest: 40 },
  series: 500,
};
const RESTING = { ...QUIET, resources: { Timeout: 1 } };

/** Ten minutes of samples, five seconds apart; `change` returns the differences at a minute. */
const run = (change: (minute: number) => Partial<Sample>): readonly Sample[] =>
  Array.from({ length: 120 }, (_, index) => ({ ...QUIET, at: index * 5, ...change(index / 12) }));

const judged = (change: (minute: number) => Partial<Sample>, after: Partial<Sample> = {}) =>
  judge(run(change), RESTING, { ...RESTING, ...after }, 12);

describe('a soak passes', () => {
  it.each([
    ['if nothing changes', () => ({})],
    ['if the heap grows only at first', (minute: number) => ({ heap: 40 + Math.min(minute, 4) * 5 })],
    ['if the heap goes up and down', (minute: number) => ({ heap: minute % 1 > 0.5 ? 42 : 40 })],
    [
      'if other processes delay the event loop now and then',
      (minute: number) => ({ lag: { p99: minute > 5 ? 900 : 12, longest: 900 } }),
    ],
  ])('%s', (_what, change) => expect(judged(change)).toEqual([]));
});

describe('a soak fails', () => {
  it.each([
    [
      'if the heap grows by a megabyte a minute',
      (minute: number) => ({ heap: 40 + minute }),
      /^heap grows by 60 MB an hour/,
    ],
    [
      'if memory leaks slowly',
      (minute: number) => ({ heap: 40 + minute * 0.4 }),
      /^heap grows by 24 MB an hour/,
    ],
    [
      'if memory outside the heap grows',
      (minute: number) => ({ rss: 200 + 6 * minute }),
      /^rss grows by 360 MB an hour/,
    ],
    [
      'if the number of series keeps growing',
      (minute: number) => ({ series: 500 + 50 * minute }),
      /^series go on growing/,
    ],
    ['if the event loop is always late', () => ({ lag: { p99: 400, longest: 400 } }), /is 400 ms late/],
  ])('%s', (_what, change, words) => expect(judged(change)).toEqual([expect.stringMatching(words)]));

  it.each([
    ['descriptors', { fds: 60 }, '60 descriptors are open at the end, 40 were at the start'],
    ['timers', { resources: { Timeout: 9 } }, '9 Timeout at the end, 1 at the start'],
  ])('if %s are not released', (_what, after, sentence) =>
    expect(judged(() => ({}), after)).toEqual([sentence]),
  );
});
