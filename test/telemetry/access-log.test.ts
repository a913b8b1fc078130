// The access log: one line per request, its members, and what never appears in it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fault } from '../../gateway/exchange/directive.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import { ACCESS_FIELDS, type AccessField } from '../../gateway/plan/grammar/logs-section.ts';
import type { AccessLogSettings } from '../../gateway/plan/settings.ts';
import type { Quota } from '../../gateway/policy/rate-limit/limit.ts';
import { createAccessLog } from '../../gateway/telemetry/logs/access-log.ts';
import { createLogSink } from '../../gateway/telemetry/logs/log-sink.ts';
import { anyCharacter } from '../support/any-text.ts';
import { deprecatedFacts, LIMIT, RULE, withFacts } from '../support/exchange-samples.ts';
import { EVERY_FIELD, harness, outcome, unrouted, WALL } from './telemetry-harness.ts';

const acme = {
  id: 'acme',
  mayLabelMetrics: true,
  via: 'token' as const,
  scopes: new Set<string>(),
  claims: {},
};

/** The log lines with these settings. Each success draws the next of `shares`. */
function chosen(settings: Partial<AccessLogSettings>, shares: readonly number[] = []) {
  let written = '';
  const sink = createLogSink({
    write: (text) => {
      written += text;
    },
  });
  const drawn = shares.values();
  const log = createAccessLog(sink, { ...EVERY_FIELD, ...settings }, () => drawn.next().value ?? Number.NaN);
  return {
    record: (facts: ExchangeFacts, changes: Parameters<typeof outcome>[0] = {}) =>
      log.record(facts, outcome(changes), WALL, 12.5),
    lines: (): readonly Readonly<Record<string, unknown>>[] => {
      sink.flush();
      return written
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    },
  };
}

describe('the settings of the access log', () => {
  it('select the fields of a line, whose order stays the same', () => {
    const fields = ['aborted', 'version', 'status', 'limited_by', 'error'] as const;
    const { record, lines } = chosen({ fields });
    const quota = { kind: 'counted', allowed: false, limit: LIMIT, rule: RULE } as unknown as Quota;
    record(deprecatedFacts({ quotas: [quota], fault: new Fault('internal', { cause: new Error('odd') }) }));
    expect(lines().map((line) => Object.keys(line))).toEqual([
      ['level', 'log', 'time', 'status', 'version', 'limited_by', 'error', 'aborted'],
    ]);
  });

  it.each(Object.keys(ACCESS_FIELDS) as AccessField[])('may select %s as the only field', (name) => {
    const { record, lines } = chosen({ fields: [name] });
    record(unrouted(), { userAgent: undefined });
    for (const line of lines())
      expect(Object.keys(line).filter((key) => key !== name)).toEqual(['level', 'log', 'time']);
  });

  it('sample a share of the successes', () => {
    const { record, lines } = chosen({ sampled: 0.5 }, [0.6, 0.49, 0.5, 0]);
    for (const path of ['/one', '/two', '/three', '/four']) record(deprecatedFacts(), { path });
    expect(lines().map(({ path }) => path)).toEqual(['/two', '/four']);
  });

  it('never leave out failures, refusals and lifecycle responses', () => {
    const { record, lines } = chosen({ sampled: 0, excluded: ['/*'] });
    record(deprecatedFacts(), { path: '/a success' });
    record(deprecatedFacts(), { status: 404 });
    record(deprecatedFacts(), { status: 500 });
    record(deprecatedFacts(), { aborted: true });
    record(deprecatedFacts({ fault: new Fault('upstream_reset') }), { status: 200 });
    record(deprecatedFacts({ refusal: 'version_moved' }), { status: 301 });
    record(deprecatedFacts({ refusal: 'version_retired' }), { status: 410 });
    record(deprecatedFacts({ observed: 'brownout' }));
    expect(lines()).toHaveLength(7);
    expect(JSON.stringify(lines())).not.toContain('success');
  });

  it('exclude the successes of a path or of a prefix', () => {
    const { record, lines } = chosen({ excluded: ['/healthz', '/static/*'] }, Array(5).fill(0));
    for (const path of ['/healthz', '/healthz/', '/static/a/b', '/static', '/static/'])
      record(deprecatedFacts(), { path });
    expect(lines().map(({ path }) => path)).toEqual(['/healthz/', '/static']);
  });
});

it('docs/reference/access-log.md lists every field with its meaning', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/reference/access-log.md'), 'utf8');
  const rows = Object.entries(ACCESS_FIELDS).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`);
  const [, table = ''] = page.split('| field | meaning |\n| --- | --- |\n');
  expect(table.split('\n').slice(0, rows.length + 1)).toEqual([...rows, '']);
});

describe('the access log', () => {
  it('writes one line with every field that is known', async () => {
    const { telemetry, clocks, lines } = harness();
    clocks.monotonic = 12.3456;
    const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', traceparent: '', tracestate: undefined };
    const target = 'http://10.0.0.7:4001';
    telemetry.observer.onAnswer(
      deprecatedFacts({ trace, consumer: acme, upstreamMs: 9.5, target }),
      outcome(),
    );
    expect(await lines()).toEqual([
      {
        level: 'info',
        log: 'access',
        time: '2026-11-21T07:30:00.123Z',
        request_id: 'b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001',
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        method: 'GET',
        host: 'api.example.com',
        path: '/api/v1/orders/7',
        status: 200,
        api: 'orders',
        version: 'v1',
        stage: 'deprecated',
        carrier: 'path',
        consumer: 'acme',
        target,
        duration_ms: 12.346,
        upstream_ms: 9.5,
        bytes: 512,
        client: '203.0.113.9',
        scheme: 'https',
        protocol: 'HTTP/2.0',
        aborted: false,
        user_agent: 'curl/8.5.0',
      },
    ]);
  });

  it('has the refusal or the fault, and no unknown values', async () => {
    const { telemetry, lines } = harness();
    telemetry.observer.onAnswer(
      withFacts(unrouted(), { refusal: 'route_unknown', tokenFlaw: 'audience' }),
      outcome({ status: 404, userAgent: undefined }),
    );
    telemetry.observer.onAnswer(
      deprecatedFacts({ fault: new Fault('upstream_reset') }),
      outcome({ status: 502, aborted: true }),
    );
    const [refused, failed] = await lines();
    expect(refused).toMatchObject({ refusal: 'route_unknown', token_flaw: 'audience', status: 404 });
    for (const name of [
      'api',
      'version',
      'stage',
      'carrier',
      'consumer',
      'upstream_ms',
      'user_agent',
      'fault',
    ]) {
      expect(refused).not.toHaveProperty(name);
    }
    expect(failed).toMatchObject({ fault: 'upstream_reset', aborted: true });
  });

  it('has a failure on one line of level error, with upstream, target and causes', async () => {
    const { telemetry, lines } = harness();
    const refused = Object.assign(new Error('connect ECONNREFUSED redis://user:canary@10.0.0.7'), {
      code: 'ECONNREFUSED',
    });
    const cause = new Error('no connection', { cause: refused });
    const fault = new Fault('upstream_refused', { service: 'orders-v1', cause });
    telemetry.observer.onAnswer(
      deprecatedFacts({ fault, target: 'http://10.0.0.7:4001' }),
      outcome({ status: 502 }),
    );
    telemetry.observer.onAnswer(
      deprecatedFacts({ fault: new Fault('upstream_unavailable', { service: 'orders-v1' }) }),
      outcome({ status: 503 }),
    );
    const [first, second, ...more] = await lines();
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      level: 'error',
      log: 'access',
      status: 502,
      fault: 'upstream_refused',
      upstream: 'orders-v1',
      target: 'http://10.0.0.7:4001',
      error: {
        code: 'Error',
        message: 'no connection',
        causes: ['ECONNREFUSED'],
        at: [expect.stringContaining('access-log.test.ts'), expect.any(String), expect.any(String)],
      },
    });
    expect(JSON.stringify(first)).not.toContain('canary');
    expect(second).toMatchObject({ level: 'error', fault: 'upstream_unavailable', upstream: 'orders-v1' });
    expect(second).not.toHaveProperty('target');
    expect(second).not.toHaveProperty('error');
  });

  it('accepts the longest line that a request can cause', async () => {
    const { telemetry, lines } = harness();
    const wide = '\u202e'.repeat(10_000);
    let cause: Error | undefined;
    for (let depth = 0; depth < 20; depth += 1)
      cause = Object.assign(new Error(wide, cause && { cause }), {
        code: wide,
        stack: `at\n  at ${wide}\n  at ${wide}\n  at ${wide}`,
      });
    for (let times = 0; times < 3; times += 1)
      telemetry.observer.onAnswer(
        deprecatedFacts({
          requestId: wide,
          consumer: { ...acme, id: wide },
          fault: new Fault('internal', { service: wide, cause }),
          target: wide,
        }),
        outcome({
          path: wide,
          host: wide,
          userAgent: wide,
          method: wide,
          protocol: wide,
          clientAddress: wide,
        }),
      );
    expect(await lines()).toHaveLength(3);
  });

  it('writes the time of each response when the second changes', async () => {
    const { telemetry, clocks, lines } = harness();
    const start = clocks.wall;
    for (const later of [0, 876, 877, 60_000]) {
      clocks.wall = start + later;
      telemetry.observer.onAnswer(deprecatedFacts(), outcome());
    }
    expect((await lines()).map((line) => line.time)).toEqual([
      '2026-11-21T07:30:00.123Z',
      '2026-11-21T07:30:00.999Z',
      '2026-11-21T07:30:01.000Z',
      '2026-11-21T07:31:00.123Z',
    ]);
  });

  it('has no query string, even if the path has one', async () => {
    const { telemetry, lines, text } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome({ path: '/orders?access_token=canary' }));
    expect(await lines()).toMatchObject([{ path: '/orders' }]);
    expect(text()).not.toContain('canary');
  });

  it('cuts a long path, consumer and user agent', async () => {
    const { telemetry, lines, text } = harness();
    const long = 'a'.repeat(100_000);
    telemetry.observer.onAnswer(
      deprecatedFacts({ consumer: { ...acme, id: long } }),
      outcome({ path: `/${long}`, userAgent: long }),
    );
    expect(await lines()).toHaveLength(1);
    expect(text().length).toBeLessThan(4000);
  });

  it('writes lines of ASCII that decode to the original text', () => {
    const known = deprecatedFacts();
    const hostile = fc.string({ unit: anyCharacter, maxLength: 100 });
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (path, userAgent, id, name) => {
        let line = '';
        const sink = createLogSink({
          write: (text) => {
            line += text;
          },
        });
        const asked = `/${path.replaceAll('?', '')}`;
        const facts = withFacts(known, { requestId: name, consumer: { ...acme, id } });
        const ended = outcome({ path: asked, userAgent, method: name, protocol: name, clientAddress: name });
        createAccessLog(sink, EVERY_FIELD).record(facts, ended, WALL, 1);
        sink.flush();
        expect(JSON.parse(line)).toMatchObject({ path: asked, user_agent: userAgent, consumer: id });
        expect(JSON.parse(line)).toMatchObject({
          request_id: name,
          method: name,
          protocol: name,
          client: name,
        });
        expect(line).toMatch(/^[ -~]*\n$/);
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ['a line end', '/a\r\n{"log":"access","status":200}'],
    ['an escape sequence', '/\u001b[2J\u009b31m'],
    ['a line separator', '/a\u2028b\u2029c'],
    ['a right-to-left override', '/\u202egnp.exe'],
    ['half a surrogate pair', '/\ud800'],
  ])('cannot be forged by %s', async (_what, path) => {
    const { telemetry, lines, text } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome({ path }));
    expect(await lines()).toMatchObject([{ path }]);
    expect(text()).toMatch(/^[ -~]*\n$/);
  });
});
