// The trace of each request: the client's handed on, or one begun here. With an OpenTelemetry SDK in the process, which
// the operator loads with `node --import`, the gateway is a span of it (spans.ts).
import { randomFillSync } from 'node:crypto';
import type { Trace } from '../exchange/trace.ts';
import type { TracingSettings } from '../plan/settings.ts';
import type { Fields } from '../policy/contract.ts';
import { readTraceContext, writeTraceparent } from './trace-context.ts';

/** Of the level 2 flags: the identifier is random; and that plus sampled. */
const [RANDOM, SAMPLED] = ['02', '03'] as const;

export type BeginTrace = (headers: Fields) => Trace | undefined;

const POOL_OCTETS = 6_144;

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

/**
 * Random digits, twice as many as `octets`, of which the pool must hold as many. A request needs 24 octets: to ask the system
 * for them each time would cost more than the rest of tracing.
 */
function createRandomHex(): (octets: number) => string {
  const pool = Buffer.alloc(POOL_OCTETS);
  let at = POOL_OCTETS;
  return (octets) => {
    if (at + octets > POOL_OCTETS) {
      randomFillSync(pool);
      at = 0;
    }
    const from = at;
    at += octets;
    return pool.toString('hex', from, at);
  };
}
