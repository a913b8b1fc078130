// Parses field lines strictly, and notes everything that a second parser could read differently.

export type Field = readonly [name: string, value: string];

export interface FieldLines {
  readonly fields: readonly Field[];
  /** Malformed or ambiguous parts. */
  readonly dirt: readonly string[];
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** The lines of a head (Latin-1), without its first line and its last, empty line. */
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
    if (!TOKEN.test(name))
      dirt.push(`a field name that is not a token: ${JSON.stringify(line.slice(0, 30))}`);
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

export function holds(fields: readonly Field[], [name, value]: readonly [string, RegExp?]): boolean {
  return valuesOf(fields, name.toLowerCase()).some((each) => value?.test(each) ?? true);
}
