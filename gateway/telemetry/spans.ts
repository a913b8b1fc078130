// One server span per request, where an OpenTelemetry SDK is in the process: what it is named, when it ends, what it says.
// The operator brings the SDK and its exporter (`node --import ./otel.mjs`); without one none of this is loaded.
import type { Span } from '@opentelemetry/api';
import type { Outcome } from '../exchange/exchange.ts';
import type { ExchangeFacts } from '../exchange/facts.ts';
import type { Trace } from '../exchange/trace.ts';
import type { EpochMs, RequestHeaders } from '../policy/contract.ts';
import { readTraceContext } from './trace-context.ts';

export interface Spans {
  /** Of a request that begins now; the SDK's sampler decides whether it is recorded. */
  readonly begin: (headers: RequestHeaders) => Trace;
  /** `at`: the instant the answer ended. */
  readonly end: (facts: ExchangeFacts, outcome: Outcome, at: EpochMs) => void;
}

/** Where the API package keeps what an SDK has registered, for every copy of the package in the process. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Undefined where no SDK has been loaded. */
export async function loadSpans(): Promise<Spans | undefined> {
  if (!Object.hasOwn(globalThis, REGISTERED)) return undefined;
  const { createTraceState, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = await import(
    '@opentelemetry/api'
  );
  const tracer = trace.getTracer('sundial');
  const spans = new WeakMap<Trace, Span>();
  return {
    begin: (headers) => {
      const told = readTraceContext(headers);
      const parent =
        told === undefined
          ? ROOT_CONTEXT
          : trace.setSpanContext(ROOT_CONTEXT, {
              traceId: told.traceId,
              spanId: told.parentId,
              traceFlags: Number.parseInt(told.flags, 16),
              isRemote: true,
              ...(told.tracestate === undefined ? {} : { traceState: createTraceState(told.tracestate) }),
            });
      const span = tracer.startSpan('request', { kind: SpanKind.SERVER }, parent);
      const { traceId, spanId, traceFlags, traceState } = span.spanContext();
      const begun: Trace = {
        traceId,
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        tracestate: traceState?.serialize() || undefined,
      };
      spans.set(begun, span);
      return begun;
    },
    end: (facts, outcome, at) => {
      const span = facts.trace && spans.get(facts.trace);
      if (span === undefined) return;
      span.updateName(nameOf(facts, outcome));
      span.setAttributes(attributesOf(facts, outcome));
      if (outcome.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(at);
    },
  };
}

/** Of few kinds, as a name must be: never the path that was asked for. */
function nameOf({ api, version }: ExchangeFacts, { method }: Outcome): string {
  return api === undefined
    ? method
    : `${method} ${api.name}${version === undefined ? '' : ` ${version.label}`}`;
}

function attributesOf(facts: ExchangeFacts, outcome: Outcome): Record<string, string | number> {
  const { api, version, phase, refusal, fault, requestId } = facts;
  const failure = fault ?? (outcome.status >= 500 ? String(outcome.status) : undefined);
  const known = {
    'http.request.method': outcome.method,
    'url.path': outcome.path,
    'url.scheme': outcome.scheme,
    'http.response.status_code': outcome.status,
    'network.protocol.version': outcome.protocol.replace(/^HTTP\//, ''),
    'error.type': failure,
    'sundial.request_id': requestId,
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
