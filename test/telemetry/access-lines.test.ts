// Each line of the access log, byte for byte as in access-lines.golden: members, order, numbers and escapes.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Fault } from '../../gateway/exchange/directive.ts';
import type { ExchangeOutcome } from '../../gateway/exchange/exchange.ts';
import type { ExchangeFacts } from '../../gateway/exchange/facts.ts';
import type { Quota } from '../../gateway/policy/rate-limit/limit.ts';
import { createAccessLog } from '../../gateway/telemetry/logs/access-log.ts';
import { createLogSink } from '../../gateway/telemetry/logs/log-sink.ts';
import { api, deprecatedFacts, LIMIT, RULE, version } from '../support/exchange-samples.ts';
import { EVERY_FIELD, outcome, WALL } from './telemetry-harness.ts';

const GOLDEN = new URL('access-lines.golden', import.meta.url);
const REQUESTS = 48;

const HOSTILE = 'a"b\\c\r\n\u001b[2J\u007f\u009b\u2028\u202e\ud800é😀';
/** Without stack frames, which would change with the program. */
const CAUSE = Object.assign(new Error(`read ECONNRESET redis://user:secret@host ${HOSTILE}`), {
  code: 'ECONNRESET',
  stack: undefined,
});
const FAULT = new Fault('upstream_reset', { service: 'orders-v1', cause: CAUSE });
const rules = version();
const consumer = {
  id: 'acme',
  mayLabelMetrics: true,
  via: 'token',
  scopes: new Set<string>(),
  claims: {},
} as const;
const quota = (name: string, allowed: boolean, shadow: boolean): Quota => ({
  ...{ kind: 'degraded', allowed, retryAfterMs: 0 },
  ...{ limit: { ...LIMIT, name }, rule: { ...RULE, shadow } },
});

/** The values come from lists of different lengths, so that their combinations differ. */
function request(index: number): readonly [ExchangeFacts, ExchangeOutcome, at: number, durationMs: number] {
  const one = <Value>(...values: readonly Value[]): Value => values[index % values.length] as Value;
  const known = deprecatedFacts();
  const facts: ExchangeFacts = {
    start: {
      ...known.start,
      requestId: one(known.start.requestId, 'short', HOSTILE, 'r'.repeat(129)),
      trace: one(undefined, { traceId: '4bf9'.repeat(8), traceparent: '', tracestate: undefined }),
    },
    decision: {
      ...known.decision,
      api: one(api(), undefined, { ...api(), name: 'commandes-é' }),
      version: one(
        rules,
        undefined,
        { ...rules, operation: 'GET /search' },
        { ...rules, label: '2026-01-15' },
      ),
      phase: one(known.decision.phase, undefined),
      carrier: one('path', undefined, 'default'),
      consumer: one(consumer, undefined, { ...consumer, id: HOSTILE }, consumer, {
        ...consumer,
        id: 'c'.repeat(200),
      }),
      quotas: one(
        undefined,
        [quota('default', true, false)],
        [quota('default', false, false), quota('all', false, true), quota('burst', false, false)],
        [],
        [{ kind: 'unavailable', limit: LIMIT, rule: RULE }, quota('all', false, true)],
      ),
      observed: one(undefined, 'version_retired'),
    },
    completion: {
      ...known.completion,
      refusal: one(undefined, undefined, 'rate_limited', undefined, 'version_moved'),
      tokenFlaw: one(undefined, undefined, 'audience'),
      keyFlaw: one(undefined, undefined, undefined, 'unknown'),
      bodyNotice: one(undefined, undefined, 'added'),
      idempotency: one(undefined, undefined, 'replayed', undefined),
      fault: one(
        undefined,
        undefined,
        undefined,
        undefined,
        FAULT,
        new Fault('upstream_busy', { service: 'orders-v1' }),
      ),
      target: one(undefined, 'http://10.0.0.7:4001', 'http://10.0.0.8:4001'),
      upstreamMs: one(undefined, 0, 0.0004, 0.0005, 9.5, 12.34, 1_234.567_8, 99.9999, 1e9 + 0.25),
    },
  };
  const ended = outcome({
    method: one('GET', 'POST', HOSTILE),
    host: one('api.example.com', undefined, HOSTILE, 'h'.repeat(300)),
    path: one('/api/v1/orders/7', '/a?token=canary', `/${HOSTILE}`, '/', '/b', `/${'p'.repeat(2_048)}`, '/c'),
    status: one(200, 404, 502, 599),
    bytes: one(0, 7, 1_024, 4_294_967_303, 1_099_511_627_776),
    clientAddress: one('203.0.113.9', '2001:db8::1'),
    scheme: one('https', 'http'),
    protocol: one('HTTP/1.1', 'HTTP/2.0', HOSTILE),
    aborted: one(false, false, true),
    userAgent: one('curl/8.5.0', undefined, HOSTILE, '', 'u'.repeat(257)),
  });
  const durationMs = one(0, 0.001, 0.9996, 1, 12.3456, 120.05, 86_400_000.5);
  return [facts, ended, WALL + index * 97, durationMs];
}

it('every line of the access log equals the golden file', () => {
  let written = '';
  const sink = createLogSink({
    write: (text) => {
      written += text;
    },
  });
  const log = createAccessLog(sink, EVERY_FIELD);
  for (let index = 0; index < REQUESTS; index += 1) log.record(...request(index));
  sink.flush();
  expect(written.split('\n')).toEqual(readFileSync(GOLDEN, 'latin1').split('\n'));
});
