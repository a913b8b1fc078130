// What Node's HTTP parser or its clock refused, as a refusal of ours (SMG-15, SMG-24, FWD-15).
// Node would answer nearly all of it with a bare 400.
import type { RequestRefusal } from '../../../exchange/directive.ts';

/** Octets of a packet: a request line that ends within them is not what was too long. */
const LOOKED_AT = 8_000;
const TOKEN_AND_SPACE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ /;

/** Undefined when the connection broke, or never came to be, and nobody is there to answer. */
export function parserRefusal(error: Error): RequestRefusal | undefined {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'HPE_INVALID_EOF_STATE':
      return undefined;
    case 'HPE_INVALID_VERSION':
      // Also what it says of a line that ends in a bare LF, or in spaces: no other version was asked for (SMG-11).
      return reasonOf(error) === 'Invalid HTTP version'
        ? { reason: 'protocol_version_unsupported' }
        : malformed(400);
    case 'HPE_INVALID_METHOD':
      // Only a well-formed token is a method that is not supported; anything else is noise.
      return startsWithToken(error) ? { reason: 'method_unknown', method: '-' } : malformed(400);
    case 'HPE_HEADER_OVERFLOW':
      return endlessTarget(error)
        ? malformed(414, 'The request target is too long.')
        : malformed(431, 'The header section is too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return malformed(413, 'The chunk extensions are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return malformed(408, 'The request did not arrive in time.');
    default:
      // What is left are resets and handshakes that failed: no request, and nobody who could read an answer.
      return typeof code === 'string' && code.startsWith('HPE_') ? malformed(400) : undefined;
  }
}

function malformed(
  status: 400 | 408 | 413 | 414 | 431,
  message = 'The request is malformed.',
): RequestRefusal {
  return { reason: 'request_malformed', status, message };
}

function startsWithToken(error: Error): boolean {
  return TOKEN_AND_SPACE.test(startOfPacket(error).trimStart());
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

function reasonOf(error: Error): unknown {
  return 'reason' in error ? error.reason : undefined;
}
