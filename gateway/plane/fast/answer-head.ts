// Reads the head of an upstream's answer, strictly: what is not in the form of RFC 9112 is no answer.
// Used by upstream-connection.ts; what a client may see of it is up to upstream/response-headers.ts.

/** The body that follows (RFC 9112 §6.3), where the request lets one follow: octets, chunked, or up to the end of the connection. */
export type Framing = number | 'chunked' | 'to-end';

export interface AnswerHead {
  readonly status: number;
  /** By lower-case name; repeated ones in their order. */
  readonly headers: Record<string, string | string[]>;
  readonly framing: Framing;
  /** Another answer may follow on the connection. */
  readonly keepsAlive: boolean;
  /** Octets of all of it. */
  readonly octets: number;
}

/** Octets of a head. */
export const MOST_HEAD = 64 * 1_024;
const END = Buffer.from('\r\n\r\n', 'latin1');
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/;
const BEGINNING = 'HTTP/1.';
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What stands in no line, and a line end that is none. */
const UNREADABLE = /[^\t\r\n\x20-\x7e\x80-\xff]|(?:^|[^\r])\n|\r(?!\n|$)/;
const LENGTH = /^\d{1,15}$/;
const CLOSES = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i;
const STAYS = /(?:^|,)[ \t]*keep-alive[ \t]*(?:,|$)/i;

/** Lower-case names by the spelling of an upstream; what is there is a name. */
const spellings = new Map<string, string>();
const MOST_SPELLINGS = 1_024;

/** A code that upstream/fault-mapping.ts knows. */
function broken(why: string, code = 'HPE_INVALID'): Error {
  return Object.assign(new Error(why), { code });
}

/** By name without inherited ones. */
class Headers {
  [name: string]: string | string[];
}
Object.setPrototypeOf(Headers.prototype, null);
Reflect.deleteProperty(Headers.prototype, 'constructor');

/**
 * Reads the head in bytes[from, to); undefined: it goes on, and what has come of it may be one.
 * @throws Error `HPE_…` for what is no answer
 */
export function readAnswerHead(bytes: Buffer, from: number, to: number): AnswerHead | undefined {
  const found = bytes.indexOf(END, from);
  if (found < 0 || found + END.length > to) {
    const part = bytes.toString('latin1', from, to);
    const begins = part.length < BEGINNING.length ? BEGINNING.startsWith(part) : part.startsWith(BEGINNING);
    if (!begins || UNREADABLE.test(part)) throw broken('the answer is not in the form of HTTP/1.1');
    if (part.length > MOST_HEAD) throw broken('the head of the answer is too large', 'HPE_HEADER_OVERFLOW');
    // What is wrong with a line is told once it is here.
    const lines = part.lastIndexOf('\r\n') + 2;
    if (lines >= 2) parse(part.slice(0, lines), lines);
    return undefined;
  }
  const octets = found + END.length - from;
  if (octets > MOST_HEAD) throw broken('the head of the answer is too large', 'HPE_HEADER_OVERFLOW');
  return parse(bytes.toString('latin1', from, found + 2), octets);
}

function parse(text: string, octets: number): AnswerHead {
  let at = text.indexOf('\r\n');
  const [, minor, code] = STATUS_LINE.exec(text.slice(0, at)) ?? [];
  if (code === undefined) throw broken('the status line is malformed');
  at += 2;
  const headers = new Headers();
  while (at < text.length) {
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    if (colon < 0 || colon > end) throw broken('a field line is malformed');
    const name = nameOf(text.slice(at, colon));
    const value = trimmed(text, colon + 1, end);
    const before = headers[name];
    if (before === undefined) headers[name] = value;
    else if (typeof before === 'string') headers[name] = [before, value];
    else before.push(value);
    at = end + 2;
  }
  const isOld = minor === '0';
  const { connection } = headers;
  const said = typeof connection === 'object' ? connection.join(',') : connection;
  const keepsAlive =
    said === undefined ? !isOld : isOld ? STAYS.test(said) && !CLOSES.test(said) : !CLOSES.test(said);
  return { status: Number(code), headers, framing: framingOf(headers, isOld), keepsAlive, octets };
}

/** SMG-22: one framing, in one form. */
function framingOf(
  { 'transfer-encoding': coding, 'content-length': length }: Headers,
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

function nameOf(spelling: string): string {
  const known = spellings.get(spelling);
  if (known !== undefined) return known;
  if (!NAME.test(spelling)) throw broken('a field name is malformed');
  const name = spelling.toLowerCase();
  // A copy: a piece of the head would keep all of it.
  if (spellings.size < MOST_SPELLINGS)
    spellings.set(Buffer.from(spelling, 'latin1').toString('latin1'), name);
  return name;
}

const BLANK = 0x20;
const TAB = 0x09;

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  const value = text.slice(start, end);
  if (!VALUE.test(value)) throw broken('a field value is malformed');
  return value;
}

function isBlank(code: number): boolean {
  return code === BLANK || code === TAB;
}
