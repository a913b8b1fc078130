// A request as the exchange sees it, transport-free: its fields, its target and its authority, each read once.
import type { ClientCertificate } from '../policy/authentication/access.ts';
import type { FieldRecord, Fields } from '../policy/contract.ts';
import { decodeUnreserved, octetTable, replaceOctets } from '../policy/octets.ts';

/** Methods this gateway implements; any other token is answered 501 (FWD-15). */
export const OFFERED_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Fields read from the record that Node makes of them; nothing is copied. */
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

/** What every answer needs of its request, and all there is of one that was refused before it could be judged. */
export interface RequestGlimpse {
  readonly scheme: 'https' | 'http';
  readonly headers: Fields;
  /** As in the view; undefined where it was not read. */
  readonly host?: string;
  readonly path?: string;
}

export interface RequestView extends RequestGlimpse {
  readonly method: string;
  /** Lower-case names of the fields that are left out because of a `_` in their name (SMG-25). */
  readonly underscored?: readonly string[] | undefined;
  /** Host of the request's authority, lower case, without port (IPv6 in brackets). */
  readonly host: string;
  /** The certificate of the connection is not for `host`. Where there is none, every host may be asked for. */
  readonly misdirected?: boolean;
  readonly webSocket?: boolean;
  /** Normalised by VER-7, percent-encoding kept, always starting with `/`. The same bytes are forwarded (ORD-2). */
  readonly path: string;
  /** The bytes from `?` on, verbatim; empty when there is no `?`. */
  readonly search: string;
  /** The client, after trusted proxies; IPv6 as /64 where it keys a limit. */
  readonly clientAddress: string;
  /** A trusted proxy sent it, which says by its own fields where the client comes from. */
  readonly viaTrusted?: boolean;
  readonly requestId: string;
  /** Trace headers for the upstream. */
  readonly trace?: Trace | undefined;
  /** Proven, of a client that opened the connection itself. */
  readonly clientCertificate?: ClientCertificate | undefined;
}

export type RequestTarget =
  | {
      readonly kind: 'resource';
      /** Unreserved characters decoded, hex in upper case, starts with `/`. */
      readonly path: string;
      /** From `?` on, verbatim; empty without one. */
      readonly search: string;
      /** Of an absolute-form target, whose authority replaces Host (SMG-7). */
      readonly absolute: { readonly scheme: 'https' | 'http'; readonly authority: string } | undefined;
    }
  /** `OPTIONS *`: about the gateway itself (SMG-8). */
  | { readonly kind: 'server' }
  | { readonly kind: 'malformed'; readonly message: string };

const VISIBLE_ASCII = /^[\x21-\x7e]*$/;
const ABSOLUTE = /^http(s?):\/\/([^/?]*)/i;
// A path that needs neither decoding nor a look at its segments.
const PLAIN_PATH = /^(?:\/[A-Za-z0-9_~!$&'()*+,=:@-][A-Za-z0-9._~!$&'()*+,=:@-]*)*\/?$/;
const ASCII_DECODED = octetTable((character, octet) => (octet < 0x80 ? character : undefined));
const ENCODED_CONTROL_OR_BACKSLASH = /%(?:[01][0-9A-F]|7F|5C)/i;
const DOT_SEGMENT = /[/\\]\.{1,2}(?:[/\\;?# ]|%(?:85|A0)|$)/i;
// ASCII written in more octets than it needs: no valid UTF-8, yet some decoders make a dot or a slash of it.
const OVERLONG = /%C[01]%[89AB]|%E0%[89]|%F0%8/i;
/** A URL inside a URL inside a URL is encoded three times; without a bound each level costs a pass over the path. */
const MOST_DECODINGS = 8;

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
    return malformed('The request target holds a character that is not allowed there.');
  }
  const mark = rest.indexOf('?');
  const raw = mark < 0 ? rest : rest.slice(0, mark);
  const search = mark < 0 ? '' : rest.slice(mark);
  if (PLAIN_PATH.test(raw)) return { kind: 'resource', path: raw, search, absolute };
  const path = normalised(raw);
  if (path === undefined)
    return malformed('The request path is not in a form that can be read one way only.');
  return { kind: 'resource', path, search, absolute };
}

/** RFC 3986 §6.2.2, or undefined for what VER-7 refuses. */
function normalised(raw: string): string | undefined {
  if (raw.startsWith('//') || raw.includes('\\') || /%(?![0-9A-Fa-f]{2})/.test(raw)) return undefined;
  const path = decodeUnreserved(raw);
  return mayBeReadOtherwise(path) ? undefined : path;
}

/**
 * Looks for control characters, backslashes, and for `.` and `..`, as any later reader might: after further decodings, in
 * overlong UTF-8, with either slash, before a `;`, `?`, `#` or blank. True also for what would have to be decoded too often to tell.
 */
function mayBeReadOtherwise(path: string): boolean {
  let read = path;
  for (let decodings = 0; decodings < MOST_DECODINGS; decodings += 1) {
    if (DOT_SEGMENT.test(read) || OVERLONG.test(read) || ENCODED_CONTROL_OR_BACKSLASH.test(read)) return true;
    const again = replaceOctets(read, ASCII_DECODED);
    if (again === read) return false;
    read = again;
  }
  return true;
}

// A name or an IPv4 address, or a bracketed IPv6 address; no user information, no percent-encoding.
const AUTHORITY = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]{2,45}\])(?::([0-9]{1,5}))?$/;

export interface Authority {
  /** Lower case, without port. */
  readonly host: string;
  /** Lower case, with the port as sent. */
  readonly full: string;
}

/** Undefined when it is not a plain `host[:port]` (SMG-6). */
export function readAuthority(value: string): Authority | undefined {
  const match = AUTHORITY.exec(value);
  if (match?.[1] === undefined) return undefined;
  if (match[2] !== undefined && Number(match[2]) > 65_535) return undefined;
  const full = value.toLowerCase();
  return { host: match[2] === undefined ? full : match[1].toLowerCase(), full };
}

/** Whether two authorities name the same place once the scheme's default port is left out (H2-1). */
export function sameAuthority(one: Authority, other: Authority, scheme: 'https' | 'http'): boolean {
  const suffix = scheme === 'https' ? /:443$/ : /:80$/;
  return one.full.replace(suffix, '') === other.full.replace(suffix, '');
}

/** Whether a certificate for `names` (lower case, `*.` matches one label) is for `host`, which has no port (TLS-4). */
export function speaksFor({ names }: { readonly names: readonly string[] }, host: string): boolean {
  const name = host.startsWith('[') ? host.slice(1, -1) : host;
  return names.includes(name) || names.includes(wildcardOf(name));
}

export function wildcardOf(name: string): string {
  return name.replace(/^[^.]+/, '*');
}

export interface Trace {
  readonly traceId: string;
  /** What the upstream gets: the gateway's own place in the trace where it has one, else the client's. */
  readonly traceparent: string;
  /** Of the vendors before us, verbatim; undefined where there is none. */
  readonly tracestate: string | undefined;
}
