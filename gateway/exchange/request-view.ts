// A request without its transport: fields, target and authority, each parsed once.
import type { ClientCertificate } from '../policy/authentication/access.ts';
import type { FieldRecord, Fields } from '../policy/contract.ts';
import { decodeUnreserved, octetTable, replaceOctets } from '../policy/octets.ts';

/** Methods this gateway implements. Other methods get 501 (FWD-15). */
export const OFFERED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Reads the header record of Node without copying it. */
export class RecordFields implements Fields {
  forwarded: unknown = undefined;
  private readonly record: FieldRecord;

  constructor(record: FieldRecord = {}) {
    this.record = record;
  }

  get(name: string): string | undefined {
    const value = this.record[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }

  each(visit: (name: string, value: string) => void): void {
    for (const name in this.record) {
      const value = this.record[name];
      if (typeof value === 'object') for (const line of value) visit(name, line);
      else if (value !== undefined) visit(name, value);
    }
  }
}

/** The parts of a request that every response needs. For a request refused by the listener, all that is known of it. */
export interface RequestGlimpse {
  readonly scheme: 'https' | 'http';
  readonly headers: Fields;
  /** As in the view. Undefined if it was not parsed. */
  readonly host?: string;
  readonly path?: string;
}

export interface RequestView extends RequestGlimpse {
  readonly method: string;
  /** Lower-case names of the fields that are not forwarded because of a `_` in their name (SMG-25). */
  readonly underscored?: readonly string[] | undefined;
  /** Host of the authority, lower case, without port (IPv6 in brackets). */
  readonly host: string;
  /** The certificate of the connection does not cover `host`. Never set if the connection has no certificate. */
  readonly misdirected?: boolean;
  readonly webSocket?: boolean;
  /** Normalised by VER-7 with percent-encoding kept, starts with `/`. The gateway forwards the same bytes (ORD-2). */
  readonly path: string;
  /** The bytes from `?` on, verbatim; empty without `?`. */
  readonly search: string;
  /** The client behind trusted proxies; a limit uses the /64 of an IPv6 address. */
  readonly clientAddress: string;
  /** A trusted proxy sent the request, with its own forwarding fields. */
  readonly viaTrusted?: boolean;
  readonly requestId: string;
  readonly trace?: Trace | undefined;
  /** Verified certificate of a client that is connected directly, without a proxy. */
  readonly clientCertificate?: ClientCertificate | undefined;
}

export type RequestTarget =
  | {
      readonly kind: 'resource';
      /** Unreserved characters decoded, hex digits in upper case, starts with `/`. */
      readonly path: string;
      /** From `?` on, verbatim; empty without `?`. */
      readonly search: string;
      /** Set for an absolute-form target: its authority replaces Host (SMG-7). */
      readonly absolute: { readonly scheme: 'https' | 'http'; readonly authority: string } | undefined;
    }
  /** `OPTIONS *`, which addresses the gateway itself (SMG-8). */
  | { readonly kind: 'server' }
  | { readonly kind: 'malformed'; readonly message: string };

const VISIBLE_ASCII = /^[\x21-\x7e]*$/;
const ABSOLUTE = /^http(s?):\/\/([^/?]*)/i;
// A path that needs no decoding and contains no dot segments.
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~!$&'()*+,=:@-][A-Za-z0-9._~!$&'()*+,=:@-]*)*\/?$/;
const ASCII_DECODED = octetTable((character, octet) => (octet < 0x80 ? character : undefined));
const ENCODED_CONTROL_OR_BACKSLASH = /%(?:[01][0-9A-F]|7F|5C)/i;
const DOT_SEGMENT = /[/\\]\.{1,2}(?:[/\\;?# ]|%(?:85|A0)|$)/i;
// ASCII in overlong UTF-8. It is invalid, but some decoders read a dot or a slash from it.
const OVERLONG = /%C[01]%[89AB]|%E0%[89]|%F0%8/i;
/** A URL nested in a URL nested in a URL is encoded three times. Each level costs one pass over the path. */
const MAX_DECODINGS = 8;

const malformed = (message: string): RequestTarget => ({ kind: 'malformed', message });

export function readTarget(target: string, method: string): RequestTarget {
  if (target === '*') {
    return method === 'OPTIONS' ? { kind: 'server' } : malformed('The target * is only for OPTIONS.');
  }
  let rest = target;
  let absolute: Extract<RequestTarget, { kind: 'resource' }>['absolute'];
  if (!target.startsWith('/')) {
    const [start, secure, authority] = ABSOLUTE.exec(target) ?? [];
    if (start === undefined || authority === undefined)
      return malformed('The request target must be a path.');
    absolute = { scheme: secure === '' ? 'http' : 'https', authority };
    rest = target.slice(start.length);
    if (!rest.startsWith('/')) rest = `/${rest}`;
  }
  if (!VISIBLE_ASCII.test(rest) || rest.includes('#')) {
    return malformed('The request target contains a character that is not allowed.');
  }
  const mark = rest.indexOf('?');
  const raw = mark < 0 ? rest : rest.slice(0, mark);
  const search = mark < 0 ? '' : rest.slice(mark);
  if (PLAIN_PATH.test(raw)) return { kind: 'resource', path: raw, search, absolute };
  const path = normalised(raw);
  if (path === undefined)
    return malformed('The request path is ambiguous: services may read it in different ways.');
  return { kind: 'resource', path, search, absolute };
}

/** Normalises by RFC 3986 §6.2.2. Undefined if VER-7 refuses the path. */
function normalised(raw: string): string | undefined {
  if (raw.startsWith('//') || raw.includes('\\') || /%(?![0-9A-Fa-f]{2})/.test(raw)) return undefined;
  const path = decodeUnreserved(raw);
  return mayBeReadOtherwise(path) ? undefined : path;
}

/**
 * Looks for control characters, backslashes, `.` and `..` as any later parser might find them: after more decodings, in
 * overlong UTF-8, with either slash, or before `;`, `?`, `#` or a blank. Also true if the path needs too many
 * decodings.
 */
function mayBeReadOtherwise(path: string): boolean {
  let read = path;
  for (let decodings = 0; decodings < MAX_DECODINGS; decodings += 1) {
    if (DOT_SEGMENT.test(read) || OVERLONG.test(read) || ENCODED_CONTROL_OR_BACKSLASH.test(read)) return true;
    const again = replaceOctets(read, ASCII_DECODED);
    if (again === read) return false;
    read = again;
  }
  return true;
}

// A name or IPv4 address, or an IPv6 address in brackets. No user information, no percent-encoding.
const AUTHORITY = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?$/;

export interface Authority {
  /** Lower case, without port. */
  readonly host: string;
  /** Lower case, with the port as sent. */
  readonly full: string;
}

/** Undefined if it is not a plain `host[:port]` (SMG-6). */
export function readAuthority(value: string): Authority | undefined {
  const match = AUTHORITY.exec(value);
  if (match?.[1] === undefined) return undefined;
  if (match[2] !== undefined && Number(match[2]) > 65_535) return undefined;
  const full = value.toLowerCase();
  return { host: match[2] === undefined ? full : match[1].toLowerCase(), full };
}

/** Compares two authorities without the default port of the scheme (H2-1). */
export function sameAuthority(one: Authority, other: Authority, scheme: 'https' | 'http'): boolean {
  const suffix = scheme === 'https' ? /:443$/ : /:80$/;
  return one.full.replace(suffix, '') === other.full.replace(suffix, '');
}

/** TLS-4. Names are lower case, `*.` matches one label, `host` has no port. */
export function coversHost({ names }: { readonly names: readonly string[] }, host: string): boolean {
  const name = host.startsWith('[') ? host.slice(1, -1) : host;
  return names.includes(name) || names.includes(wildcardOf(name));
}

export function wildcardOf(name: string): string {
  return name.replace(/^[^.]+/, '*');
}

export interface Trace {
  readonly traceId: string;
  /** For the upstream: the gateway's own span if it has one, else the client's value. */
  readonly traceparent: string;
  readonly tracestate: string | undefined;
}
