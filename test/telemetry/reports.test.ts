// The log lines about reloads, faults and dependencies.
import { describe, expect, it } from 'vitest';
import { Fault } from '../../gateway/exchange/directive.ts';
import type { Problem } from '../../gateway/plan/problems.ts';
import { createAuditTrail } from '../../gateway/telemetry/logs/logger.ts';
import {
  createDependencyReport,
  createFaultReport,
} from '../../gateway/telemetry/reports/dependency-report.ts';
import { createReloadReport } from '../../gateway/telemetry/reports/reload-report.ts';
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
const hinted: Problem = { ...problem('error', 'no version is called "v22"'), hint: 'did you mean "v2"?' };
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

  it('has a duration from its begin to its outcome', async () => {
    const { telemetry, series } = harness();
    let now = 1_000;
    const report = createReloadReport(telemetry, undefined, () => now);
    now = 5_000;
    report.onBegun();
    now = 7_500;
    report.onRejected([]);
    const name = 'sundial_config_reload_duration_seconds';
    expect(await series(name)).toMatchObject({
      [`${name}_bucket{le="1",result="failure"}`]: 0,
      [`${name}_bucket{le="2.5",result="failure"}`]: 1,
      [`${name}_sum{result="failure"}`]: 2.5,
      [`${name}_count{result="success"}`]: 0,
    });
  });

  it('that was rejected is logged with each error and its place', async () => {
    const { telemetry, lines, series } = harness();
    createReloadReport(telemetry).onRejected([problem('warning', 'odd'), problem('error', 'wrong')]);
    expect(await series('sundial_config_last_reload_successful')).toEqual({
      sundial_config_last_reload_successful: 0,
    });
    expect(await lines()).toMatchObject([
      { level: 'error', message: 'policies not reloaded: wrong', ...place },
    ]);
  });

  it('without changes resets the metric of a failed reload, and is logged', async () => {
    const { telemetry, lines, series } = harness();
    const report = createReloadReport(telemetry);
    report.onFault(new Error('disk'));
    report.onUnchanged();
    expect(await series('sundial_config_last_reload_successful')).toEqual({
      sundial_config_last_reload_successful: 1,
    });
    expect(await lines()).toMatchObject([
      { level: 'error', message: 'policies not reloaded', error: { message: 'disk' } },
      { level: 'info', message: 'policy files match the plan in force again' },
    ]);
  });

  it('without changes and without an earlier failure is logged as such', async () => {
    const { telemetry, lines } = harness();
    const report = createReloadReport(telemetry);
    report.onRejected([problem('error', 'wrong')]);
    report.onAccepted('abc', []);
    report.onUnchanged();
    expect((await lines()).at(-1)).toMatchObject({ message: 'policy files unchanged, nothing to reload' });
  });

  it('has its hints in the log', async () => {
    const { telemetry, lines } = harness();
    createReloadReport(telemetry).onRejected([hinted]);
    expect(await lines()).toMatchObject([
      { message: 'policies not reloaded: no version is called "v22" (did you mean "v2"?)', ...place },
    ]);
  });

  it('is reported in one line if its outcome is new', () => {
    const told: string[] = [];
    const report = createReloadReport(harness().telemetry, (line) => told.push(line));
    report.onUnchanged();
    report.onRejected([hinted, problem('error', 'more'), problem('warning', 'odd')]);
    report.onUnchanged();
    report.onUnchanged();
    report.onAccepted('abc', []);
    report.onAccepted('abd', [problem('warning', 'odd')]);
    report.onRestartNeeded();
    report.onFault(new Error('disk'));
    report.onRejected([problem('error', 'a\u001b[31mb')]);
    expect(told).toEqual([
      'policies not reloaded: policies/orders.yaml:9:3: error: no version is called "v22" (did you mean "v2"?) (and 1 error, see the log)',
      'policy files match the plan in force again',
      'policies reloaded',
      'policies reloaded (and 1 warning, see the log)',
      'the gateway file changed; restart to apply it',
      'policies not reloaded; the log has the error',
      'policies not reloaded: policies/orders.yaml:9:3: error: a?[31mb',
    ]);
  });
});

describe('the outcome of an idempotency key that was not kept', () => {
  it('is logged with the request, the version and the cause', async () => {
    const { telemetry, lines } = harness();
    const cause = Object.assign(new Error('unreadable'), { code: 'ERR_CODE' });
    createFaultReport(telemetry.logger)(new Fault('internal', { cause }), deprecatedFacts());
    expect(await lines()).toMatchObject([
      {
        level: 'error',
        message: 'the outcome of an idempotency key was not stored',
        request_id: deprecatedFacts().start.requestId,
        api: 'orders',
        version: 'v1',
        error: { code: 'ERR_CODE', message: 'unreadable' },
      },
    ]);
  });
});

describe('a dependency', () => {
  it('is logged when it becomes unavailable and available, and the store has a metric', async () => {
    const { telemetry, lines, series } = harness();
    const report = createDependencyReport(telemetry);
    report.onStore('redis', false);
    expect(await series('sundial_store_up')).toEqual({ 'sundial_store_up{store="redis"}': 0 });
    report.onStore('redis', true);
    report.onKeys('main', 'timeout');
    report.onKeys('main', undefined);
    report.onIntrospection('opaque', 'status 401');
    report.onIntrospection('opaque', undefined);
    expect(await lines()).toMatchObject([
      { level: 'warn', store: 'redis' },
      { level: 'info', store: 'redis' },
      { level: 'warn', identity: 'main', reason: 'timeout' },
      { level: 'info', identity: 'main' },
      { level: 'warn', identity: 'opaque', reason: 'status 401' },
      { level: 'info', identity: 'opaque' },
    ]);
  });
});

describe('a write through the admin listener', () => {
  it('has one log line and one count, without secrets', async () => {
    const { telemetry, lines, series } = harness();
    const audit = createAuditTrail(telemetry);
    audit('done', {
      action: 'pause',
      from: '127.0.0.1',
      subject: 'orders v1',
      by: 'maria',
      why: 'two\nlines, Bearer canary',
      before: undefined,
      after: { id: '1', until: undefined, why: 'https://tickets.example/1?key=canary' },
    });
    audit('unauthorised', { action: 'pause', from: '203.0.113.9' });
    audit('unavailable', { action: 'backup', from: '127.0.0.1' });
    expect(await series('sundial_admin_writes_total')).toEqual({
      'sundial_admin_writes_total{action="pause",outcome="done"}': 1,
      'sundial_admin_writes_total{action="pause",outcome="unauthorised"}': 1,
      'sundial_admin_writes_total{action="backup",outcome="unavailable"}': 1,
    });
    expect(await lines()).toEqual([
      {
        level: 'info',
        time: expect.any(String),
        message: 'admin write done',
        audit: {
          action: 'pause',
          from: '127.0.0.1',
          subject: 'orders v1',
          by: 'maria',
          why: 'two\nlines, Bearer [redacted]',
          after: { id: '1', why: 'https://tickets.example/1?[redacted]' },
        },
      },
      {
        level: 'info',
        time: expect.any(String),
        message: 'admin write unauthorised',
        audit: { action: 'pause', from: '203.0.113.9' },
      },
      {
        level: 'error',
        time: expect.any(String),
        message: 'admin write unavailable',
        audit: { action: 'backup', from: '127.0.0.1' },
      },
    ]);
  });
});
