// How much of everything clients may make the gateway hold, and what it does when that is too much for it.
import type { Rate } from '../policy/notation.ts';

/** Sizes are octets, times milliseconds. Whole-process numbers hold for one process: each worker has its own. */
export interface Bounds {
  /** Field lines together, in HTTP/2 with the 32 per field of RFC 9113 §6.5.2. */
  readonly headerBytes: number;
  readonly headerFields: number;
  readonly targetBytes: number;
  /** Of a request where no policy says another. */
  readonly body: number;
  readonly connections: number;
  /** Of one address that is no trusted proxy. */
  readonly connectionsPerAddress: number;
  /** Concurrent requests of one HTTP/2 connection. */
  readonly streams: number;
  /** Streams of one HTTP/2 connection that end by a reset. */
  readonly resets: Rate;
  /** Requests of one HTTP/1.1 connection that are not answered yet. */
  readonly pipelined: number;
  /** From the first octet of a header section to its last; the TLS handshake has as long. */
  readonly headersMs: number;
  /** For a whole request, body included. */
  readonly requestMs: number;
  /** The fewest octets of a body in each window of waiting for them; undefined: any speed. */
  readonly bodyRate: Rate | undefined;
  /** A connection without a request. */
  readonly idleMs: number;
  /** An answer of which the client takes nothing. */
  readonly unreadMs: number;
  readonly websockets: number;
  readonly websocketsPerClient: number;
  /** A WebSocket on which neither side says anything; undefined: as long as both like. */
  readonly websocketIdleMs: number | undefined;
}

/** When requests are refused because there are too many for this process; undefined switches it off. */
export interface Overload {
  /** How late the event loop is, milliseconds. */
  readonly lagMs: number;
  /** Requests in flight. */
  readonly requests: number;
}

/** How a listener carries HTTP/1.1. */
export const PLANES = ['fast', 'general'] as const;
export type PlaneName = (typeof PLANES)[number];

/**
 * Why a request went by its plane. `usual`: its form is; `unusual`: its form, or that of one before it on its connection, is
 * for the parser of Node; `settings`: its listener has this plane alone.
 */
export const PLANE_REASONS = ['usual', 'unusual', 'http2', 'upgrade', 'settings'] as const;
export type PlaneReason = (typeof PLANE_REASONS)[number];

export interface DrainTimes {
  /** Between saying that no more requests are wanted and accepting no more connections, milliseconds. */
  readonly waitMs: number;
  /** For what is in flight after that, milliseconds. */
  readonly timeoutMs: number;
}

/** The keys of `bounds` whose refusals are counted; HTTP/2's own library holds `streams`, the exchange `body`. */
export const REFUSING_BOUNDS = [
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
export type RefusingBound = (typeof REFUSING_BOUNDS)[number];

/** `lag`: the event loop is late; `requests`: too many in flight. */
export const SHED_REASONS = ['lag', 'requests'] as const;
export type ShedReason = (typeof SHED_REASONS)[number];
