// Writes and reads HTTP/2 frames as octets, without the checks of a library (RFC 9113 §4, RFC 7541 §6.2.2).
import type { Spot } from './spot.ts';

export type Fields = readonly (readonly [name: string, value: string])[];

const TYPE = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7 } as const;
const END_STREAM = 1;
const END_HEADERS = 4;

export function frame(type: number, flags: number, stream: number, payload: string): string {
  const { length } = payload;
  const head = [
    length >> 16,
    length >> 8,
    length,
    type,
    flags,
    stream >> 24,
    stream >> 16,
    stream >> 8,
    stream,
  ];
  return String.fromCharCode(...head.map((octet) => octet & 0xff)) + payload;
}

/** A string literal without Huffman coding. Its length has a prefix of seven bits (RFC 7541 §5.1). */
function literal(text: string): string {
  if (text.length < 127) return String.fromCharCode(text.length) + text;
  let octets = '\x7f';
  let rest = text.length - 127;
  for (; rest >= 128; rest >>= 7) octets += String.fromCharCode((rest & 0x7f) | 0x80);
  return octets + String.fromCharCode(rest) + text;
}

export const OPENING = `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${frame(TYPE.settings, 0, 0, '')}`;
export const ACKNOWLEDGED = frame(TYPE.settings, 1, 0, '');

/** A request on stream 1 with the connection preface. `data`: one frame. `ends`: `data` ends the stream. */
export function request(fields: Fields, data?: string, ends = true): string {
  const block = fields.map(([name, value]) => `\0${literal(name)}${literal(value)}`).join('');
  const flags = END_HEADERS | (data === undefined ? END_STREAM : 0);
  const body = data === undefined ? '' : frame(TYPE.data, ends ? END_STREAM : 0, 1, data);
  return OPENING + frame(TYPE.headers, flags, 1, block) + body;
}

export const pseudo = (w: Spot, method = 'GET'): Fields => [
  [':method', method],
  [':scheme', 'https'],
  [':authority', w.host],
  [':path', w.path],
];

export interface Http2Progress {
  /** 0 before the head of the response. */
  readonly status: number;
  readonly body: string;
  readonly complete: boolean;
  /** The stream was reset, or the connection is about to close. */
  readonly broken: boolean;
  /** The server's settings have arrived and need an acknowledgement. */
  readonly settings: boolean;
}

export function readFrames(bytes: string): Http2Progress {
  let made: Http2Progress = { status: 0, body: '', complete: false, broken: false, settings: false };
  for (let at = 0; at + 9 <= bytes.length; ) {
    const octet = (index: number): number => bytes.charCodeAt(at + index);
    const length = (octet(0) << 16) | (octet(1) << 8) | octet(2);
    if (at + 9 + length > bytes.length) break;
    const payload = bytes.slice(at + 9, at + 9 + length);
    const ends = (octet(4) & END_STREAM) !== 0;
    if (octet(3) === TYPE.headers) {
      const status = statusOf(payload);
      if (status >= 200) made = { ...made, status, complete: ends };
    } else if (octet(3) === TYPE.data) made = { ...made, body: made.body + payload, complete: ends };
    else if (octet(3) === TYPE.reset || octet(3) === TYPE.goAway) made = { ...made, broken: true };
    else if (octet(3) === TYPE.settings && !ends) made = { ...made, settings: true };
    at += 9 + length;
  }
  return made;
}

const INDEXED: readonly number[] = [200, 204, 206, 304, 400, 404, 500];
const DIGITS: Readonly<Record<string, string>> = {
  '00000': '0',
  '00001': '1',
  '00010': '2',
  '011001': '3',
  '011010': '4',
  '011011': '5',
  '011100': '6',
  '011101': '7',
  '011110': '8',
  '011111': '9',
};

/** `:status` is the first field of a header block. An update of the table size may precede it. */
function statusOf(block: string): number {
  const rest = block.replace(/^[\x20-\x3f]+/, '');
  const first = rest.charCodeAt(0);
  if (first >= 0x88 && first <= 0x8e) return INDEXED[first - 0x88] ?? 0;
  const length = rest.charCodeAt(1);
  if ((length & 0x80) === 0) return Number(rest.slice(2, 2 + length)) || 0;
  let bits = '';
  for (const character of rest.slice(2, 2 + (length & 0x7f)))
    bits += character.charCodeAt(0).toString(2).padStart(8, '0');
  let digits = '';
  while (digits.length < 3) {
    const code = [bits.slice(0, 5), bits.slice(0, 6)].find((each) => each in DIGITS);
    if (code === undefined) return 0;
    digits += DIGITS[code];
    bits = bits.slice(code.length);
  }
  return Number(digits);
}
