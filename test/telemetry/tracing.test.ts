// W3C Trace Context: what is read of it, what is handed on, what is begun; and the spans of an SDK that the operator brings.
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { loadSpans } from '../../gateway/telemetry/spans.ts';
import { createTracing } from '../../gateway/telemetry/tracing.ts';
import { deprecatedFacts } from '../support/exchange-samples.ts';
import { fuzz } from '../support/fuzz.ts';
import { outcome, WALL } from './telemetry-harness.ts';

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const GOOD = `00-${ID}-${PARENT}-01`;

const none = createTracing({ starts: false, sampled: 0 });
const begin = (sampled: number, drawn = 0.5) => createTracing({ starts: true, sampled }, () => drawn);

describe('a trace that a request comes with', () => {
  it.each([
    ['as it is', GOOD, GOOD],
    ['not sampled', `00-${ID}-${PARENT}-00`, `00-${ID}-${PARENT}-00`],
    ['random, of level 2', `00-${ID}-${PARENT}-03`, `00-${ID}-${PARENT}-03`],
    ['with flags that nobody knows', `00-${ID}-${PARENT}-ff`, `00-${ID}-${PARENT}-03`],
    ['of a later version, with more behind it', `cc-${ID}-${PARENT}-01-what-comes`, GOOD],
    ['of a later version, with no more', `cc-${ID}-${PARENT}-01`, GOOD],
  ])('is handed on: %s', (_what, traceparent, out) => {
    expect(none({ traceparent, tracestate: 'a=1,b=2' })).toEqual({
      traceId: ID,
      traceparent: out,
      tracestate: 'a=1,b=2',
    });
  });

  it.each([
    ['nothing', undefined],
    ['nothing in it', ''],
    ['version ff', `ff-${ID}-${PARENT}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a parent of zeros', `00-${ID}-${'0'.repeat(16)}-01`],
    ['capitals', `00-${ID.toUpperCase()}-${PARENT}-01`],
    ['version 00 with more behind it', `${GOOD}-more`],
    ['version 00 with a dash behind it', `${GOOD}-`],
    ['a later version with more and no dash', `cc-${ID}-${PARENT}-01x`],
    ['a digit too few', `00-${ID.slice(1)}-${PARENT}-01`],
    ['no flags', `00-${ID}-${PARENT}`],
    ['two lines', `${GOOD}, ${GOOD}`],
    ['a line end', `${GOOD}\n`],
    ['a space', ` ${GOOD}`],
  ])('is none with %s: nothing is handed on, its state neither', (_what, traceparent) => {
    const headers = { tracestate: 'a=1', ...(traceparent === undefined ? {} : { traceparent }) };
    expect(none(headers)).toBeUndefined();
    expect(begin(1)(headers)?.traceId).not.toBe(ID);
    expect(begin(1)(headers)?.tracestate).toBeUndefined();
  });

  it('never gets out malformed, whatever comes in', async () => {
    const piece = fc.string({ unit: fc.constantFrom(...'0123456789abcdefABF-, '), maxLength: 70 });
    const near = fc.tuple(fc.constantFrom(GOOD, `cc-${ID}-${PARENT}-01`), piece).map(([a, b]) => a + b);
    await fuzz(
      fc.property(fc.oneof(piece, near), (traceparent) => {
        const out = begin(1)({ traceparent })?.traceparent ?? '';
        expect(out).toMatch(/^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-0[0-3]$/);
      }),
      500,
    );
  });
});

describe('a trace that begins here', () => {
  it('is random, its own each time, and sampled by its share', () => {
    const seen = new Set(Array.from({ length: 1_000 }, () => begin(1)({})?.traceparent.slice(3, 52)));
    expect(seen.size).toBe(1_000);
    expect(begin(0.1, 0.09)({})?.traceparent).toMatch(/-03$/);
    expect(begin(0.1, 0.1)({})?.traceparent).toMatch(/-02$/);
    expect(begin(0, 0)({})?.traceparent).toMatch(/-02$/);
    expect(begin(1, 0.9999)({})?.traceparent).toMatch(/-03$/);
  });
});

describe('the spans of an SDK', () => {
  afterEach(() => trace.disable());

  async function recording() {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
    const spans = await loadSpans();
    if (spans === undefined) throw new Error('an SDK was loaded and is not seen');
    return { spans, finished: () => exporter.getFinishedSpans() };
  }

  it('are children of the client, and parents of the upstream', async () => {
    const { spans, finished } = await recording();
    const begun = spans.begin({ traceparent: GOOD, tracestate: 'a=1' });
    expect(begun).toMatchObject({ traceId: ID, tracestate: 'a=1' });
    expect(begun.traceparent).toMatch(new RegExp(`^00-${ID}-(?!${PARENT})[\\da-f]{16}-01$`));
    expect(finished()).toEqual([]);
    spans.end({ ...deprecatedFacts(), trace: begun }, outcome({ status: 502 }), WALL);
    const [span] = finished();
    expect(span).toMatchObject({
      name: 'GET orders v1',
      kind: 1,
      status: { code: 2 },
      parentSpanContext: { spanId: PARENT, isRemote: true },
      attributes: {
        'http.request.method': 'GET',
        'http.response.status_code': 502,
        'error.type': '502',
        'url.path': '/api/v1/orders/7',
        'sundial.version': 'v1',
        'sundial.stage': 'deprecated',
      },
    });
    expect(begun.traceparent).toContain(span?.spanContext().spanId);
    expect(JSON.stringify(span?.attributes)).not.toContain('?');
  });

  it('begin a trace where the request has none, and end once', async () => {
    const { spans, finished } = await recording();
    const begun = spans.begin({ tracestate: 'a=1' });
    expect(begun.tracestate).toBeUndefined();
    const facts = { ...deprecatedFacts(), trace: begun };
    spans.end(facts, outcome(), WALL);
    expect(finished()).toMatchObject([{ name: 'GET orders v1', status: { code: 0 } }]);
    expect(finished()[0]?.parentSpanContext).toBeUndefined();
  });
});
