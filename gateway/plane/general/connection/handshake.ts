// The listener's checks of a WebSocket handshake, before any API is looked up (WS-2, RFC 6455 §4.2.1).
import type { IncomingMessage } from 'node:http';
import type { RequestRefusal } from '../../../exchange/directive.ts';

const WEBSOCKET_VERSION = '13';

/** Sixteen octets in base64. The last of the 22 digits holds four bits. */
const KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

/**
 * Whether a request asks for a WebSocket. Any other upgrade is ignored and the request is served as plain
 * HTTP (WS-1). The same holds for HTTP/1.0 and for an upgrade that Connection does not list (RFC 9110 §7.8).
 */
function wantsWebSocket({ headers, httpVersion }: IncomingMessage): boolean {
  return httpVersion === '1.1' && names(headers.upgrade, 'websocket') && names(headers.connection, 'upgrade');
}

/** Called by Node's server. If true, Node hands over the connection, so the message must have no body. */
export function mayUpgrade(raw: IncomingMessage): boolean {
  return wantsWebSocket(raw) && raw.method === 'GET' && !hasFraming(raw);
}

/** Undefined for a valid handshake and for any other request. */
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
