// The header lines of one answer: how all that decorates an answer reads, sets and adds to them.
// Kept in the order in which a transport writes them; a name may stand more than once only as a list of values.

/** One value, or one for each line. */
export type HeaderValue = string | readonly string[];

/** Header lines by lower-case name, for answers that are described as a whole. */
export type AnswerHeaders = Readonly<Record<string, HeaderValue | undefined>>;

/** What the header lines of an answer are written to. All names are lower case. */
export interface HeaderSink {
  readonly get: (name: string) => HeaderValue | undefined;
  /** In the place of a line that is there; else at the end. Undefined removes it. */
  readonly set: (name: string, value: HeaderValue | undefined) => void;
  /** Adds to a list after what is there. */
  readonly append: (name: string, value: string) => void;
  readonly remove: (name: string) => void;
}

/** A flat list: an answer has a dozen lines, among which a name is found faster than in a record that loses members. */
export class HeaderLines implements HeaderSink {
  /** Names and values in turn. */
  readonly flat: (string | readonly string[])[];

  constructor(lines: AnswerHeaders = {}) {
    this.flat = [];
    for (const name in lines) {
      const value = lines[name];
      if (value !== undefined) this.flat.push(name, value);
    }
  }

  get(name: string): HeaderValue | undefined {
    const at = this.at(name);
    return at < 0 ? undefined : this.flat[at + 1];
  }

  set(name: string, value: HeaderValue | undefined): void {
    const at = this.at(name);
    if (value === undefined) this.remove(name);
    else if (at < 0) this.flat.push(name, value);
    else this.flat[at + 1] = value;
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === undefined ? value : `${fieldText(before)}, ${value}`);
  }

  remove(name: string): void {
    const at = this.at(name);
    if (at >= 0) this.flat.splice(at, 2);
  }

  private at(name: string): number {
    const { flat } = this;
    for (let at = 0; at < flat.length; at += 2) if (flat[at] === name) return at;
    return -1;
  }

  /** Passes each line once: the value it returns stays in place of the one that was there, undefined removes the line. */
  edit(change: (name: string, value: HeaderValue) => HeaderValue | undefined): void {
    const { flat } = this;
    let end = 0;
    for (let at = 0; at < flat.length; at += 2) {
      const name = flat[at] as string;
      const value = change(name, flat[at + 1] ?? '');
      if (value === undefined) continue;
      flat[end] = name;
      flat[end + 1] = value;
      end += 2;
    }
    flat.length = end;
  }

  /** A copy by name, for what reads many fields of few answers. */
  record(): Record<string, HeaderValue> {
    const { flat } = this;
    const lines: [string, HeaderValue][] = [];
    for (let at = 0; at < flat.length; at += 2) lines.push([flat[at] as string, flat[at + 1] ?? '']);
    return Object.fromEntries(lines);
  }
}

/** The members of all lines of a list field. */
export function fieldText(value: HeaderValue): string {
  return typeof value === 'string' ? value : value.join(', ');
}

/** CACHE-2: fields an answer depends on are named once, whatever their spelling; `*` stays `*`. */
export function mergeVary(headers: HeaderSink, ours: string): void {
  const before = headers.get('vary');
  if (before === undefined) {
    headers.set('vary', ours);
    return;
  }
  const text = fieldText(before);
  const present = new Set(text.split(',').map((field) => field.trim().toLowerCase()));
  if (present.has('*')) return;
  const missing = ours.split(', ').filter((field) => !present.has(field.toLowerCase()));
  headers.set('vary', missing.length === 0 ? text : `${text}, ${missing.join(', ')}`);
}
