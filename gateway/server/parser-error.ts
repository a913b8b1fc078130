// What Node's HTTP parser or its clock refused, as a refusal of ours (SMG-15, SMG-24, FWD-15).
// Node would answer nearly all of it with a bare 400.
import type { RequestRefusal } from '../exchange/directive.ts';

const TOKEN_AND_SPACE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ /;

/** Undefined when the connection broke, or never came to be, and nobody is there to answer. */
export function parserRefusal(error: Error): RequestRefusal | undefined {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'HPE_INVALID_EOF_STATE':
      return undefined;
    case 'HPE_INVALID_VERSION':
      return { reason: 'protocol_version_unsupported' };
    case 'HPE_INVALID_METHOD':
      // Only a well-formed token is a method that is not supported; anything else is noise.
      return startsWithToken(error) ? { reason: 'method_unknown', method: '-' } : malformed(400);
    case 'HPE_HEADER_OVERFLOW':
      return malformed(431, 'The header section is too large.');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return malformed(413, 'The chunk extensions are too large.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return malformed(408, 'The request did not arrive in time.');
    default:
      // What is left are resets and handshakes that failed: no request, and nobody who could read an answer.
      return typeof code === 'string' && code.startsWith('HPE_') ? malformed(400) : undefined;
  }
}

function malformed(status: 400 | 408 | 413 | 431, message = 'The request is malformed.'): RequestRefusal {
  return { reason: 'request_malformed', status, message };
}

function startsWithToken(error: Error): boolean {
  const packet = 'rawPacket' in error ? error.rawPacket : undefined;
  return Buffer.isBuffer(packet) && TOKEN_AND_SPACE.test(packet.toString('latin1', 0, 64).trimStart());
}
