// Metrics and log lines of targets: in service or not, ejections, and changes.
import { describe, expect, it } from 'vitest';
import type { RecentHealth } from '../../gateway/exchange/version-states.ts';
import { createTargetReport } from '../../gateway/telemetry/reports/target-metrics.ts';
import { harness, WALL } from './telemetry-harness.ts';

const ONE = { upstream: 'orders-v1', target: 'http://10.0.0.1:4001' };
const TWO = { upstream: 'orders-v1', target: 'http://10.0.0.2:4001' };
const IDLE: RecentHealth = { answered: 0, failed: 0, failingMs: undefined, last: undefined };
const labels = 'upstream="orders-v1",target="http://10.0.0.1:4001"';

describe('targets', () => {
  it('that are watched have their current state at each scrape', async () => {
    const { telemetry, series } = harness();
    expect(await series('sundial_upstream_up')).toEqual({});
    let up = true;
    telemetry.metrics.watchTargets(() => [{ ...ONE, up, recent: IDLE }]);
    expect(await series('sundial_upstream_up')).toEqual({ [`sundial_upstream_up{${labels}}`]: 1 });
    up = false;
    expect(await series('sundial_upstream_up')).toEqual({ [`sundial_upstream_up{${labels}}`]: 0 });
  });

  it('that are not watched have only the calls of the last minute', async () => {
    const { telemetry, series } = harness();
    const recent = {
      answered: 3,
      failed: 5,
      failingMs: 8_000,
      last: { error: 'upstream_headers_timeout', agoMs: 1_000 },
    } as const;
    telemetry.metrics.watchTargets(() => [{ ...ONE, up: undefined, recent }]);
    expect(await series('sundial_upstream_')).toEqual({
      [`sundial_upstream_recent_calls{${labels},result="success"}`]: 3,
      [`sundial_upstream_recent_calls{${labels},result="failure"}`]: 5,
      [`sundial_upstream_failing_since_timestamp_seconds{${labels}}`]: Math.round((WALL - 8_000) / 1000),
      [`sundial_upstream_last_failure_timestamp_seconds{${labels},error="headers_timeout"}`]: Math.round(
        (WALL - 1_000) / 1000,
      ),
    });
  });

  it('have a counter of their ejections by reason', async () => {
    const { telemetry, series } = harness();
    telemetry.metrics.watchTargets(() => [{ ...ONE, up: true, recent: IDLE }]);
    const report = createTargetReport(telemetry);
    const of = (by: 'health' | 'breaker') => `sundial_upstream_ejections_total{${labels},reason="${by}"}`;
    expect(await series('sundial_upstream_ejections')).toEqual({ [of('health')]: 0, [of('breaker')]: 0 });
    for (const up of [false, true, false]) report({ ...ONE, up, by: 'breaker', why: undefined });
    report({ ...TWO, up: false, by: 'health', why: 'status 500' });
    expect(await series('sundial_upstream_ejections')).toEqual({ [of('health')]: 0, [of('breaker')]: 2 });
  });

  it('are logged once for each change, with the error of the health check', async () => {
    const { telemetry, lines } = harness();
    const report = createTargetReport(telemetry);
    report({ ...ONE, up: false, by: 'health', why: 'ECONNREFUSED' });
    report({ ...ONE, up: true, by: 'health', why: undefined });
    report({ ...TWO, up: false, by: 'breaker', why: undefined });
    report({ ...TWO, up: true, by: 'breaker', why: undefined });
    expect(await lines()).toMatchObject([
      { level: 'warn', message: 'a target fails its health checks', ...ONE, reason: 'ECONNREFUSED' },
      { level: 'info', message: 'a target passes its health checks again', ...ONE },
      { level: 'warn', message: 'a target is taken out of service: its requests fail', ...TWO },
      { level: 'info', message: 'a target answers again', ...TWO },
    ]);
  });
});
