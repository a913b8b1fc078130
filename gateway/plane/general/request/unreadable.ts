// What comes on an HTTP/1 connection and is no request: refused once, and nothing behind it is read as a request.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Refusal, RequestRefusal } from '../../../exchange/directive.ts';
import type { ConnectionFacts, OpenRequest } from './open-request.ts';

export interface Unreadable {
  /** The parser or a deadline refused; the bytes that follow cannot be understood (ERR-3). */
  readonly refuseUnparsed: (error: Error, socket: Socket) => void;
  /** An HTTP/1 CONNECT, which Node hands over without a response object (FWD-8). */
  readonly refuseTunnel: (raw: IncomingMessage) => void;
}

/** `refuse` answers a request; `refuseOnSocket` is for where none waits for an answer; `tunnel`: why a CONNECT is refused. */
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
      // The error is in a later request: what was asked before it still gets its answer.
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
      // Node has taken its own listener away, and an error without a listener ends the process.
      socket.on('error', () => undefined);
      refuseRest(tunnel, socket);
    },
  };
}

/** Octets of a packet: a request line that ends within them is not what was too long. */
const LOOKED_AT = 8_000;
const TOKEN_AND_SPACE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ /;

/** Undefined if the connection broke or was never established: there is no client to answer. */
function parserRefusal(error: Error): RequestRefusal | undefined {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'HPE_INVALID_EOF_STATE':
      return undefined;
    case 'HPE_INVALID_VERSION':
      // Also what it says of a line that ends in a bare LF, or in spaces: no other version was asked for (SMG-11).
      return 'reason' in error && error.reason === 'Invalid HTTP version'
        ? { reason: 'protocol_version_unsupported' }
        : malformed(400);
    case 'HPE_INVALID_METHOD':
      // Only a well-formed token is a method that is not supported; anything else is noise.
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
      // The rest are resets and failed handshakes, which have no request to answer.
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
 * Whether the parser gave up within the request line. It counts the target and the fields together and is refused only
 * what is longer than both may be (node-server.ts); a target that comes in pieces so small that its start is gone by then
 * passes for a field.
 */
function endlessTarget(error: Error): boolean {
  const start = startOfPacket(error);
  return TOKEN_AND_SPACE.test(start) && !start.includes('\n');
}

function startOfPacket(error: Error): string {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined;
  return Buffer.isBuffer(packet) ? packet.toString('latin1', 0, LOOKED_AT) : '';
}
