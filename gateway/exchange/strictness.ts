// Checks of a request head that the parsers of Node do not make (SMG-3, 6, 14, 16, 17, 24, 25; H2-3).
import type { Bounds } from '../plan/bounds.ts';
import type { RequestRefusal } from './directive.ts';

/** A received request with the property names of Node. */
export interface RequestHead {
  readonly url?: string | undefined;
  readonly httpVersion: string;
  /** Names and values alternate. */
  readonly rawHeaders: readonly string[];
  readonly headers: Record<string, string | string[] | undefined>;
  underscored?: string[];
}

/** RFC 9113 §6.5.2. */
const HTTP2_FIELD_OVERHEAD = 32;
/** Colon, space and line end. */
const HTTP1_FIELD_OVERHEAD = 4;

// Fields with a single value. Node keeps the first of several or joins them, so this code rejects a second (SMG-17).
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
/** By length and first letter in either case. All singletons differ in these, so other names need no lower-casing. */
const SINGLETON_AT: ReadonlyMap<number, { name: string; bit: number }> = new Map(
  SINGLETONS.map((name, index) => [placeOf(name), { name, bit: 1 << index }]),
);

function placeOf(name: string): number {
  return name.length * 32 + (name.charCodeAt(0) & 31);
}

// H2-3: connection-specific fields make an HTTP/2 message malformed.
const NOT_IN_HTTP2: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

/** RFC 9113 §8.2.1. In HTTP/1 such blanks are not part of the value, and the parser strips them. */
const EDGE_BLANK = /^[ \t]|[ \t]$/;

export type HeadBounds = Pick<Bounds, 'headerBytes' | 'headerFields' | 'targetBytes'>;

const refused = (message: string, status: 400 | 414 | 417 | 431 = 400): RequestRefusal => ({
  reason: 'request_malformed',
  status,
  message,
});

/**
 * Checks the version and the field lines. Undefined if they are valid. Moves names with `_` from `raw.headers` to
 * `raw.underscored`, because some upstreams read `_` as `-` (SMG-25).
 */
export function strictnessRefusal(
  raw: RequestHead,
  isHttp2: boolean,
  bounds: HeadBounds,
): RequestRefusal | undefined {
  // Node's parser accepts `HTTP/2.0` or `HTTP/0.9` in an HTTP/1 request line (SMG-16).
  if (!isHttp2 && raw.httpVersion !== '1.1' && raw.httpVersion !== '1.0') {
    return { reason: 'protocol_version_unsupported' };
  }
  if ((raw.url ?? '').length > bounds.targetBytes) return refused('The request target is too long.', 414);
  const lines = raw.rawHeaders;
  if (lines.length > 2 * bounds.headerFields) return refused('The request has too many header fields.', 431);
  let seen = 0;
  let size = 0;
  const overhead = isHttp2 ? HTTP2_FIELD_OVERHEAD : HTTP1_FIELD_OVERHEAD;
  for (let index = 0; index < lines.length; index += 2) {
    const name = lines[index] ?? '';
    if (isHttp2 && NOT_IN_HTTP2.has(name)) return refused(`${name} is not allowed in HTTP/2.`);
    const value = lines[index + 1] ?? '';
    if (isHttp2 && EDGE_BLANK.test(value)) return refused(`${name} begins or ends with a blank.`);
    if (name === ':path') continue;
    size += name.length + value.length + overhead;
    if (size > bounds.headerBytes) return refused('The header section is too large.', 431);
    if (name.includes('_')) {
      const lower = name.toLowerCase();
      delete raw.headers[lower];
      raw.underscored ??= [];
      raw.underscored.push(lower);
      continue;
    }
    const singleton = SINGLETON_AT.get(placeOf(name));
    if (singleton === undefined || name.toLowerCase() !== singleton.name) continue;
    if ((seen & singleton.bit) !== 0) return refused(`${singleton.name} may be sent only once.`);
    seen |= singleton.bit;
  }
  const coding = raw.headers['transfer-encoding'];
  if (coding !== undefined) {
    if (raw.httpVersion === '1.0') return refused('Transfer-Encoding is not allowed in HTTP/1.0.');
    if (String(coding).toLowerCase() !== 'chunked') return { reason: 'transfer_coding_unknown' };
  }
  if (isHttp2 && raw.headers.te !== undefined && raw.headers.te !== 'trailers') {
    return refused('TE may only be "trailers" in HTTP/2.');
  }
  return undefined;
}

/** FWD-11: the only supported expectation is 100-continue. HTTP/1.0 has no expectations, so Expect is ignored there. */
export function expectationRefusal({ headers, httpVersion }: RequestHead): RequestRefusal | undefined {
  const { expect } = headers;
  if (expect === undefined || httpVersion === '1.0') return undefined;
  return String(expect).toLowerCase() === '100-continue'
    ? undefined
    : refused('The expectation cannot be met.', 417);
}
