// The trace of each request (W3C Trace Context, level 2), continued from the client or started here.
import { randomFillSync } from 'node:crypto';
import type { Trace } from '../../exchange/request-view.ts';
import type { TracingSettings } from '../../plan/settings.ts';
import type { Fields } from '../../policy/contract.ts';

/** Level 2 flags: a random identifier, and that plus sampled. */
const [RANDOM, SAMPLED] = ['02', '03'] as const;
const KNOWN_FLAGS = 0b11;

export type BeginTrace = (headers: Fields) => Trace | undefined;

const TRACE_DIGITS = 32;
/** A trace has 16 octets, a parent 8. */
const REQUEST_OCTETS = 24;
const POOL_OCTETS = 256 * REQUEST_OCTETS;

/**
 * Creates no spans: the client's span stays the parent of the upstream's, because an unrecorded parent breaks the
 * trace. `share`: a random number from 0 to 1 for each trace that starts here.
 */
export function createTracing(
  { starts, sampled }: TracingSettings,
  share: () => number = Math.random,
): BeginTrace {
  const randomDigits = createRandomDigits();
  return (headers) => {
    const context = readTraceContext(headers);
    if (context !== undefined) {
      const { traceId, tracestate } = context;
      return { traceId, traceparent: writeTraceparent(context), tracestate };
    }
    if (!starts) return undefined;
    const digits = randomDigits();
    const traceId = digits.slice(0, TRACE_DIGITS);
    const flags = share() < sampled ? SAMPLED : RANDOM;
    return {
      traceId,
      traceparent: `00-${traceId}-${digits.slice(TRACE_DIGITS)}-${flags}`,
      tracestate: undefined,
    };
  };
}

/** Random digits for ids of traces and parents, from a pool, because a system call for each would be slower. */
function createRandomDigits(): () => string {
  const pool = Buffer.alloc(POOL_OCTETS);
  let at = POOL_OCTETS;
  return () => {
    if (at === POOL_OCTETS) {
      randomFillSync(pool);
      at = 0;
    }
    const from = at;
    at += REQUEST_OCTETS;
    return pool.toString('hex', from, at);
  };
}

export interface TraceContext {
  readonly traceId: string;
  readonly parentId: string;
  /** Two hexadecimal digits. If the lowest bit is set, the caller may have recorded the trace. */
  readonly flags: string;
  readonly tracestate: string | undefined;
}

/**
 * Later versions may add fields after the flags. Version 00 has none, and ff is invalid (§3.2.2.1). A comma means
 * joined lines, which are ambiguous.
 */
const TRACEPARENT =
  /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-[^,]*)?$/;
const VERSION_00_LENGTH = 55;

/** A key and its value, or nothing, which a list may contain (§3.3.1.3). */
const MEMBER = /^[ \t]*(?:[a-z\d][a-z\d_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~])?[ \t]*$/;
const MAX_MEMBERS = 32;

const ODD = '13579bdf';

/** Undefined without a valid traceparent. Its `tracestate` is then ignored too (§3.3). */
export function readTraceContext(headers: Fields): TraceContext | undefined {
  const traceparent = headers.get('traceparent');
  if (traceparent === undefined) return undefined;
  const [, version, traceId, parentId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || parentId === undefined || flags === undefined) return undefined;
  if (version === '00' && traceparent.length !== VERSION_00_LENGTH) return undefined;
  const tracestate = headers.get('tracestate');
  const state = tracestate !== undefined && isTracestate(tracestate) ? tracestate : undefined;
  return { traceId, parentId, flags, tracestate: state };
}

/** An invalid tracestate is dropped, and the trace continues without it (§3.3, §4.2). */
function isTracestate(text: string): boolean {
  const members = text.split(',');
  const filled = members.filter((member) => member.trim() !== '');
  return filled.length > 0 && filled.length <= MAX_MEMBERS && members.every((member) => MEMBER.test(member));
}

export function isSampled({ traceparent }: Pick<Trace, 'traceparent'>): boolean {
  return ODD.includes(traceparent.slice(-1));
}

/** Version 00 for any version that was read (§4.3). Unknown flags are dropped. */
function writeTraceparent({
  traceId,
  parentId,
  flags,
}: Pick<TraceContext, 'traceId' | 'parentId' | 'flags'>): string {
  const known = (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0');
  return `00-${traceId}-${parentId}-${known}`;
}
