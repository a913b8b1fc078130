// Field lines as both recorders read them: strictly, and with a note of everything a second parser could read otherwise.
// Used for the heads that reach the upstream and for those that reach the client.

export type Field = readonly [name: string, value: string];

export interface FieldLines {
  readonly fields: readonly Field[];
  /** What is unclean about them; empty for lines that can be read one way only. */
  readonly dirt: readonly string[];
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Reads the lines of a head (latin1), without its first line and its last, empty one. */
export function readFieldLines(lines: readonly string[]): FieldLines {
  const dirt: string[] = [];
  const fields: Field[] = [];
  for (const line of lines) {
    if (/[\r\n]/.test(line)) dirt.push('a bare CR or LF');
    if (line.includes('\0')) dirt.push('a NUL');
    if (/^[ \t]/.test(line)) {
      dirt.push('a folded line');
      continue;
    }
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0));
    if (!TOKEN.test(name)) dirt.push(`a field name that is no token: ${JSON.stringify(line.slice(0, 30))}`);
    fields.push([name.toLowerCase(), line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')]);
  }
  return { fields, dirt: [...dirt, ...framingDirt(fields)] };
}

function framingDirt(fields: readonly Field[]): string[] {
  const lengths = valuesOf(fields, 'content-length');
  const codings = valuesOf(fields, 'transfer-encoding');
  const dirt: string[] = [];
  if (lengths.length > 0 && codings.length > 0) dirt.push('both Content-Length and Transfer-Encoding');
  if (lengths.length > 1) dirt.push('several Content-Length lines');
  if (lengths.some((each) => !/^\d+$/.test(each))) dirt.push('a Content-Length that is no number');
  if (codings.length > 1 || codings.some((each) => each.toLowerCase() !== 'chunked'))
    dirt.push('another Transfer-Encoding than chunked');
  return dirt;
}

export function valuesOf(fields: readonly Field[], name: string): string[] {
  return fields.filter((field) => field[0] === name).map((field) => field[1]);
}

/** Whether one of the fields is the one of the test. */
export function holds(fields: readonly Field[], [name, value]: readonly [string, RegExp?]): boolean {
  return valuesOf(fields, name.toLowerCase()).some((each) => value?.test(each) ?? true);
}
