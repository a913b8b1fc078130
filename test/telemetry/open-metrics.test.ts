// The metrics page as OpenMetrics: its negotiation, its names and its exemplars.
import { describe, expect, it } from 'vitest';
import { type MetricsSnapshot, pageTypeFor } from '../../gateway/telemetry/snapshots.ts';
import { deprecatedFacts, plan } from '../support/exchange-samples.ts';
import { harness, outcome } from './telemetry-harness.ts';

const OPEN = 'application/openmetrics-text';
/** The Accept fields of Prometheus 2 and 3. */
const PROMETHEUS_2 = `${OPEN};version=1.0.0,${OPEN};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1`;
const PROMETHEUS_3 = `${OPEN};version=1.0.0;escaping=allow-utf-8;q=0.6,${OPEN};version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2`;

const [FIRST, SECOND, UNSEEN] = ['a', 'b', 'c'].map((digit) => digit.repeat(32));
const traced = (traceId = '', flags = '01') =>
  deprecatedFacts({
    trace: { traceId, traceparent: `00-${traceId}-${'1'.repeat(16)}-${flags}`, tracestate: undefined },
  });

describe('the format of the page', () => {
  it.each([
    ['OpenMetrics', 'Prometheus 2', PROMETHEUS_2],
    ['OpenMetrics', 'Prometheus 3', PROMETHEUS_3],
    ['OpenMetrics', 'a client that accepts only OpenMetrics', OPEN.toUpperCase()],
    ['plain text', 'a browser', 'text/html,application/xhtml+xml,*/*;q=0.8'],
    ['plain text', 'curl', '*/*'],
    ['plain text', 'a client without an Accept field', undefined],
    ['plain text', 'a client that excludes OpenMetrics', `${OPEN};q=0, text/plain;q=0.1`],
    ['plain text', 'a client that prefers plain text', `${OPEN};q=0.2, text/plain;q=0.9`],
    ['plain text', 'a client that wants a later version', `${OPEN};version=2.0.0`],
    ['plain text', 'a malformed Accept field', `;;=,q=1,${OPEN};q=much`],
  ])('is %s for %s', (form, _who, accept) => {
    expect(pageTypeFor(accept)).toMatch(
      form === 'OpenMetrics' ? /^application\/openmetrics/ : /^text\/plain/,
    );
  });
});

describe('the page as OpenMetrics', () => {
  const samplesOf = (body: string) =>
    body
      .split('\n')
      .filter((line) => line.startsWith('sundial_'))
      .map((line) => line.replace(/ # .*$/, ''));

  it('has the samples of the plain page, families without _total, and an EOF line', async () => {
    const { telemetry } = harness();
    telemetry.observer.onAnswer(traced(FIRST), outcome());
    const plain = await telemetry.metrics.render();
    const open = await telemetry.metrics.render(PROMETHEUS_3);
    expect(open.contentType).toBe(`${OPEN}; version=1.0.0; charset=utf-8`);
    expect(samplesOf(open.body)).toEqual(samplesOf(plain.body));
    expect(open.body).toContain('# TYPE sundial_requests counter\n');
    expect(open.body).toMatch(/\n# EOF\n$/);
    expect(open.body).not.toMatch(/_total_total|\n\n/);
    // Renaming for one page does not change the other.
    expect(await telemetry.metrics.render()).toMatchObject({ contentType: plain.contentType });
    expect(samplesOf((await telemetry.metrics.render()).body)).toEqual(samplesOf(plain.body));
    expect(plain.body).not.toContain(FIRST);
  });

  it('has the last sampled trace of each duration bucket as its exemplar', async () => {
    const { telemetry, clocks } = harness();
    clocks.wall = 1_000_500;
    for (const [facts, tookMs] of [
      [traced(FIRST), 2],
      [traced(SECOND, '03'), 3],
      [traced(FIRST), 3],
      [traced(UNSEEN, '00'), 3],
      [deprecatedFacts(), 3],
      [traced(SECOND), 20_000],
    ] as const) {
      clocks.monotonic = tookMs;
      telemetry.observer.onAnswer(facts, outcome());
    }
    const { body } = await telemetry.metrics.render(OPEN);
    const of = (le: string) =>
      `sundial_request_duration_seconds_bucket{le="${le}",api="orders",version="v1"}`;
    const shown = body.split('\n').filter((line) => line.includes(' # '));
    expect(shown).toEqual([
      `${of('0.0025')} 1 # {trace_id="${FIRST}"} 0.002 1000.5`,
      `${of('0.005')} 5 # {trace_id="${FIRST}"} 0.003 1000.5`,
      `${of('+Inf')} 6 # {trace_id="${SECOND}"} 20 1000.5`,
    ]);
  });

  it('has the latest exemplar of all workers', async () => {
    const worker = async (wall: number, traceId: string | undefined): Promise<MetricsSnapshot> => {
      const { telemetry, clocks } = harness();
      clocks.wall = wall;
      telemetry.observer.onAnswer(traced(traceId), outcome());
      return structuredClone(await telemetry.metrics.snapshot());
    };
    const workers = [await worker(2_000, FIRST), await worker(3_000, SECOND), await worker(1_000, UNSEEN)];
    const { telemetry } = harness(plan, undefined, async () => workers);
    const { body } = await telemetry.metrics.render(PROMETHEUS_2);
    const shown = body.split('\n').filter((line) => line.includes(' # '));
    expect(shown).toHaveLength(1);
    expect(shown[0]).toContain(`le="0.001",api="orders",version="v1"} 3 # {trace_id="${SECOND}"} 0 3`);
    expect((await telemetry.metrics.render()).body).not.toContain(' # {');
  });
});
