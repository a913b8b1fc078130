// Refuses octets on an HTTP/1 connection that are not a valid request, once per connection.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal, RequestRefusal } from '../../../exchange/directive.ts';
import type { ConnectionFacts, OpenRequest } from './open-request.ts';

export interface Unreadable {
  /** For an error of the parser or a passed deadline. Later octets cannot be parsed (ERR-3). */
  readonly refuseUnparsed: (error: Error, socket: Socket) => void;
  /** For a CONNECT over HTTP/1, which Node reports without a response object (FWD-8). */
  readonly refuseTunnel: (raw: IncomingMessage) => void;
}

/** `refuse` answers a request. `refuseOnSocket` refuses without one. `tunnel`: the refusal of a CONNECT. */
export function createUnreadable(
  tunnel: Refusal,
  connectionOf: (socket: Socket) => ConnectionFacts,
  refuse: (open: OpenRequest, refusal: Refusal) => void,
  refuseOnSocket: (refusal: Refusal, socket: Socket) => void,
): Unreadable {
  function refuseRest(refusal: Refusal, socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection.isSealed) return;
    connection.isSealed = true;
    const open = connection.latest;
    const pending = open !== undefined && !open.res.writableFinished;
    if (pending && open.raw.complete) {
      // The error is in a later request. The earlier request still gets its response.
      open.closeAfter = true;
    } else if (pending && open.res.headersSent) {
      socket.destroy();
    } else if (pending) {
      refuse(open, refusal);
      open.inbound?.onGone?.();
    } else {
      refuseOnSocket(refusal, socket);
    }
  }

  return {
    refuseUnparsed(error, socket) {
      const refusal = parserRefusal(error);
      if (refusal === undefined) socket.destroy();
      else refuseRest(refusal, socket);
    },
    refuseTunnel({ socket }) {
      // Node has removed its own listener, and an unhandled error ends the process.
      socket.on('error', () => undefined);
      refuseRest(tunnel, socket);
    },
  };
}

/** Octets of a packet. If the request line ends within them, the target was not too long. */
const LOOKED_AT = 8_000;
const TOKEN_AND_SPACE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ /;

/** Undefined for a connection that broke or was never established: no client awaits a response. */
function parserRefusal(error: Error): RequestRefusal | undefined {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'HPE_INVALID_EOF_STATE':
      return undefined;
    case 'HPE_INVALID_VERSION':
      // The parser has the same code for a line that ends in a bare LF or in spaces, which names no version (SMG-11).
      return 'reason' in error && error.reason === 'Invalid HTTP version'
        ? { reason: 'protocol_version_unsupported' }
        : malformed(400);
    case 'HPE_INVALID_METHOD':
      return TOKEN_AND_SPACE.test(startOfPacket(error).trimStart())
        ? { reason: 'method_unknown', method: '-' }
        : malformed(400);
    case 'HPE_HEADER_OVERFLOW':
      return endlessTarget(error)
        ? malformed(414, 'The request target is too long.')
        : malformed(431, 'The header section is too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return malformed(413, 'The chunk extensions are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return malformed(408, 'The request did not arrive in time.');
    default:
      // Other errors are resets and failed handshakes, which have no request to answer.
      return typeof code === 'string' && code.startsWith('HPE_') ? malformed(400) : undefined;
  }
}

function malformed(
  status: 400 | 408 | 413 | 414 | 431,
  message = 'The request is malformed.',
): RequestRefusal {
  return { reason: 'request_malformed', status, message };
}

/**
 * Whether the parser stopped within the request line. It counts target and fields together, and stops only
 * above both bounds together (node-server.ts). If the target arrives in small packets, its start is no longer
 * in the last one, and the result is false.
 */
function endlessTarget(error: Error): boolean {
  const start = startOfPacket(error);
  return TOKEN_AND_SPACE.test(start) && !start.includes('\n');
}

function startOfPacket(error: Error): string {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined;
  return Buffer.isBuffer(packet) ? packet.toString('latin1', 0, LOOKED_AT) : '';
}
