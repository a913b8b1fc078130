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
  header_bytes: size(
    described('Size of all header fields of a request together; more gets 431.', 'header_bytes'),
  ),
  header_fields: count(described('Number of header fields of a request; more get 431.', 'header_fields')),
  target_bytes: size(described('Size of the request target; more gets 414.', 'target_bytes')),
  body: size(described('Size of a request body, if the policy has no max_body; more gets 413.', 'body')),
  connections: count(described('Client connections; further ones are closed at once.', 'connections')),
  connections_per_address: count(
    described('Client connections of one address that is not a trusted proxy.', 'connections_per_address'),
  ),
  streams: count(described('Concurrent requests of one HTTP/2 connection.', 'streams')),
  resets: rate(described('Streams that one HTTP/2 connection may reset; more end the connection.', 'resets')),
  pipelined: count(described('Unanswered requests of one HTTP/1.1 connection.', 'pipelined')),
  headers: duration(
    described('Time for a header section to arrive, and for a TLS handshake; later gets 408.', 'headers'),
  ),
  request: duration(described('Time for a whole request to arrive; later gets 408.', 'request')),
  body_rate: z.union([off, rate('Octets in a window.')]).meta({
    description: described(
      'Fewest octets of a body that must arrive in each window, or off. Slower bodies get 408.',
      'body_rate',
    ),
  }),
  idle: duration(described('Time that a connection may stay open without a request.', 'idle')),
  unread: duration(described('Longest time in which a client reads no data of a response.', 'unread')),
  websockets: count(described('Open WebSockets; more get 503.', 'websockets')),
  websockets_per_client: count(
    described('Open WebSockets of one consumer or address; more get 429.', 'websockets_per_client'),
  ),
  websocket_idle: z.union([off, duration('A duration.')]).meta({
    description: described('Time without traffic until a WebSocket gets 1001, or off.', 'websocket_idle'),
  }),
  plane: z.enum(PLANES).meta({
    description: described(
      'How HTTP/1.1 is parsed: fast parses usual requests in the gateway; general uses the parser of Node for all.',
      'plane',
    ),
  }),
});

export const wholeOverload = z.strictObject({
  lag: duration(
    `Event loop delay above which a growing share of requests is refused. Default ${OVERLOAD_DEFAULTS.lag}.`,
  ),
  requests: count(`Requests in flight; more get 503. Default ${OVERLOAD_DEFAULTS.requests}.`),
});

const durationFromZero = (description: string) =>
  notation(
    (text) => (text === '0s' ? 0 : withinADay(parseDuration(text))),
    'not a duration such as 0s, 250ms, 5s or 1m, of a day at most',
    { description, examples: ['0s', '5s'] },
  );

export const wholeDrain = z.strictObject({
  wait: durationFromZero(
    `Time to accept connections after readiness turns false. Default ${DRAIN_DEFAULTS.wait}.`,
  ),
  timeout: duration(
    `Time for requests in flight after that; the rest are closed. Default ${DRAIN_DEFAULTS.timeout}.`,
  ),
});

export const boundsSection = wholeBounds.partial();
export const overloadSection = z.union([off, wholeOverload.partial()]);
export const drainSection = wholeDrain.partial();
