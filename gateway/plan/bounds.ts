// Types of the limits on what clients make the gateway hold, of load shedding and of the drain.
import type { Rate } from '../policy/notation.ts';

/** Sizes in octets, times in milliseconds. All bounds hold per process, so each worker has its own. */
export interface Bounds {
  /** Of all field lines together; in HTTP/2, each field counts 32 octets more (RFC 9113 §6.5.2). */
  readonly headerBytes: number;
  readonly headerFields: number;
  readonly targetBytes: number;
  /** Of a request, unless its policy sets another size. */
  readonly body: number;
  readonly connections: number;
  /** Trusted proxies are exempt. */
  readonly connectionsPerAddress: number;
  /** Concurrent requests of one HTTP/2 connection. */
  readonly streams: number;
  /** Streams of one HTTP/2 connection that end by a reset. */
  readonly resets: Rate;
  /** Unanswered requests of one HTTP/1.1 connection. */
  readonly pipelined: number;
  /** From the first octet of a header section to its last. The TLS handshake has the same timeout. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** The fewest octets of a body in each window in which the gateway waits for it. Undefined: no minimum. */
  readonly bodyRate: Rate | undefined;
  readonly idleMs: number;
  /** Timeout of a response while the client reads nothing of it. */
  readonly unreadMs: number;
  readonly websockets: number;
  readonly websocketsPerClient: number;
  /** Timeout of a WebSocket without traffic in either direction. Undefined: none. */
  readonly websocketIdleMs: number | undefined;
}

/** Thresholds of load shedding: above them, this process refuses requests. */
export interface Overload {
  /** Delay of the event loop in milliseconds. */
  readonly lagMs: number;
  readonly requests: number;
}

/** The implementations of HTTP/1.1. Each listener uses one. */
export const PLANES = ['fast', 'general'] as const;
export type PlaneName = (typeof PLANES)[number];

/** `unusual`: this request, or an earlier one on its connection, needs the parser of Node. */
export const PLANE_REASONS = ['usual', 'unusual', 'http2', 'upgrade', 'settings'] as const;
export type PlaneReason = (typeof PLANE_REASONS)[number];

export interface DrainTimes {
  /** Milliseconds from the failure of readiness to the end of accepting connections. */
  readonly waitMs: number;
  /** Milliseconds that requests in flight have after that. */
  readonly timeoutMs: number;
}

/** Refusals by these keys of `bounds` are counted. The HTTP/2 library enforces `streams`, the exchange `body`. */
export const COUNTED_BOUNDS = [
  'header_bytes',
  'header_fields',
  'target_bytes',
  'connections',
  'connections_per_address',
  'resets',
  'pipelined',
  'headers',
  'body_rate',
  'unread',
  'websockets',
  'websockets_per_client',
  'websocket_idle',
] as const;
export type CountedBound = (typeof COUNTED_BOUNDS)[number];

export const SHED_REASONS = ['lag', 'requests'] as const;
export type ShedReason = (typeof SHED_REASONS)[number];
