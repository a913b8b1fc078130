// One line per request: what stands in it, what never does, and what hostile bytes cannot do to it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAccessLog } from '../../gateway/telemetry/logs/access-log.ts';
import { createLogSink } from '../../gateway/telemetry/logs/log-sink.ts';
import { anyCharacter } from '../support/any-text.ts';
import { deprecatedFacts, withFacts } from '../support/exchange-samples.ts';
import { harness, outcome, unrouted, WALL } from './telemetry-harness.ts';

const acme = {
  id: 'acme',
  mayLabelMetrics: true,
  via: 'token' as const,
  scopes: new Set<string>(),
  claims: {},
};

describe('the access log', () => {
  it('writes one line with every field that is known', async () => {
    const { telemetry, clocks, lines } = harness();
    clocks.monotonic = 12.3456;
    const trace = { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', traceparent: '', tracestate: undefined };
    telemetry.observer.onAnswer(deprecatedFacts({ trace, consumer: acme, upstreamMs: 9.5 }), outcome());
    expect(await lines()).toEqual([
      {
        level: 'info',
        log: 'access',
        time: '2026-11-21T07:30:00.123Z',
        request_id: 'b6f6b7f2-7a39-4d4d-9f68-54b7a5f1a001',
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        method: 'GET',
        path: '/api/v1/orders/7',
        status: 200,
        api: 'orders',
        version: 'v1',
        stage: 'deprecated',
        carrier: 'path',
        consumer: 'acme',
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

  it('names the refusal or the fault, and leaves out what never became known', async () => {
    const { telemetry, lines } = harness();
    telemetry.observer.onAnswer(
      withFacts(unrouted(), { refusal: 'route_unknown', tokenFlaw: 'audience' }),
      outcome({ status: 404, userAgent: undefined }),
    );
    telemetry.observer.onAnswer(
      deprecatedFacts({ fault: 'upstream_reset' }),
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

  it('writes the time of each answer across the turn of a second', async () => {
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

  it('never holds a query string, even when one is handed over', async () => {
    const { telemetry, lines, text } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome({ path: '/orders?access_token=canary' }));
    expect(await lines()).toMatchObject([{ path: '/orders' }]);
    expect(text()).not.toContain('canary');
  });

  it('cuts a path, a consumer and a user agent of any length', async () => {
    const { telemetry, lines, text } = harness();
    const long = 'a'.repeat(100_000);
    telemetry.observer.onAnswer(
      deprecatedFacts({ consumer: { ...acme, id: long } }),
      outcome({ path: `/${long}`, userAgent: long }),
    );
    expect(await lines()).toHaveLength(1);
    expect(text().length).toBeLessThan(4000);
  });

  it('stays one line of ASCII that gives hostile text back unchanged', () => {
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
        createAccessLog(sink).record(facts, ended, WALL, 1);
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
    ['a change of direction', '/\u202egnp.exe'],
    ['half a surrogate pair', '/\ud800'],
  ])('cannot be forged by %s', async (_what, path) => {
    const { telemetry, lines, text } = harness();
    telemetry.observer.onAnswer(deprecatedFacts(), outcome({ path }));
    expect(await lines()).toMatchObject([{ path }]);
    expect(text()).toMatch(/^[ -~]*\n$/);
  });
});
