// One reading of a path: the names that a reader makes of its segments, and compares with those of templates.
// Hostile paths have hundreds of readings and few segments, so that each name is made once.
import { decodedOctets } from '../octets.ts';

/** Whether a reader ignores case: not at all, for ASCII letters, or for all letters of Unicode. */
export const LETTERS = ['exact', 'ascii', 'unicode'] as const;
export type Letters = (typeof LETTERS)[number];

/** How a reader turns a segment into the name that it compares with a template. */
export interface Reader {
  readonly decodes: boolean;
  /** A proxy in front of a service may decode a `;` that the service then cuts at. */
  readonly cutsDecoded: boolean;
  readonly trims: boolean;
  readonly letters: Letters;
  /** Some routes of the service may tell case apart and others not. */
  readonly mixesCase: boolean;
  readonly ignoresSuffix: boolean;
}

/** A path as one reader understands it. */
export interface ReadPath {
  /** As the client wrote them, normalised by VER-7. */
  readonly segments: readonly string[];
  /** Whether the reader cuts off the parameters of a segment before it decodes. */
  readonly cuts: boolean;
  readonly reader: Reader;
  /** Shared by the readings of one path. */
  readonly known?: KnownNames | undefined;
  /** Only operations count in this reading: if it finds none, another reading has the rules of the version. */
  readonly operationsOnly?: boolean;
}

/** By the text that it is made of, and by how. */
export type KnownNames = Map<string, Map<number, string>>;

/** A character of a name comes from at most three octets, each written with three characters. */
const WRITTEN_PER_CHARACTER = 9;
const BLANKS: readonly string[] = ['%20', '%09'];

/** `name`, a string of octets, as a reader compares it. What only some writings of a letter fold to is folded by all: ẞ, ß, SS. */
export function lettersOf(name: string, letters: Letters): string {
  if (letters === 'exact') return name;
  if (letters === 'ascii') return name.replace(/[A-Z][ -~]*/g, (run) => run.toLowerCase());
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return text
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/\u0307/g, '');
}

/** Of the names that a segment is compared with. */
export interface NameLengths {
  /** Undefined: they may have any length up to `longest`. */
  readonly lengths: ReadonlySet<number> | undefined;
  readonly longest: number;
}

/** The names that this reading compares with templates, the longest first. A longer one is cut short, and still equal to none. */
export function namesOf(
  { segments, cuts, reader, known }: ReadPath,
  index: number,
  { lengths, longest }: NameLengths,
): readonly string[] {
  const raw = segments[index] ?? '';
  const { trims, ignoresSuffix } = reader;
  const text = once(known, raw, 4 * longest + 2 * Number(cuts) + Number(trims), () => {
    const written = cuts ? until(raw, ';') : raw;
    return (trims ? withoutBlanks(written) : written).slice(0, WRITTEN_PER_CHARACTER * (longest + 1));
  });
  const name = once(known, text, -1 - kindOf(reader), () => nameOf(text, reader));
  if (!ignoresSuffix || index < segments.length - 1) return [name];
  const names = [name];
  for (let dot = name.lastIndexOf('.', longest); dot > 0; dot = name.lastIndexOf('.', dot - 1))
    if (lengths === undefined || lengths.has(dot)) names.push(name.slice(0, dot));
  return names;
}

function once(known: KnownNames | undefined, text: string, key: number, make: () => string): string {
  if (known === undefined) return make();
  const before = known.get(text) ?? new Map<number, string>();
  known.set(text, before);
  const made = before.get(key) ?? make();
  before.set(key, made);
  return made;
}

function kindOf({ decodes, cutsDecoded, letters }: Reader): number {
  return 4 * LETTERS.indexOf(letters) + 2 * Number(decodes) + Number(cutsDecoded);
}

function nameOf(text: string, { decodes, cutsDecoded, letters }: Reader): string {
  let name = decodes ? decodedOctets(text) : text;
  if (cutsDecoded) name = until(name, ';');
  return lettersOf(name, letters);
}

/** Without the encoded blanks around it. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (BLANKS.some((blank) => text.startsWith(blank, start))) start += 3;
  while (end > start && BLANKS.some((blank) => text.startsWith(blank, end - 3))) end -= 3;
  return text.slice(start, end);
}

function until(text: string, end: string): string {
  const at = text.indexOf(end);
  return at < 0 ? text : text.slice(0, at);
}
