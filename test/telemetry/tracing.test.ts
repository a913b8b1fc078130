// W3C Trace Context: what is read, forwarded and started, and the spans of an operator's SDK.
import { metrics, ProxyTracerProvider, trace } from '@opentelemetry/api';
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
  ParentBasedSampler,
  type Sampler,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import fc from 'fast-check';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RecordFields } from '../../gateway/exchange/request-view.ts';
import type { FieldRecord } from '../../gateway/policy/contract.ts';
import { createTelemetry } from '../../gateway/telemetry/telemetry.ts';
import { loadSpans } from '../../gateway/telemetry/traces/spans.ts';
import { createTracing } from '../../gateway/telemetry/traces/tracing.ts';
import { deprecatedFacts, NOW, plan } from '../support/exchange-samples.ts';
import { fuzz } from '../support/fuzz.ts';
import { EVERY_FIELD, outcome, WALL } from './telemetry-harness.ts';

const clocks = { plan, now: () => NOW, overrides: () => [], wallClock: () => WALL, monotonic: () => 0 };

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const GOOD = `00-${ID}-${PARENT}-01`;

const fields = (record: FieldRecord = {}) => new RecordFields(record);
const tracing = createTracing({ starts: false, sampled: 0 });
const none = (headers: FieldRecord) => tracing(fields(headers));
const begin =
  (sampled: number, drawn = 0.5) =>
  (headers: FieldRecord) =>
    createTracing({ starts: true, sampled }, () => drawn)(fields(headers));

const BY_SDK = { starts: true, sampled: 1 } as const;
const quiet = {
  log: { write: () => undefined },
  settings: { logLevel: 'info', accessLog: EVERY_FIELD, tracing: BY_SDK },
} as const;

describe('the trace context of a request', () => {
  it.each([
    ['sampled', GOOD, GOOD],
    ['not sampled', `00-${ID}-${PARENT}-00`, `00-${ID}-${PARENT}-00`],
    ['random, of level 2', `00-${ID}-${PARENT}-03`, `00-${ID}-${PARENT}-03`],
    ['with unknown flags', `00-${ID}-${PARENT}-ff`, `00-${ID}-${PARENT}-03`],
    ['of a later version, with more fields', `cc-${ID}-${PARENT}-01-what-comes`, GOOD],
    ['of a later version, without more fields', `cc-${ID}-${PARENT}-01`, GOOD],
  ])('is forwarded: %s', (_what, traceparent, out) => {
    expect(none({ traceparent, tracestate: 'a=1,b=2' })).toEqual({
      traceId: ID,
      traceparent: out,
      tracestate: 'a=1,b=2',
    });
  });

  it.each([
    ['no field', undefined],
    ['an empty field', ''],
    ['version ff', `ff-${ID}-${PARENT}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a parent id of zeros', `00-${ID}-${'0'.repeat(16)}-01`],
    ['upper case', `00-${ID.toUpperCase()}-${PARENT}-01`],
    ['version 00 with more fields', `${GOOD}-more`],
    ['version 00 with a dash at the end', `${GOOD}-`],
    ['a later version with more and no dash', `cc-${ID}-${PARENT}-01x`],
    ['one digit too few', `00-${ID.slice(1)}-${PARENT}-01`],
    ['no flags', `00-${ID}-${PARENT}`],
    ['two values', `${GOOD}, ${GOOD}`],
    ['a line end', `${GOOD}\n`],
    ['a space', ` ${GOOD}`],
    ['two values of a later version', `cc-${ID}-${PARENT}-01-more, cc-${ID}-${PARENT}-01-more`],
    ['10,000 characters too many', `${GOOD}${'0'.repeat(10_000)}`],
  ])('is dropped with %s, and its tracestate too', (_what, traceparent) => {
    const headers = { tracestate: 'a=1', ...(traceparent === undefined ? {} : { traceparent }) };
    expect(none(headers)).toBeUndefined();
    expect(begin(1)(headers)?.traceId).not.toBe(ID);
    expect(begin(1)(headers)?.tracestate).toBeUndefined();
  });

  const members = (count: number) => Array.from({ length: count }, (_, index) => `k${index}=v`).join(',');
  it.each([
    ['one member', 'a=1', true],
    ['whitespace around members', 'a=1 \t , \t b=2', true],
    ['empty members', 'a=1,,b=2,', true],
    ['32 members', members(32), true],
    ['33 members', members(33), false],
    ['a tenant in a key', 'fw529a3039@dt=FfD_0:1/2!', true],
    ['a key of 256 characters', `${'k'.repeat(256)}=v`, true],
    ['a key of 257 characters', `${'k'.repeat(257)}=v`, false],
    ['a value of 256 characters', `a=${'v'.repeat(256)}`, true],
    ['a value of 257 characters', `a=${'v'.repeat(257)}`, false],
    ['an upper-case key', 'A=1', false],
    ['a space before the equals sign', 'a =1', false],
    ['no equals sign', 'a', false],
    ['two equals signs', 'a=1=2', false],
    ['no value', 'a=', false],
    ['a control character', 'a=1\u0007', false],
    ['only empty members', ' , ,', false],
  ])('keeps only a valid tracestate: %s (case %#)', (_what, tracestate, kept) => {
    const begun = none({ traceparent: GOOD, tracestate });
    expect(begun).toEqual({
      traceId: ID,
      traceparent: GOOD,
      tracestate: kept ? tracestate : undefined,
    });
  });

  it('is never forwarded malformed, for any input', async () => {
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

describe('a trace that the gateway starts', () => {
  it('has a random id, and is sampled by the configured share', () => {
    const seen = new Set(Array.from({ length: 1_000 }, () => begin(1)({})?.traceparent.slice(3, 52)));
    expect(seen.size).toBe(1_000);
    expect(begin(0.1, 0.09)({})?.traceparent).toMatch(/-03$/);
    expect(begin(0.1, 0.1)({})?.traceparent).toMatch(/-02$/);
    expect(begin(0, 0)({})?.traceparent).toMatch(/-02$/);
    expect(begin(1, 0.9999)({})?.traceparent).toMatch(/-03$/);
  });
});

/** Where each copy of the API package stores the registered SDK. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');
const unregister = (): void => {
  trace.disable();
  Reflect.deleteProperty(globalThis, REGISTERED);
};

describe('the spans of an SDK', () => {
  beforeEach(unregister);
  afterAll(unregister);
  afterEach(() => trace.disable());

  async function recording(sampler: Sampler = new ParentBasedSampler({ root: new AlwaysOnSampler() })) {
    const exporter = new InMemorySpanExporter();
    const spanProcessors = [new SimpleSpanProcessor(exporter)];
    trace.setGlobalTracerProvider(new BasicTracerProvider({ sampler, spanProcessors }));
    const spans = await loadSpans(BY_SDK, () => undefined);
    if (spans === undefined) throw new Error('an SDK was loaded and is not seen');
    const begin = (headers: Readonly<Record<string, string>>) => {
      const begun = spans.begin(fields(headers));
      if (begun === undefined) throw new Error('no span was begun');
      return begun;
    };
    return { spans, begin, finished: () => exporter.getFinishedSpans() };
  }

  it('are children of the client span and parents of the upstream span', async () => {
    const { spans, begin, finished } = await recording();
    const begun = begin({ traceparent: GOOD, tracestate: 'a=1' });
    expect(begun).toMatchObject({ traceId: ID, tracestate: 'a=1' });
    expect(begun.traceparent).toMatch(new RegExp(`^00-${ID}-(?!${PARENT})[\\da-f]{16}-01$`));
    expect(finished()).toEqual([]);
    spans.end(deprecatedFacts({ trace: begun }), outcome({ status: 502 }));
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

  it('start a trace if the request has none, and end once', async () => {
    const { spans, begin, finished } = await recording();
    const begun = begin({ tracestate: 'a=1' });
    expect(begun.tracestate).toBeUndefined();
    const facts = deprecatedFacts({ trace: begun });
    for (let ends = 0; ends < 2; ends += 1) spans.end(facts, outcome());
    expect(finished()).toMatchObject([{ name: 'GET orders v1', status: { code: 0 } }]);
    expect(finished()[0]?.parentSpanContext).toBeUndefined();
  });

  it('are not recorded if the client does not sample, and the upstream gets that flag', async () => {
    const { spans, begin, finished } = await recording();
    const begun = begin({ traceparent: `00-${ID}-${PARENT}-00` });
    expect(begun.traceparent).toMatch(new RegExp(`^00-${ID}-(?!${PARENT})[\\da-f]{16}-00$`));
    spans.end(deprecatedFacts({ trace: begun }), outcome());
    expect(finished()).toEqual([]);
  });

  it('have one name for all unknown methods', async () => {
    const { spans, begin, finished } = await recording();
    for (let count = 0; count < 50; count += 1)
      spans.end(deprecatedFacts({ trace: begin({}) }), outcome({ method: `M${count}` }));
    expect(new Set(finished().map(({ name }) => name))).toEqual(new Set(['HTTP orders v1']));
    expect(finished()[0]?.attributes['http.request.method']).toBe('_OTHER');
  });

  it('have durations finer than a millisecond', async () => {
    const { spans, begin, finished } = await recording();
    for (let count = 0; count < 20; count += 1) spans.end(deprecatedFacts({ trace: begin({}) }), outcome());
    const nanoseconds = finished().map(({ duration: [, rest] }) => rest);
    expect(nanoseconds.some((each) => each % 1_000_000 !== 0)).toBe(true);
  });

  it.each([
    ['are exported before the process ends, even if the SDK batches them', undefined, 1],
    [
      'delay the end of the process by at most a second if their export hangs',
      new Promise<void>(() => {}),
      0,
    ],
  ])('%s', async (_what, stuck, exported) => {
    if (stuck !== undefined) vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const exporter = new InMemorySpanExporter();
    const batch = new BatchSpanProcessor(exporter);
    const provider = new BasicTracerProvider({ spanProcessors: [batch] });
    if (stuck !== undefined) provider.forceFlush = () => stuck;
    trace.setGlobalTracerProvider(provider);
    const spans = await loadSpans(BY_SDK, () => undefined);
    const telemetry = createTelemetry({ ...clocks, ...quiet, spans });
    telemetry.observer.onAnswer(deprecatedFacts({ trace: telemetry.beginTrace(fields()) }), outcome());
    expect(exporter.getFinishedSpans()).toEqual([]);
    const closed = telemetry.close();
    if (stuck !== undefined) await vi.advanceTimersByTimeAsync(1000);
    await closed;
    expect(exporter.getFinishedSpans()).toHaveLength(exported);
    vi.useRealTimers();
  });

  it('work with an SDK that has an older copy of the API package', async () => {
    const { begin } = await recording();
    expect(begin({}).traceparent).not.toContain('0'.repeat(32));
    Object.assign(Reflect.get(globalThis, REGISTERED), { version: '1.4.0' });
    const spans = await loadSpans(BY_SDK, () => undefined);
    expect(spans?.begin(fields({ traceparent: GOOD }))).toMatchObject({ traceId: ID });
    expect(spans?.begin(fields())?.traceparent).toMatch(/^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-01$/);
  });

  it('are off without an SDK, or with an SDK for metrics only', async () => {
    expect(await loadSpans(BY_SDK, () => undefined)).toBeUndefined();
    metrics.setGlobalMeterProvider(metrics.getMeterProvider());
    expect(Object.hasOwn(globalThis, REGISTERED)).toBe(true);
    expect(await loadSpans(BY_SDK, () => undefined)).toBeUndefined();
    metrics.disable();
  });

  it('are off if the SDK makes none, and the gateway starts a trace by itself', async () => {
    trace.setGlobalTracerProvider(new ProxyTracerProvider());
    const spans = await loadSpans(BY_SDK, () => undefined);
    expect(spans?.begin(fields())).toBeUndefined();
    const telemetry = createTelemetry({ ...clocks, ...quiet, spans });
    expect(telemetry.beginTrace(fields())?.traceparent).toMatch(/^00-(?!0{32})[\da-f]{32}-[\da-f]{16}-03$/);
  });
});
