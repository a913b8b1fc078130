// One server span per request, through the configured exporter or an OpenTelemetry SDK in the process.
import type { Span } from '@opentelemetry/api';
import type { ExchangeOutcome } from '../../exchange/exchange.ts';
import type { ExchangeFacts } from '../../exchange/facts.ts';
import type { Trace } from '../../exchange/request-view.ts';
import type { TracingSettings } from '../../plan/settings.ts';
import type { Fields } from '../../policy/contract.ts';
import { METHOD_LABELS, methodIndexOf, OTHER } from '../requests/request-labels.ts';
import type { OnExport, SpanProvider } from './otlp.ts';
import { readTraceContext } from './tracing.ts';

export interface Spans {
  /**
   * Starts the span of a request. The SDK's sampler decides whether it is recorded. Undefined if the SDK creates no
   * valid spans, because it is disabled or loaded only for metrics.
   */
  readonly begin: (headers: Fields) => Trace | undefined;
  readonly end: (facts: ExchangeFacts, outcome: ExchangeOutcome) => void;
  /** Exports the spans that the SDK has buffered. Resolves after a second at the latest, also after a failure. */
  readonly flush: () => Promise<void>;
}

const FLUSH_WITHIN_MS = 1000;

/**
 * The global key under which `@opentelemetry/api` stores the registered SDK. The package refuses an SDK that was
 * registered by a copy with a lower minor version, so the key is read directly. All 1.x have the functions used here.
 */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * Undefined without settings and without an SDK for traces.
 * @throws Error if the packages for the settings are not installed
 */
export async function loadSpans(
  { otlp, sampled }: TracingSettings,
  onExport: OnExport,
): Promise<Spans | undefined> {
  if (otlp !== undefined) {
    const { openOtlp } = await import('./otlp.ts');
    return spansOf(await openOtlp({ otlp, sampled }, onExport));
  }
  const registered: { readonly trace?: SpanProvider } | undefined = Reflect.get(globalThis, REGISTERED);
  return spansOf(registered?.trace);
}

/** Why spans cannot be exported with the packages of this installation. Undefined if they can. */
export async function unusableTracing(tracing: TracingSettings): Promise<string | undefined> {
  try {
    const spans = await loadSpans(tracing, () => undefined);
    await spans?.flush();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function spansOf(provider: SpanProvider | undefined): Promise<Spans | undefined> {
  if (provider === undefined) return undefined;
  const { createTraceState, isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } =
    await import('@opentelemetry/api');
  const tracer = provider.getTracer('sundial');
  const spans = new WeakMap<Trace, Span>();
  return {
    begin: (headers) => {
      const incoming = readTraceContext(headers);
      const parent =
        incoming === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, {
              traceId: incoming.traceId,
              spanId: incoming.parentId,
              traceFlags: Number.parseInt(incoming.flags, 16),
              isRemote: true,
              ...(incoming.tracestate === undefined
                ? {}
                : { traceState: createTraceState(incoming.tracestate) }),
            });
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, parent);
      const context = span.spanContext();
      if (!isSpanContextValid(context)) return undefined;
      const { traceId, spanId, traceFlags, traceState } = context;
      const begun: Trace = {
        traceId,
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        tracestate: traceState?.serialize() || undefined,
      };
      spans.set(begun, span);
      return begun;
    },
    end: (facts, outcome) => {
      const span = facts.start.trace && spans.get(facts.start.trace);
      if (span === undefined) return;
      span.updateName(nameOf(facts, outcome));
      span.setAttributes(attributesOf(facts, outcome));
      if (outcome.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      // Without an argument, start and end use the SDK's clock, which does not follow changes of the wall clock.
      span.end();
    },
    flush: () =>
      new Promise((resolve) => {
        const deadline = setTimeout(resolve, FLUSH_WITHIN_MS);
        const done = (): void => {
          clearTimeout(deadline);
          resolve();
        };
        const sdk = provider.getDelegate?.() ?? provider;
        // A failed export resolves too: the SDK reports it, and the process ends anyway.
        Promise.resolve(sdk.forceFlush?.()).then(done, done);
      }),
  };
}

/** The semantic conventions' names for unknown methods, of which a client can invent any number. */
const UNKNOWN_METHOD = { name: 'HTTP', attribute: '_OTHER' } as const;

const isKnown = (method: string): boolean => METHOD_LABELS[methodIndexOf(method)] !== OTHER;

/** A span's name must have few values, so it has no path. */
function nameOf({ decision: { api, version } }: ExchangeFacts, { method }: ExchangeOutcome): string {
  const known = isKnown(method) ? method : UNKNOWN_METHOD.name;
  return api === undefined
    ? known
    : `${known} ${api.name}${version === undefined ? '' : ` ${version.label}`}`;
}

function attributesOf(facts: ExchangeFacts, outcome: ExchangeOutcome): Record<string, string | number> {
  const { start, decision, completion } = facts;
  const { api, version, phase } = decision;
  const { refusal, fault } = completion;
  const failure = fault?.code ?? (outcome.status >= 500 ? String(outcome.status) : undefined);
  const known = {
    'http.request.method': isKnown(outcome.method) ? outcome.method : UNKNOWN_METHOD.attribute,
    'url.path': outcome.path,
    'url.scheme': outcome.scheme,
    'http.response.status_code': outcome.status,
    'network.protocol.version': outcome.protocol.replace(/^HTTP\//, ''),
    'error.type': failure,
    'sundial.request_id': start.requestId,
    'sundial.api': api?.name,
    'sundial.version': version?.label,
    'sundial.operation': version?.operation,
    'sundial.stage': phase?.stage,
    'sundial.refusal': refusal,
  };
  return Object.fromEntries(
    Object.entries(known).filter((entry): entry is [string, string | number] => entry[1] !== undefined),
  );
}
