// Metrics that are read at a scrape: the plan and its dates, the state of the process, the runtime.
import { describe, expect, it } from 'vitest';
import { api, deprecatedFacts, NOW, plan, upstream, version } from '../support/exchange-samples.ts';
import { harness, outcome, WALL } from './telemetry-harness.ts';

const orders = 'api="orders",version="v1"';

describe('gauges of the plan', () => {
  it('derive the stage of every version from its dates when scraped', async () => {
    const { clocks, series } = harness();
    const info = (stage: string) => ({
      [`sundial_version_info{${orders},stage="${stage}",successor="v2"}`]: 1,
    });
    expect(await series('sundial_version_info')).toEqual(info('deprecated'));
    clocks.lifecycle = Date.UTC(2026, 0, 15) - 1;
    expect(await series('sundial_version_info')).toEqual(info('active'));
    clocks.lifecycle = Date.UTC(2027, 3, 15);
    expect(await series('sundial_version_info')).toEqual(info('retired'));
  });

  it('derive the stage of an API from its versions, to the second', async () => {
    const { clocks, series } = harness();
    const stages: (readonly string[])[] = [];
    for (const boundary of [Date.UTC(2026, 0, 15), Date.UTC(2027, 3, 15)])
      for (const at of [boundary - 1000, boundary, boundary + 1000]) {
        clocks.lifecycle = at;
        stages.push(Object.keys(await series('sundial_api_info')));
      }
    const one = (stage: string) => [`sundial_api_info{api="orders",stage="${stage}"}`];
    const [active, deprecated, retired] = [one('active'), one('deprecated'), one('retired')];
    expect(stages).toEqual([active, deprecated, deprecated, deprecated, retired, retired]);
  });

  it('show the dates, the last request and the revision', async () => {
    const { telemetry, series } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    expect(await series('sundial_version_')).toMatchObject({
      [`sundial_version_deprecation_timestamp_seconds{${orders}}`]: Date.UTC(2026, 0, 15) / 1000,
      [`sundial_version_sunset_timestamp_seconds{${orders}}`]: Date.UTC(2027, 3, 15) / 1000,
      [`sundial_version_last_request_timestamp_seconds{${orders}}`]: WALL / 1000,
    });
    expect(await series('sundial_config_info')).toEqual({
      [`sundial_config_info{hash="${'0'.repeat(64)}"}`]: 1,
    });
  });

  it('show a running pause, and its effect on stage and sunset', async () => {
    const sunset = Date.UTC(2027, 3, 15);
    const until = sunset + 86_400_000;
    const pause = {
      kind: 'pause',
      id: 'p1',
      api: 'orders',
      label: 'v1',
      author: 'alice',
      reason: 'x',
    } as const;
    const current = plan([api([version({ upstream })])]);
    const { clocks, series } = harness(
      () => current,
      () => [{ ...pause, from: sunset, until }],
    );
    const states = [];
    for (const instant of [sunset - 1, sunset, until - 1, until]) {
      clocks.lifecycle = instant;
      const { [`sundial_version_paused{${orders}}`]: paused } = await series('sundial_version_paused');
      const { [`sundial_version_sunset_timestamp_seconds{${orders}}`]: at } = await series(
        'sundial_version_sunset_timestamp_seconds',
      );
      const [info = ''] = Object.keys(await series('sundial_version_info'));
      states.push([paused, at, /stage="(\w+)"/.exec(info)?.[1]]);
    }
    expect(states).toEqual([
      [0, sunset / 1000, 'deprecated'],
      [1, until / 1000, 'deprecated'],
      [1, until / 1000, 'deprecated'],
      [0, sunset / 1000, 'retired'],
    ]);
  });

  it('follow the current plan', async () => {
    let current = plan();
    const { series } = harness(() => current);
    current = { ...plan([]), revision: 'next' };
    expect(await series('sundial_version_info')).toEqual({});
    expect(await series('sundial_config_info')).toEqual({ 'sundial_config_info{hash="next"}': 1 });
  });
});

describe('the state of the process', () => {
  it('starts as after a successful reload, and keeps the time of the last success', async () => {
    const { telemetry, clocks, series } = harness();
    const reloads = (success: number, failure: number, successful: number, at: number) => ({
      'sundial_config_reloads_total{result="success"}': success,
      'sundial_config_reloads_total{result="failure"}': failure,
      sundial_config_last_reload_successful: successful,
      sundial_config_last_reload_success_timestamp_seconds: at / 1000,
    });
    expect(await series('sundial_config_')).toMatchObject(reloads(0, 0, 1, WALL));
    clocks.wall = WALL + 5000;
    telemetry.metrics.reload('failure', 40);
    expect(await series('sundial_config_')).toMatchObject(reloads(0, 1, 0, WALL));
    telemetry.metrics.reload('success', 1200);
    expect(await series('sundial_config_')).toMatchObject(reloads(1, 1, 1, WALL + 5000));
  });

  it('shows stores, certificates and the offset of the lifecycle clock', async () => {
    const { telemetry, series } = harness();
    telemetry.metrics.storeUp('redis', true);
    telemetry.metrics.storeUp('redis', false);
    telemetry.metrics.certificate('api.example.com', WALL);
    telemetry.metrics.certificatesCurrent(false);
    expect(await series('sundial_store_up')).toEqual({ 'sundial_store_up{store="redis"}': 0 });
    expect(await series('sundial_tls_')).toEqual({
      'sundial_tls_certificate_expiry_timestamp_seconds{sni="api.example.com"}': WALL / 1000,
      sundial_tls_certificates_current: 0,
    });
    expect(await series('sundial_lifecycle_clock_offset_seconds')).toEqual({
      sundial_lifecycle_clock_offset_seconds: Math.round((NOW - WALL) / 1000),
    });
  });

  it('counts log lines that were lost', async () => {
    const { telemetry, series } = harness();
    await telemetry.close();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    expect(await series('sundial_access_log_dropped_total')).toEqual({ sundial_access_log_dropped_total: 1 });
  });

  it('has the metrics of the runtime, except three with misleading names', async () => {
    const { series } = harness();
    const runtime = Object.keys(await series('nodejs_'));
    expect(runtime).toContain('nodejs_eventloop_lag_p99_seconds');
    expect(runtime.filter((name) => /^nodejs_active_\w+_total/.test(name))).toEqual([]);
    expect(await series('process_resident_memory_bytes')).not.toEqual({});
  });
});
