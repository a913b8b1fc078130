// The metrics page of several processes: sums, maxima and minima, and the values of the primary process.
import { describe, expect, it } from 'vitest';
import { createWorkerTotals } from '../../gateway/server/workers/worker-counts.ts';
import { createExposition } from '../../gateway/telemetry/exposition.ts';
import { createLatency } from '../../gateway/telemetry/latency.ts';
import { counter, gauge, histogram, type Sample } from '../../gateway/telemetry/series.ts';
import { type MetricsSnapshot, totalsOf } from '../../gateway/telemetry/snapshots.ts';

function processOf(value: number, workers?: () => Promise<readonly MetricsSnapshot[]>) {
  const latency = createLatency();
  latency.observe(value);
  const samples = (): Sample[] => [[['a'], value]];
  return createExposition(
    [
      counter('sundial_seen_total', 'Seen.', ['api'], samples),
      histogram('sundial_took_seconds', 'Took.', ['api'], () => [[['a'], latency]]),
      gauge('sundial_open', 'Open.', ['api'], samples, 'sum'),
      gauge('sundial_last', 'Last.', ['api'], samples),
      gauge('sundial_up', 'Up.', ['api'], samples, 'min'),
      gauge('sundial_plan', 'Plan.', ['api'], samples, 'primary'),
    ],
    () => undefined,
    workers,
  );
}

const seriesOf = (body: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    body
      .split('\n')
      .filter((line) => line.startsWith('sundial_') && !line.includes('_bucket'))
      .map((line) => line.split(' '))
      .map(([name, value]) => [name, Number(value)]),
  );

it('reading one metric gives the values of the page, for one process and for several', async () => {
  const snapshots = await Promise.all([processOf(2).snapshot(), processOf(4).snapshot()]);
  const [alone, together] = [processOf(3), processOf(3, async () => structuredClone(snapshots))];
  const read = async ({ read: ask }: typeof alone, name: string) =>
    (await ask(name)).map(({ labels, value }) => ({ labels, value }));
  const is = (value: number) => [{ labels: { api: 'a' }, value }];
  for (const name of ['sundial_seen_total', 'sundial_up', 'sundial_plan'])
    expect(await read(alone, name)).toEqual(is(3));
  expect(await read(together, 'sundial_seen_total')).toEqual(is(9));
  expect(await read(together, 'sundial_up')).toEqual(is(2));
  expect(await read(together, 'sundial_plan')).toEqual(is(3));
  expect(await read(together, 'sundial_nothing')).toEqual([]);
});

describe('the page of several processes', () => {
  it('sums counters and histograms, and combines gauges as their rows say', async () => {
    const snapshots = await Promise.all([processOf(2).snapshot(), processOf(4).snapshot()]);
    const { body } = await processOf(3, async () => structuredClone(snapshots)).render();
    expect(seriesOf(body)).toEqual({
      'sundial_seen_total{api="a"}': 9,
      'sundial_took_seconds_sum{api="a"}': expect.closeTo(0.009),
      'sundial_took_seconds_count{api="a"}': 3,
      'sundial_open{api="a"}': 9,
      'sundial_last{api="a"}': 4,
      'sundial_up{api="a"}': 2,
      'sundial_plan{api="a"}': 3,
    });
    expect(body).toContain('sundial_took_seconds_bucket{le="0.0025",api="a"} 1\n');
    expect(body).toContain('sundial_took_seconds_bucket{le="+Inf",api="a"} 3\n');
    expect(body.match(/^process_start_time_seconds \d/gm)).toHaveLength(1);
    expect(body.match(/^process_cpu_seconds_total \d/gm)).toHaveLength(1);
  });

  it('equals the page of one process if there are no others', async () => {
    const alone = await processOf(3).render();
    const together = await processOf(3, async () => []).render();
    expect(together.contentType).toBe(alone.contentType);
    const ours = (body: string) => body.split('\n').filter((line) => line.includes('sundial_'));
    expect(ours(together.body)).toEqual(ours(alone.body));
    const names = (body: string) => body.match(/^# TYPE .*$/gm);
    expect(names(together.body)).toEqual(names(alone.body));
  });

  it('keeps the counters of a process that has ended, but not its gauges', async () => {
    const ended = await totalsOf([await processOf(2).snapshot(), await processOf(4).snapshot()]);
    expect(ended.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['sundial_seen_total', 'sundial_took_seconds', 'process_cpu_seconds_total']),
    );
    expect(ended.map(({ name }) => name)).not.toContain('sundial_open');
    const { body } = await processOf(1, async () => [await totalsOf([ended, []])]).render();
    expect(seriesOf(body)).toMatchObject({ 'sundial_seen_total{api="a"}': 7, 'sundial_open{api="a"}': 1 });
  });

  it('has the same sums for any order in which processes end', async () => {
    const [a, b, c] = await Promise.all([0.1, 0.2, 0.3].map((value) => processOf(value).snapshot()));
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were asked for');
    const page = async (...snapshots: MetricsSnapshot[]) => {
      const { body } = await processOf(0.7, async () => snapshots).render();
      return seriesOf(body)['sundial_seen_total{api="a"}'];
    };
    const all = await page(a, b, c);
    expect(all).toBeCloseTo(1.3, 5);
    expect(await page(await totalsOf([b, c]), a)).toBe(all);
    expect(await page(await totalsOf([await totalsOf([c, b]), a]))).toBe(all);
  });

  it('counts a process once if it ends while the page is made', async () => {
    const departures = createWorkerTotals<object>(() => 0);
    const worker = {};
    departures.keep(worker, await processOf(2).snapshot());
    const page = departures.all();
    departures.remove(worker);
    for (const snapshots of [await page, await departures.all()]) {
      const { body } = await processOf(1, async () => snapshots).render();
      expect(seriesOf(body)).toMatchObject({ 'sundial_seen_total{api="a"}': 3 });
    }
  });
});
