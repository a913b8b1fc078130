// The grammar of `bounds`, `overload` and `drain` in gateway.yaml, with their defaults.
import { z } from 'zod';
import { notation, parseDuration, parseRate, size } from '../../policy/notation.ts';
import { PLANES } from '../bounds.ts';

export const BOUND_DEFAULTS = {
  header_bytes: '16KB',
  header_fields: 256,
  target_bytes: '8KB',
  body: '1GB',
  connections: 10_000,
  connections_per_address: 2_000,
  streams: 128,
  resets: '100/10s',
  pipelined: 128,
  headers: '10s',
  request: '5m',
  body_rate: '1000/10s',
  idle: '65s',
  unread: '65s',
  websockets: 10_000,
  websockets_per_client: 1_000,
  websocket_idle: '1h',
  plane: 'fast',
} as const;
export const OVERLOAD_DEFAULTS = { lag: '500ms', requests: 10_000 } as const;
export const DRAIN_DEFAULTS = { wait: '0s', timeout: '30s' } as const;

const described = (what: string, key: keyof typeof BOUND_DEFAULTS): string =>
  `${what} Default ${BOUND_DEFAULTS[key]}.`;

const digits = notation(
  (text) => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) : undefined),
  'not a whole number from 1 to 9999999',
  { description: 'A whole number.' },
);

/** A number, also as text: `${env:…}` substitutes text. */
const count = (description: string) => z.union([digits, z.int().min(1).max(9_999_999)]).meta({ description });

/** A longer value is a mistake. Above 24 days, Node's timers fire immediately. */
const LONGEST_MS = 86_400_000;

const duration = (description: string) =>
  notation(
    (text) => withinADay(parseDuration(text)),
    'not a duration such as 250ms, 5s, 1m or 2h, of a day at most',
    { description, examples: ['10s', '5m'] },
  );

const rate = (description: string) =>
  notation(
    (text) => {
      const parsed = parseRate(text);
      return withinADay(parsed?.windowMs) === undefined ? undefined : parsed;
    },
    'not a rate such as 200/10s, of a day at most',
    { description, examples: ['200/10s'] },
  );

function withinADay(ms: number | undefined): number | undefined {
  return ms !== undefined && ms <= LONGEST_MS ? ms : undefined;
}

const off = z.literal('off');

export const wholeBounds = z.strictObject({
  header_bytes: size(described('All header fields of a request together: 431 beyond.', 'header_bytes')),
  header_fields: count(described('Header fields of a request: 431 beyond.', 'header_fields')),
  target_bytes: size(described('The request target: 414 beyond.', 'target_bytes')),
  body: size(described('A request body where no policy has a max_body: 413 beyond.', 'body')),
  connections: count(described('Client connections: a further one is closed at once.', 'connections')),
  connections_per_address: count(
    described('Client connections of one address that is no trusted proxy.', 'connections_per_address'),
  ),
  streams: count(described('Concurrent requests of one HTTP/2 connection.', 'streams')),
  resets: rate(described('Streams that one HTTP/2 connection may reset; it is ended beyond.', 'resets')),
  pipelined: count(described('Unanswered requests of one HTTP/1.1 connection.', 'pipelined')),
  headers: duration(
    described('For a header section to arrive, and for a TLS handshake: 408 beyond.', 'headers'),
  ),
  request: duration(described('For a whole request to arrive: 408 beyond.', 'request')),
  body_rate: z.union([off, rate('Octets in a window.')]).meta({
    description: described(
      'The fewest octets of a body in each window of waiting for it, 408 below; or off.',
      'body_rate',
    ),
  }),
  idle: duration(described('A connection without a request.', 'idle')),
  unread: duration(described('An answer of which the client takes nothing.', 'unread')),
  websockets: count(described('Open WebSockets: 503 beyond.', 'websockets')),
  websockets_per_client: count(
    described('Open WebSockets of one consumer or address: 429 beyond.', 'websockets_per_client'),
  ),
  websocket_idle: z.union([off, duration('A duration.')]).meta({
    description: described(
      'A WebSocket on which nothing is said is closed with 1001; or off.',
      'websocket_idle',
    ),
  }),
  plane: z.enum(PLANES).meta({
    description: described(
      'How HTTP/1.1 is carried: fast reads requests in their usual form itself; general has the parser of Node read all of them.',
      'plane',
    ),
  }),
});

export const wholeOverload = z.strictObject({
  lag: duration(
    `How late the event loop may be before a growing share of requests is refused. Default ${OVERLOAD_DEFAULTS.lag}.`,
  ),
  requests: count(`Requests in flight: 503 beyond. Default ${OVERLOAD_DEFAULTS.requests}.`),
});

const durationFromZero = (description: string) =>
  notation(
    (text) => (text === '0s' ? 0 : withinADay(parseDuration(text))),
    'not a duration such as 0s, 250ms, 5s or 1m, of a day at most',
    { description, examples: ['0s', '5s'] },
  );

export const wholeDrain = z.strictObject({
  wait: durationFromZero(
    `How long connections are still accepted after readiness has turned false. Default ${DRAIN_DEFAULTS.wait}.`,
  ),
  timeout: duration(`For what is in flight after that; the rest is cut. Default ${DRAIN_DEFAULTS.timeout}.`),
});

export const boundsSection = wholeBounds.partial();
export const overloadSection = z.union([off, wholeOverload.partial()]);
export const drainSection = wholeDrain.partial();
