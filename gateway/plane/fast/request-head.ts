// Parses request heads in their plainest form. Node's parser gets everything else, and reads alike what this parser accepts.
import { RecordFields } from '../../exchange/request-view.ts';
import type { HeadBounds } from '../../exchange/strictness.ts';
import { FIELD_RULE, type FieldName, fieldName, hashed, TOKEN } from './field-names.ts';
import { KnownSections } from './known-sections.ts';
import { methodOf } from './request-method.ts';

/** The fields of a request. Requests with identical field octets may share one object. */
export interface FieldSection {
  /** By lower-case name, as Node's parser returns them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: RecordFields;
  /** Lower-case names with `_`, whose fields are dropped (SMG-25). */
  readonly underscored: readonly string[] | undefined;
  /** Content-Length. -1: chunked. Undefined: no framing. */
  readonly body: number | undefined;
  readonly keepsAlive: boolean;
  readonly expectsContinue: boolean;
}

export interface FastHead extends FieldSection {
  readonly method: string;
  /** The received target, in origin form. */
  readonly url: string;
  readonly httpVersion: '1.1';
  /** Length of the head. */
  readonly octets: number;
}

const SPACE = 0x20;
const CR = 0x0d;
const LF = 0x0a;
const COLON = 0x3a;
const SLASH = 0x2f;
const VERSION = Buffer.from('HTTP/1.1\r\n', 'latin1');
const VERSION_LENGTH = VERSION.length;
/** Octets allowed in a target, and in a field value: space and visible ASCII. */
const TARGET = new Uint8Array(256).fill(1, 0x21, 0x7f).fill(0, 0x23, 0x24);
const VALUE = new Uint8Array(256).fill(1, 0x20, 0x7f);
/** The colon, a space and the end of the line, as in exchange/strictness.ts. */
const FIELD_OVERHEAD = 4;
const CHUNKED = -1;
const LENGTH = /^\d{1,15}$/;
const TOKENS = /^[\w!#$%&'*+.^`|~-]+(?: ?, ?[\w!#$%&'*+.^`|~-]+)*$/;

/** Has no inherited properties, so that `__proto__` is a name like any other. */
class RequestFields {
  [name: string]: string;
}
Object.setPrototypeOf(RequestFields.prototype, null);
delete (RequestFields.prototype as { constructor?: unknown }).constructor;

export type ReadHead = (bytes: Buffer) => FastHead | 'partial' | 'other';

/**
 * Creates a parser of the head at the start of a buffer. `partial`: valid so far, but incomplete. `other`: for Node's
 * parser. Accepts only heads that Node's parser in its strictest mode and exchange/strictness.ts accept.
 */
export function createHeadReader(bounds: HeadBounds): ReadHead {
  const known = new KnownSections<FieldSection>();
  return (bytes) => {
    const method = methodOf(bytes);
    if (method === 'partial' || method === 'other') return method;
    const target = method.length + 1;
    let at = target;
    const end = bytes.length;
    while (at < end && TARGET[bytes[at] ?? 0] === 1) at += 1;
    if (at - target > bounds.targetBytes || (target < end && bytes[target] !== SLASH)) return 'other';
    if (at === end) return 'partial';
    if (bytes[at] !== SPACE) return 'other';
    const targetEnd = at;
    at += 1;
    for (let index = 0; index < VERSION_LENGTH; index += 1, at += 1) {
      if (at === end) return 'partial';
      if (bytes[at] !== VERSION[index]) return 'other';
    }
    const text = known.textOf(bytes, at);
    let section = text === undefined ? undefined : known.get(text);
    let octets = at + (text?.length ?? 0);
    if (section === undefined) {
      const marked = markFields(bytes, at, bounds);
      if (marked === 'other') return marked;
      const isPartial = marked.end === PARTIAL;
      const read = collect(bytes.toString('latin1', at, isPartial ? end : marked.end), at, marked);
      if (read === 'other' || isPartial) return read === 'other' ? read : 'partial';
      if (read.headers.host === undefined) return 'other';
      if (text !== undefined) known.set(text, read);
      section = read;
      octets = marked.end;
    }
    const url = bytes.toString('latin1', target, targetEnd);
    return {
      method,
      url,
      httpVersion: '1.1',
      headers: section.headers,
      fields: section.fields,
      underscored: section.underscored,
      body: section.body,
      keepsAlive: section.keepsAlive,
      expectsContinue: section.expectsContinue,
      octets,
    };
  };
}

/** Names and offsets of the fields of the current head. Shared, because one head is parsed at a time. */
const names: FieldName[] = [];
const starts: number[] = [];
const ends: number[] = [];

interface Marked {
  readonly count: number;
  /** Offset after the empty line. PARTIAL: it has not arrived. */
  readonly end: number;
}

const PARTIAL = -1;

function markFields(bytes: Buffer, from: number, bounds: HeadBounds): Marked | 'other' {
  const { length } = bytes;
  let at = from;
  let count = 0;
  let size = 0;
  for (;;) {
    const nameStart = at;
    let hash = 0;
    let octet = TOKEN[bytes[at] ?? 0] ?? 0;
    while (octet !== 0) {
      hash = hashed(hash, octet);
      at += 1;
      octet = TOKEN[bytes[at] ?? 0] ?? 0;
    }
    const nameEnd = at;
    if (size + nameEnd - nameStart > bounds.headerBytes) return 'other';
    if (at === length) return { count, end: PARTIAL };
    if (nameEnd === nameStart) break;
    if (bytes[at] !== COLON) return 'other';
    at += 1;
    if (bytes[at] === SPACE) at += 1;
    const start = at;
    while (VALUE[bytes[at] ?? 0] === 1) at += 1;
    size += nameEnd - nameStart + at - start + FIELD_OVERHEAD;
    if (size > bounds.headerBytes || count === bounds.headerFields) return 'other';
    if (bytes[start] === SPACE) return 'other';
    if (at === length) return { count, end: PARTIAL };
    if (bytes[at] !== CR || (at > start && bytes[at - 1] === SPACE)) return 'other';
    if (at + 1 === length) return { count, end: PARTIAL };
    if (bytes[at + 1] !== LF) return 'other';
    names[count] = fieldName(bytes, nameStart, nameEnd, hash);
    starts[count] = start;
    ends[count] = at;
    count += 1;
    at += 2;
  }
  if (bytes[at] !== CR) return 'other';
  if (at + 1 === length) return { count, end: PARTIAL };
  return bytes[at + 1] === LF ? { count, end: at + 2 } : 'other';
}

/** `text`: the section, which begins at offset `from`. */
function collect(text: string, from: number, { count }: Marked): FieldSection | 'other' {
  const headers = new RequestFields();
  let underscored: string[] | undefined;
  let body: number | undefined;
  let keepsAlive = true;
  let expectsContinue = false;
  for (let index = 0; index < count; index += 1) {
    const field = names[index] as FieldName;
    const { name, rule } = field;
    const value = text.slice((starts[index] ?? 0) - from, (ends[index] ?? 0) - from);
    if (field.hasUnderscore) {
      underscored ??= [];
      underscored.push(name);
      continue;
    }
    const before = headers[name];
    if (before !== undefined) {
      if (rule !== FIELD_RULE.list) return 'other';
      headers[name] = `${before}, ${value}`;
      continue;
    }
    headers[name] = value;
    switch (rule) {
      case FIELD_RULE.length:
        if (!LENGTH.test(value)) return 'other';
        body = Number(value);
        break;
      case FIELD_RULE.coding:
        if (value.toLowerCase() !== 'chunked') return 'other';
        body = CHUNKED;
        break;
      case FIELD_RULE.connection: {
        const tokens = value.toLowerCase();
        if (tokens === 'keep-alive') break;
        if (!TOKENS.test(tokens) || /(?:^|[ ,])upgrade(?:[ ,]|$)/.test(tokens)) return 'other';
        keepsAlive = !/(?:^|[ ,])close(?:[ ,]|$)/.test(tokens);
        break;
      }
      case FIELD_RULE.expect:
        if (value.toLowerCase() !== '100-continue') return 'other';
        expectsContinue = true;
        break;
      case FIELD_RULE.never:
        return 'other';
      default:
    }
  }
  const isFramedTwice = headers['content-length'] !== undefined && headers['transfer-encoding'] !== undefined;
  if (isFramedTwice) return 'other';
  const fields = new RecordFields(headers);
  return { headers, fields, underscored, body, keepsAlive, expectsContinue };
}
