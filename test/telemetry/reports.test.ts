// What operators read of reloads, faults and lost dependencies.
import { describe, expect, it } from 'vitest';
import { Fault } from '../../gateway/exchange/directive.ts';
import type { Problem } from '../../gateway/plan/problems.ts';
import { createDependencyReport } from '../../gateway/telemetry/dependency-report.ts';
import { createFaultReport } from '../../gateway/telemetry/fault-report.ts';
import { createReloadReport } from '../../gateway/telemetry/reload-report.ts';
import { deprecatedFacts } from '../support/exchange-samples.ts';
import { harness } from './telemetry-harness.ts';

const problem = (severity: Problem['severity'], message: string): Problem => ({
  file: 'policies/orders.yaml',
  line: 9,
  column: 3,
  severity,
  rule: 'test',
  message,
});
const place = { file: 'policies/orders.yaml', line: 9, column: 3 };

describe('a reload', () => {
  it('that was accepted is logged with its revision and every warning', async () => {
    const { telemetry, lines, series } = harness();
    createReloadReport(telemetry).onAccepted('abc', [problem('warning', 'odd')]);
    expect(await series('sundial_config_reloads_total{result="success"}')).toEqual({
      'sundial_config_reloads_total{result="success"}': 1,
    });
    expect(await lines()).toMatchObject([
      { level: 'info', message: 'policies reloaded', revision: 'abc' },
      { level: 'warn', message: 'policies reloaded, with a warning: odd', ...place },
    ]);
  });

  it('that was rejected is logged by its errors, each with its place', async () => {
    const { telemetry, lines, series } = harness();
    createReloadReport(telemetry).onRejected([problem('warning', 'odd'), problem('error', 'wrong')]);
    expect(await series('sundial_config_last_reload_successful')).toEqual({
      sundial_config_last_reload_successful: 0,
    });
    expect(await lines()).toMatchObject([
      { level: 'error', message: 'policies not reloaded: wrong', ...place },
    ]);
  });

  it('that finds nothing changed ends the alarm and says so', async () => {
    const { telemetry, lines, series } = harness();
    const report = createReloadReport(telemetry);
    report.onFault(new Error('disk'));
    report.onUnchanged();
    expect(await series('sundial_config_last_reload_successful')).toEqual({
      sundial_config_last_reload_successful: 1,
    });
    expect(await lines()).toMatchObject([
      { level: 'error', message: 'policies not reloaded', error: { message: 'disk' } },
      { level: 'info', message: 'policies read again: nothing changed' },
    ]);
  });
});

describe('a fault', () => {
  it('is logged with the request, the version and the upstream it happened to, and its cause', async () => {
    const { telemetry, lines } = harness();
    const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    createFaultReport(telemetry.logger)(
      new Fault('upstream_refused', { service: 'orders-v1', cause }),
      deprecatedFacts(),
    );
    expect(await lines()).toMatchObject([
      {
        level: 'error',
        message: 'a request failed',
        request_id: deprecatedFacts().requestId,
        api: 'orders',
        version: 'v1',
        upstream: 'orders-v1',
        fault: 'upstream_refused',
        error: { causes: ['ECONNREFUSED'] },
      },
    ]);
  });
});

describe('a dependency', () => {
  it('that goes and comes back is logged each time; the store moves its metric', async () => {
    const { telemetry, lines, series } = harness();
    const report = createDependencyReport(telemetry);
    report.onStore('redis', false);
    expect(await series('sundial_store_up')).toEqual({ 'sundial_store_up{store="redis"}': 0 });
    report.onStore('redis', true);
    report.onKeys('main', 'timeout');
    report.onKeys('main', undefined);
    expect(await lines()).toMatchObject([
      { level: 'warn', store: 'redis' },
      { level: 'info', store: 'redis' },
      { level: 'warn', identity: 'main', reason: 'timeout' },
      { level: 'info', identity: 'main' },
    ]);
  });
});
