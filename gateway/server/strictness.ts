// What Node's parser lets through and this gateway does not (SMG-3, 6, 14, 16, 17, 24, 25; H2-3).
// Runs on the raw field lines of every request before anything else reads them.
import type { IncomingMessage } from 'node:http';
import type { RequestRefusal } from '../exchange/directive.ts';

/** Most field lines in one request. */
export const MOST_FIELDS = 256;
/** Octets of request line and header section together, in HTTP/2 with the 32 per field of RFC 9113 §6.5.2. */
export const MOST_HEADER_BYTES = 16_384;
const HTTP2_FIELD_OVERHEAD = 32;

// Fields with one value. Node keeps the first of these silently, so a second must be seen here (SMG-17).
// If-Match and If-None-Match are lists and may be repeated.
const SINGLETONS: readonly string[] = [
  'host',
  'authorization',
  'content-type',
  'content-length',
  'transfer-encoding',
  'if-modified-since',
  'if-unmodified-since',
  'if-range',
  'range',
  'expect',
  'origin',
  'referer',
  'user-agent',
  'from',
  'max-forwards',
  'proxy-authorization',
  'idempotency-key',
];
const SINGLETON_BIT: ReadonlyMap<string, number> = new Map(
  SINGLETONS.map((name, index) => [name, 1 << index]),
);

// H2-3: connection-specific fields make an HTTP/2 message malformed.
const NOT_IN_HTTP2: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

const refused = (message: string, status: 400 | 431 = 400): RequestRefusal => ({
  reason: 'request_malformed',
  status,
  message,
});

/**
 * Judges version and field lines; undefined when they are in order.
 * Removes from `raw.headers` the names with `_`, which some upstreams read as `-` (SMG-25).
 */
export function strictnessRefusal(raw: IncomingMessage, isHttp2: boolean): RequestRefusal | undefined {
  // `HTTP/2.0` or `HTTP/0.9` in an HTTP/1 request line is accepted by the parser (SMG-16).
  if (!isHttp2 && raw.httpVersion !== '1.1' && raw.httpVersion !== '1.0') {
    return { reason: 'protocol_version_unsupported' };
  }
  const lines = raw.rawHeaders;
  if (lines.length > 2 * MOST_FIELDS) return refused('The request has too many header fields.', 431);
  let seen = 0;
  let size = 0;
  for (let index = 0; index < lines.length; index += 2) {
    const name = (lines[index] ?? '').toLowerCase();
    if (isHttp2) {
      if (NOT_IN_HTTP2.has(name)) return refused(`${name} has no meaning in HTTP/2.`);
      // nghttp2 only tells clients this limit and takes four times as much; HTTP/1's parser keeps its own.
      size += name.length + (lines[index + 1] ?? '').length + HTTP2_FIELD_OVERHEAD;
      if (size > MOST_HEADER_BYTES) return refused('The header section is too large.', 431);
    }
    if (name.includes('_')) {
      delete raw.headers[name];
      continue;
    }
    const bit = SINGLETON_BIT.get(name);
    if (bit === undefined) continue;
    if ((seen & bit) !== 0) return refused(`${name} may be sent only once.`);
    seen |= bit;
  }
  const coding = raw.headers['transfer-encoding'];
  if (coding !== undefined) {
    if (raw.httpVersion === '1.0') return refused('Transfer-Encoding has no meaning in HTTP/1.0.');
    if (coding.toLowerCase() !== 'chunked') return { reason: 'transfer_coding_unknown' };
  }
  if (isHttp2 && raw.headers.te !== undefined && raw.headers.te !== 'trailers') {
    return refused('TE may only say trailers in HTTP/2.');
  }
  return undefined;
}
