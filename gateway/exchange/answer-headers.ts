// The header lines of an answer, and the two ways of adding to a list among them.
// Edited in place by all that decorate an answer before it is written.

/** Header lines by lower-case name, as undici delivers and Node accepts them. */
export type AnswerHeaders = Record<string, string | string[] | undefined>;

/** Adds to a list after what is there. */
export function append(headers: AnswerHeaders, name: string, value: string): void {
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  else headers[name] = `${typeof before === 'string' ? before : before.join(', ')}, ${value}`;
}

/** CACHE-2: fields an answer depends on are named once, whatever their spelling; `*` stays `*`. */
export function mergeVary(headers: AnswerHeaders, ours: string): void {
  const before = headers.vary;
  if (before === undefined) {
    headers.vary = ours;
    return;
  }
  const text = typeof before === 'string' ? before : before.join(', ');
  const present = new Set(text.split(',').map((field) => field.trim().toLowerCase()));
  if (present.has('*')) return;
  const missing = ours.split(', ').filter((field) => !present.has(field.toLowerCase()));
  headers.vary = missing.length === 0 ? text : `${text}, ${missing.join(', ')}`;
}
