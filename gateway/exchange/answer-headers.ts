// The header lines of one response, with reads, edits, Vary and HTTP dates.
import { FIELD } from '../plan/upstreams/answer-fields.ts';
import type { EpochMs, HeaderLine } from '../policy/contract.ts';

export type HeaderValue = string | readonly string[];

/** Header lines by lower-case name. */
export type AnswerHeaders = Readonly<Record<string, HeaderValue | undefined>>;

/** A kind with every bit set. */
const ANY = -1;

/**
 * A flat list of names and values. A response has about a dozen lines, and finding a name in such a list is faster than
 * in a record whose members are removed. All names are lower case. `kind`: the FIELD bits of one or more names.
 */
export class HeaderLines {
  readonly flat: (string | readonly string[])[] = [];
  /** The FIELD bits of all lines. A lookup for any other kind is skipped. */
  private kinds = 0;

  constructor(lines: AnswerHeaders = {}) {
    for (const name in lines) {
      const value = lines[name];
      if (value !== undefined) this.add(name, value, ANY);
    }
  }

  has(kind: number): boolean {
    return kind === ANY || (this.kinds & kind) !== 0;
  }

  get(name: string): HeaderValue | undefined {
    const at = this.at(name);
    return at < 0 ? undefined : this.flat[at + 1];
  }

  add(name: string, value: HeaderValue, kind: number): void {
    this.flat.push(name, value);
    this.kinds |= kind;
  }

  /** Replaces an existing line in place, else adds one at the end. An undefined value removes the line. */
  set(name: string, value: HeaderValue | undefined, kind = ANY): void {
    const at = this.has(kind) ? this.at(name) : -1;
    if (at >= 0 && value === undefined) this.flat.splice(at, 2);
    else if (at >= 0 && value !== undefined) this.flat[at + 1] = value;
    else if (value !== undefined) this.add(name, value, kind);
  }

  write(lines: readonly HeaderLine[], kind: number): void {
    if (this.has(kind)) for (const [name, value] of lines) this.set(name, value);
    else for (const [name, value] of lines) this.add(name, value, kind);
  }

  append(name: string, value: string, kind = ANY): void {
    const before = this.has(kind) ? this.get(name) : undefined;
    this.set(name, before === undefined ? value : `${fieldText(before)}, ${value}`, kind);
  }

  remove(name: string): void {
    this.set(name, undefined);
  }

  private at(name: string): number {
    const { flat } = this;
    for (let at = 0; at < flat.length; at += 2) if (flat[at] === name) return at;
    return -1;
  }

  record(): Record<string, HeaderValue> {
    const { flat } = this;
    const lines: [string, HeaderValue][] = [];
    for (let at = 0; at < flat.length; at += 2) lines.push([flat[at] as string, flat[at + 1] ?? '']);
    return Object.fromEntries(lines);
  }
}

export function fieldText(value: HeaderValue): string {
  return typeof value === 'string' ? value : value.join(', ');
}

/** CACHE-2: names each field once, regardless of case. `*` stays `*`. */
export function mergeVary(headers: HeaderLines, ours: string): void {
  const before = headers.get('vary');
  if (before === undefined) {
    headers.set('vary', ours, FIELD.list);
    return;
  }
  const text = fieldText(before);
  const present = new Set(text.split(',').map((field) => field.trim().toLowerCase()));
  if (present.has('*')) return;
  const missing = ours.split(', ').filter((field) => !present.has(field.toLowerCase()));
  headers.set('vary', missing.length === 0 ? text : `${text}, ${missing.join(', ')}`);
}

const TIME = String.raw`\d{2}:\d{2}:\d{2}`;
const WITH_ZONE = new RegExp(
  `^[A-Z][a-z]{2,8}, (?:\\d{2} [A-Z][a-z]{2} \\d{4}|\\d{2}-[A-Z][a-z]{2}-\\d{2}) ${TIME} GMT$`,
);
/** The date form of C's asctime, which has no zone and means GMT. */
const WITHOUT_ZONE = new RegExp(`^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]\\d ${TIME} \\d{4}$`);

/** Undefined if the field is not exactly one date. */
export function httpDate(field: string | readonly string[] | undefined): EpochMs | undefined {
  if (typeof field !== 'string') return undefined;
  const trimmed = field.trim();
  const text = WITHOUT_ZONE.test(trimmed) ? `${trimmed} GMT` : trimmed;
  if (text === trimmed && !WITH_ZONE.test(trimmed)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}
