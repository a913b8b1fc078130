// The trace of each request: the client's handed on, or one begun here. With an OpenTelemetry SDK in the process, which
// the operator loads with `node --import`, the gateway is a span of it (spans.ts).
import type { Trace } from '../exchange/trace.ts';
import type { TracingSettings } from '../plan/settings.ts';
import type { RequestHeaders } from '../policy/contract.ts';
import { createRandomHex } from './random-hex.ts';
import { readTraceContext, writeTraceparent } from './trace-context.ts';

/** Of the level 2 flags: the identifier is random; and that plus sampled. */
const [RANDOM, SAMPLED] = ['02', '03'] as const;

export type BeginTrace = (headers: RequestHeaders) => Trace | undefined;

/**
 * Without spans of our own the client's place in the trace stays the upstream's parent: a parent that nobody has recorded
 * would tear the trace apart. `share`: a number from 0 to 1, drawn for each trace begun here.
 */
export function createTracing(
  { starts, sampled }: TracingSettings,
  share: () => number = Math.random,
): BeginTrace {
  const randomHex = createRandomHex();
  return (headers) => {
    const context = readTraceContext(headers);
    if (context !== undefined) {
      const { traceId, tracestate } = context;
      return { traceId, traceparent: writeTraceparent(context), tracestate };
    }
    if (!starts) return undefined;
    const traceId = randomHex(16);
    const flags = share() < sampled ? SAMPLED : RANDOM;
    return {
      traceId,
      traceparent: writeTraceparent({ traceId, parentId: randomHex(8), flags }),
      tracestate: undefined,
    };
  };
}
