// Judges the samples of a soak: no growth in the second half, and everything released at the end.
import type { Sample } from './probe.ts';

export const BARS = {
  /** MB an hour by which the trend of the second half may rise, in long runs (see `LEAST_RISE`). */
  heapPerHour: 10,
  rssPerHour: 120,
  /** Descriptors left open after the traffic. */
  fdsLeft: 8,
  resourcesLeft: 4,
  /** New series of the second half: rare pairs of method and status, buckets of slow upstreams. */
  newSeries: 100,
  series: 2_000,
  /** Milliseconds beyond three times the lag of the clients' own process, because the machine may be busy. */
  lagP99: 100,
} as const;

/** MB: a total rise that no short run can distinguish from noise. */
const LEAST_RISE = { heap: 1.5, rss: 25 };

/**
 * One sentence per violation. `before` and `after`: samples without traffic. `clientsLag`: milliseconds,
 * 99th percentile of the event loop lag in the process of the clients.
 */
export function judge(
  samples: readonly Sample[],
  before: Sample,
  after: Sample,
  clientsLag: number,
): readonly string[] {
  const late = samples.slice(Math.floor(samples.length / 2));
  const early = samples.slice(0, samples.length - late.length);
  const minutes = ((late.at(-1)?.at ?? 0) - (late[0]?.at ?? 0)) / 60;
  const wrong: string[] = [];
  const growing = (what: 'heap' | 'rss', mostPerHour: number): void => {
    const perHour = slope(late.map((sample) => [sample.at, sample[what]])) * 3_600;
    const rise = (perHour / 60) * minutes;
    if (perHour > mostPerHour && rise > LEAST_RISE[what])
      wrong.push(
        `${what} grows by ${Math.round(perHour)} MB an hour (${rise.toFixed(1)} MB in the second half)`,
      );
  };
  growing('heap', BARS.heapPerHour);
  growing('rss', BARS.rssPerHour);
  if (after.fds > before.fds + BARS.fdsLeft)
    wrong.push(`${after.fds} descriptors are open at the end, ${before.fds} were at the start`);
  for (const [kind, count] of Object.entries(after.resources)) {
    const first = before.resources[kind] ?? 0;
    if (count > first + BARS.resourcesLeft) wrong.push(`${count} ${kind} at the end, ${first} at the start`);
  }
  const most = (some: readonly Sample[]) => Math.max(0, ...some.map(({ series }) => series));
  if (most(late) > BARS.series) wrong.push(`${most(late)} series`);
  if (most(late) > most(early) + BARS.newSeries)
    wrong.push(`series go on growing: ${most(early)}, then ${most(late)}`);
  // The lower quartile: lag caused by the gateway is in all samples.
  const lag = quartile(samples.map((sample) => sample.lag.p99));
  if (lag > 3 * clientsLag + BARS.lagP99)
    wrong.push(
      `one turn of a hundred is ${Math.round(lag)} ms late, ${Math.round(clientsLag)} ms where the clients are`,
    );
  return wrong;
}

/** Least squares, per unit of x. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(([at]) => at));
  const y = mean(points.map(([, value]) => value));
  const over = points.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0);
  const under = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0);
  return under === 0 ? 0 : over / under;
}

/** A quarter of the values are below it. */
function quartile(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;
}
