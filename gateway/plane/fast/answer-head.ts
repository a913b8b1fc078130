// Parses the head of an upstream's response, strictly by RFC 9112.

import { fieldName, hashed, TOKEN } from './field-names.ts';

/** Framing of the body (RFC 9112 §6.3): octets, chunked, or up to the end of the connection. */
export type Framing = number | 'chunked' | 'to-end';

export interface AnswerHead {
  readonly status: number;
  /** By lower-case name. Repeated fields keep their order. */
  readonly headers: Record<string, string | string[]>;
  readonly framing: Framing;
  /** Another response may follow on the connection. */
  readonly keepsAlive: boolean;
  readonly octets: number;
}

const MAX_HEAD = 64 * 1_024;
const END = Buffer.from('\r\n\r\n', 'latin1');
const BEGINNING = 'HTTP/1.';
const STATUS_END = 'HTTP/1.1 200'.length;
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const BLANK = 0x20;
const ZERO = 0x30;
const COLON = 0x3a;
/** Octets allowed in field values and reason phrases (RFC 9110 §5.5). */
const VALUE = new Uint8Array(256)
  .fill(1, TAB, TAB + 1)
  .fill(1, BLANK, 0x7f)
  .fill(1, 0x80);
/** Invalid octets, a CR without LF, or an LF without CR. */
const UNREADABLE = /[^\t\r\n\x20-\x7e\x80-\xff]|(?:^|[^\r])\n|\r(?!\n|$)/;
const LENGTH = /^\d{1,15}$/;
const CLOSES = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const STAYS = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i;

/** `code`: one that upstream/fault-mapping.ts maps. */
function broken(why: string, code = 'HPE_INVALID'): Error {
  return Object.assign(new Error(why), { code });
}

/** Has no inherited properties, so that a field name never finds one. */
class ResponseFields {
  [name: string]: string | string[];
}
Object.setPrototypeOf(ResponseFields.prototype, null);
Reflect.deleteProperty(ResponseFields.prototype, 'constructor');

/**
 * Parses the head in bytes[from, to). Undefined: incomplete, and valid so far.
 * @throws Error `HPE_…` for a malformed head
 */
export function readAnswerHead(bytes: Buffer, from: number, to: number): AnswerHead | undefined {
  const found = bytes.indexOf(END, from);
  if (found < 0 || found + END.length > to) {
    const part = bytes.toString('latin1', from, to);
    const begins = part.length < BEGINNING.length ? BEGINNING.startsWith(part) : part.startsWith(BEGINNING);
    if (!begins || UNREADABLE.test(part)) throw broken('the answer is not in the form of HTTP/1.1');
    if (part.length > MAX_HEAD) throw broken('the head of the answer is too large', 'HPE_HEADER_OVERFLOW');
    // Refuses a malformed line as soon as it is complete, before the end of the head.
    const lines = part.lastIndexOf('\r\n') + 2;
    if (lines >= 2) parse(bytes, from, from + lines, lines);
    return undefined;
  }
  const octets = found + END.length - from;
  if (octets > MAX_HEAD) throw broken('the head of the answer is too large', 'HPE_HEADER_OVERFLOW');
  return parse(bytes, from, found + 2, octets);
}

/** bytes[from, end) has complete lines only. `octets`: length of the head. */
function parse(bytes: Buffer, from: number, end: number, octets: number): AnswerHead {
  const text = bytes.toString('latin1', from, end);
  const status = statusOf(text);
  let at = from + STATUS_END;
  while (VALUE[bytes[at] ?? 0] === 1) at += 1;
  if (status === 0 || !endsLine(bytes, at)) throw broken('the status line is malformed');
  at += 2;
  const headers = new ResponseFields();
  while (at < end) {
    const nameStart = at;
    let hash = 0;
    let octet = TOKEN[bytes[at] ?? 0] ?? 0;
    while (octet !== 0) {
      hash = hashed(hash, octet);
      at += 1;
      octet = TOKEN[bytes[at] ?? 0] ?? 0;
    }
    if (at === nameStart || bytes[at] !== COLON) throw broken('a field name is malformed');
    const { name } = fieldName(bytes, nameStart, at, hash);
    do at += 1;
    while (isBlank(bytes[at]));
    const start = at;
    while (VALUE[bytes[at] ?? 0] === 1) at += 1;
    if (!endsLine(bytes, at)) throw broken('a field value is malformed');
    let stop = at;
    while (stop > start && isBlank(bytes[stop - 1])) stop -= 1;
    const value = text.slice(start - from, stop - from);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (typeof before === 'string') headers[name] = [before, value];
    else before.push(value);
    at += 2;
  }
  const isOld = text.charCodeAt(BEGINNING.length) === ZERO;
  const { connection } = headers;
  const options = typeof connection === 'object' ? connection.join(',') : connection;
  const keepsAlive =
    options === undefined
      ? !isOld
      : isOld
        ? STAYS.test(options) && !CLOSES.test(options)
        : !CLOSES.test(options);
  return { status, headers, framing: framingOf(headers, isOld), keepsAlive, octets };
}

/** The status of a valid status line, otherwise 0. The reason phrase is not checked. */
function statusOf(line: string): number {
  if (!line.startsWith(BEGINNING)) return 0;
  const minor = line.charCodeAt(BEGINNING.length);
  const behind = line.charCodeAt(STATUS_END);
  if ((minor !== ZERO && minor !== ZERO + 1) || (behind !== BLANK && behind !== CR)) return 0;
  let status = 0;
  for (let at = STATUS_END - 3; at < STATUS_END; at += 1) {
    const digit = line.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return 0;
    status = status * 10 + digit;
  }
  return status >= 100 && line.charCodeAt(STATUS_END - 4) === BLANK ? status : 0;
}

function endsLine(bytes: Buffer, at: number): boolean {
  return bytes[at] === CR && bytes[at + 1] === LF;
}

/** SMG-22: exactly one framing field, in its canonical form. */
function framingOf(
  { 'transfer-encoding': coding, 'content-length': length }: ResponseFields,
  isOld: boolean,
): Framing {
  if (coding !== undefined) {
    if (length !== undefined || isOld || typeof coding !== 'string' || coding.toLowerCase() !== 'chunked')
      throw broken('the framing of the answer is malformed');
    return 'chunked';
  }
  if (length === undefined) return 'to-end';
  if (typeof length !== 'string' || !LENGTH.test(length))
    throw broken('the Content-Length of the answer is malformed');
  return Number(length);
}

function isBlank(octet: number | undefined): boolean {
  return octet === BLANK || octet === TAB;
}
