// The opening handshake of a WebSocket as the listener judges it, before anything is asked about APIs (WS-2, RFC 6455 §4.2.1).
import type { IncomingMessage } from 'node:http';
import type { RequestRefusal } from '../../../exchange/directive.ts';

const WEBSOCKET_VERSION = '13';

/** Sixteen bytes in base64: the last of the 22 digits holds four bits only. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

/**
 * Whether a request wants its connection to become a WebSocket. Every other upgrade is ignored and the request served as
 * the plain one it also is (WS-1); so is one in HTTP/1.0, or one that Connection does not name (RFC 9110 §7.8).
 */
function wantsWebSocket({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && names(headers.upgrade, 'websocket') && names(headers.connection, 'upgrade');
}

/** What Node's server asks: true hands over the connection itself, so that only a message without a body may have it. */
export function mayUpgrade(raw: IncomingMessage): boolean {
  return wantsWebSocket(raw) && raw.method === 'GET' && !hasFraming(raw);
}

/** Undefined for a sound handshake and for a request that is none. */
export function handshakeRefusal(raw: IncomingMessage): RequestRefusal | undefined {
  if (!wantsWebSocket(raw)) return undefined;
  if (raw.method !== 'GET') return malformed('A WebSocket handshake is a GET.');
  if (hasFraming(raw)) return malformed('A WebSocket handshake has no body and no Content-Length.');
  if (raw.headers['sec-websocket-version'] !== WEBSOCKET_VERSION)
    return { reason: 'websocket_version_unsupported' };
  return KEY.test(raw.headers['sec-websocket-key'] ?? '')
    ? undefined
    : malformed('Sec-WebSocket-Key must be sixteen bytes in base64.');
}

function hasFraming({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}

function names(list: string | undefined, token: string): boolean {
  return list?.split(',').some((each) => each.trim().toLowerCase() === token) ?? false;
}

function malformed(message: string): RequestRefusal {
  return { reason: 'request_malformed', status: 400, message };
}
