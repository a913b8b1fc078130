// Serialises the head of an HTTP/1.1 response for code that writes to the socket itself.
import { STATUS_CODES } from 'node:http';
import type { HeaderLines } from '../exchange/answer-headers.ts';

const STATUS_LINES = Array.from(
  { length: 600 },
  (_, status) => `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`,
);

// RFC 9110 §5.5. Other control characters would end the line, other code points are not one octet.
const UNWRITABLE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The status line and field lines, without the final empty line. Adds a missing Date.
 * @throws Error `ERR_INVALID_CHAR` for a value that Node would refuse too
 */
export function headText(status: number, { flat }: HeaderLines, date: string): string {
  let text = STATUS_LINES[status] ?? '';
  let isDated = false;
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at] as string;
    const value = flat[at + 1] ?? '';
    if (name === 'date') isDated = true;
    if (typeof value === 'string') text += knownLine(name, value);
    else for (const each of value) text += fieldLine(name, each);
  }
  return isDated ? text : text + knownLine('date', date);
}

/** A cache of the last line per field name: most responses repeat most lines. */
interface LastLine {
  value: string | undefined;
  text: string;
  misses: number;
}
const lastLines = new Map<string, LastLine>();
const MAX_NAMES = 500;
/** Characters. Longer values are not cached. */
const MAX_CACHED_LENGTH = 512;
/** The cache stores two of this many misses, because the values of some names never repeat. */
const MISSES = 16;

function knownLine(name: string, value: string): string {
  const last = lastLines.get(name);
  if (last !== undefined && last.value === value) return last.text;
  const text = fieldLine(name, value);
  if (last === undefined) {
    if (lastLines.size < MAX_NAMES) lastLines.set(name, { value: undefined, text: '', misses: 0 });
    return text;
  }
  last.misses = (last.misses + 1) % MISSES;
  if (last.misses < 2 && value.length <= MAX_CACHED_LENGTH) {
    last.value = flatText(value);
    last.text = flatText(text);
  }
  return text;
}

/** @throws Error `ERR_INVALID_CHAR` for a value that cannot be written */
export function fieldLine(name: string, value: string): string {
  if (UNWRITABLE.test(value))
    throw Object.assign(new Error(`the value of ${name} cannot be written`), { code: 'ERR_INVALID_CHAR' });
  return `${name}: ${value}\r\n`;
}

/** Returns an equal string in contiguous memory. V8 keeps joined strings as a tree and walks it at each write. */
export function flatText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

const SECOND_MS = 1_000;

/** Returns the value of Date (RFC 9110 §6.6.1), formatted once a second. `now`: epoch milliseconds. */
export function createDateText(now: () => number): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const current = Math.floor(now() / SECOND_MS);
    if (current !== second) {
      second = current;
      text = new Date(current * SECOND_MS).toUTCString();
    }
    return text;
  };
}
