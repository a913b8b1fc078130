// Parses what reached the upstream, as a strict server would, and notes everything malformed.
import { type Field, readFieldLines, valuesOf } from './field-lines.ts';

export interface RecordedRequest {
  readonly connection: number;
  /** As received, with the empty line. */
  readonly head: string;
  readonly method: string;
  readonly target: string;
  readonly fields: readonly Field[];
  readonly dirt: readonly string[];
  /** Without framing. */
  readonly body: string;
  readonly complete: boolean;
}

export type ReadRequest = Omit<RecordedRequest, 'connection'>;

const REQUEST_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/1\.[01]$/;
const SINGLETONS = ['host', 'authorization', 'content-type'];
const NEVER_FORWARDED = ['keep-alive', 'proxy-connection', 'proxy-authorization', 'http2-settings'];

export interface Progress {
  readonly request: ReadRequest;
  /** Octets that belong to it. While it is incomplete: all of `text`. */
  readonly used: number;
}

/** The first request of `text` (Latin-1). Undefined while its head is incomplete. */
export function readRequest(text: string): Progress | undefined {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = text.slice(0, end + 4);
  const [first = '', ...lines] = head.slice(0, -4).split('\r\n');
  const { fields, dirt } = readFieldLines(lines);
  const [, method = '', target = ''] = REQUEST_LINE.exec(first) ?? [];
  const framed = readBody(fields, text.slice(end + 4));
  return {
    request: {
      head,
      method,
      target,
      fields,
      dirt: [...dirt, ...requestDirt(first, target, fields), ...framed.dirt],
      body: framed.body,
      complete: framed.used !== undefined,
    },
    used: framed.used === undefined ? text.length : end + 4 + framed.used,
  };
}

function requestDirt(first: string, target: string, fields: readonly Field[]): string[] {
  const dirt: string[] = [];
  if (!REQUEST_LINE.test(first)) dirt.push(`no request line: ${JSON.stringify(first.slice(0, 60))}`);
  else if (!/^(?:\/|\*$|https?:\/\/)/i.test(target)) dirt.push('the target is not a path');
  if (/[^\x21-\x7e]|#/.test(target)) dirt.push('a target with invalid characters');
  const hosts = valuesOf(fields, 'host');
  if (hosts.length !== 1) dirt.push(`${hosts.length} Host lines`);
  if (hosts.some((host) => /[\s/@#?\\]/.test(host))) dirt.push('an invalid Host');
  for (const name of SINGLETONS)
    if (name !== 'host' && valuesOf(fields, name).length > 1) dirt.push(`several ${name} lines`);
  for (const name of NEVER_FORWARDED) if (valuesOf(fields, name).length > 0) dirt.push(`${name} forwarded`);
  if (valuesOf(fields, 'upgrade').some((each) => /h2c/i.test(each))) dirt.push('an upgrade to h2c forwarded');
  return dirt;
}

interface Framed {
  readonly body: string;
  /** The length with framing. Undefined while it is incomplete. */
  readonly used: number | undefined;
  readonly dirt: readonly string[];
}

function readBody(fields: readonly Field[], rest: string): Framed {
  if (valuesOf(fields, 'transfer-encoding').length > 0) return readChunks(rest);
  const length = Number(valuesOf(fields, 'content-length')[0] ?? 0);
  const whole = Number.isSafeInteger(length) && rest.length >= length;
  return { body: rest.slice(0, length), used: whole ? length : undefined, dirt: [] };
}

/** Strictly by RFC 9112 §7.1. */
export function readChunks(text: string): Framed {
  const parts: string[] = [];
  const dirt: string[] = [];
  const stopped = (why?: string): Framed => ({
    body: parts.join(''),
    used: undefined,
    dirt: why === undefined ? dirt : [...dirt, why],
  });
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return stopped();
    const size = text.slice(at, lineEnd);
    if (!/^[0-9a-fA-F]{1,13}$/.test(size))
      return stopped(`a chunk size of ${JSON.stringify(size.slice(0, 30))}`);
    const length = Number.parseInt(size, 16);
    at = lineEnd + 2;
    if (length === 0) {
      if (text.startsWith('\r\n', at)) return { body: parts.join(''), used: at + 2, dirt };
      const trailersEnd = text.indexOf('\r\n\r\n', at);
      if (trailersEnd < 0) return stopped();
      const bad = forbiddenTrailers(text.slice(at, trailersEnd));
      return { body: parts.join(''), used: trailersEnd + 4, dirt: [...dirt, ...bad] };
    }
    parts.push(text.slice(at, at + length));
    if (text.length < at + length + 2) return stopped();
    if (!text.startsWith('\r\n', at + length)) return stopped('a chunk that is longer than it says');
    at += length + 2;
  }
}

// RFC 9110 §6.5.1: fields for framing, routing and credentials are invalid in trailers.
const NEVER_A_TRAILER =
  /^(?:authorization|connection|content-length|cookie|expect|host|te|trailer|transfer-encoding|x-forwarded-.*)$/;

function forbiddenTrailers(text: string): string[] {
  const { fields, dirt } = readFieldLines(text.split('\r\n'));
  const named = fields.map(([name]) => name).filter((name) => NEVER_A_TRAILER.test(name));
  return [...dirt, ...named.map((name) => `a trailer named ${name}`)];
}
