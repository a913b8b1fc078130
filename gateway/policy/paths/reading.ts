// The names that the readers of a path make of its segments, and compare with those of templates.
import { decodedOctets, LONGEST_LITERAL } from '../octets.ts';

/** Whether a reader ignores case: not at all, for ASCII letters, or for all letters of Unicode. */
export const LETTERS = ['exact', 'ascii', 'unicode'] as const;
export type Letters = (typeof LETTERS)[number];

/** How readers turn a segment into the name that they compare with a template. The first choice of each is the literal one. */
export interface Readers {
  /** What ends a segment: nothing, a `;`, or also a `;` that a proxy in front of the service decodes. */
  readonly ends: readonly (RegExp | undefined)[];
  readonly trims: readonly boolean[];
  readonly decodes: readonly boolean[];
  readonly letters: readonly Letters[];
  readonly ignoresSuffix: readonly boolean[];
}

export interface Name {
  readonly text: string;
  readonly letters: Letters;
  readonly ignoresSuffix: boolean;
}

/** The segments of a path as its readers understand them. */
export interface ReadPath {
  /** As the client wrote them, normalised by VER-7. */
  readonly segments: readonly string[];
  readonly readers: Readers;
  /** By the written segment; shared by all readings of a request, so that each name is made once. */
  readonly names: Map<string, readonly Name[]>;
  /** Only the first name of a segment counts. */
  readonly isLiteral: boolean;
  /** Only operations count in this reading: if it finds none, another reading has the rules of the version. */
  readonly operationsOnly: boolean;
}

export const KEPT_SUFFIX: readonly boolean[] = [false];
/** A character of a name comes from at most three octets, each written with three characters. */
const MOST_WRITTEN = 9 * (LONGEST_LITERAL + 1);
const VISIBLE = /^[ -~]*$/;
export const PLAIN = /^[^%;.]*$/;
const BLANKS: readonly string[] = ['%20', '%09'];

/** `name`, a string of octets, as a reader compares it. What only some writings of a letter fold to is folded by all: ẞ, ß, SS. */
export function lettersOf(name: string, letters: Letters): string {
  if (letters === 'exact') return name;
  if (letters === 'ascii' && VISIBLE.test(name)) return name.toLowerCase();
  if (letters === 'ascii') return name.replace(/[A-Z][ -~]*/g, (run) => run.toLowerCase());
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return text
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/\u0307/g, '');
}

/** The names under which readers compare a segment, the literal one first. A longer one is cut short, and still equal to none. */
export function namesOf({ segments, readers, names }: ReadPath, index: number): readonly Name[] {
  const written = segments[index] ?? '';
  let all = names.get(written);
  if (all === undefined) {
    all = readNames(written, readers);
    names.set(written, all);
  }
  return all;
}

function readNames(written: string, readers: Readers): readonly Name[] {
  if (PLAIN.test(written))
    return readers.letters.map((letters) => ({
      text: nameOf(written, letters),
      letters,
      ignoresSuffix: false,
    }));
  const found: Name[] = [];
  const octets = readOctets(written, readers);
  for (const letters of readers.letters)
    for (const text of new Set(octets.map((each) => nameOf(each, letters))))
      for (const ignoresSuffix of text.includes('.') ? readers.ignoresSuffix : KEPT_SUFFIX)
        found.push({ text, letters, ignoresSuffix });
  return found;
}

function nameOf(octets: string, letters: Letters): string {
  return lettersOf(octets, letters).slice(0, LONGEST_LITERAL + 1);
}

function readOctets(written: string, { ends, trims, decodes }: Readers): readonly string[] {
  const cut = distinct([written], ends, until);
  const bare = distinct(cut, trims, (text, isTrimmed) => (isTrimmed ? withoutBlanks(text) : text));
  const starts = bare.map((text) => text.slice(0, MOST_WRITTEN));
  return distinct(starts, decodes, (text, isDecoded) => (isDecoded ? decodedOctets(text) : text));
}

function distinct<Choice>(
  texts: readonly string[],
  choices: readonly Choice[],
  read: (text: string, choice: Choice) => string,
): readonly string[] {
  return [...new Set(texts.flatMap((text) => choices.map((choice) => read(text, choice))))];
}

/** Without the encoded blanks around it. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (BLANKS.some((blank) => text.startsWith(blank, start))) start += 3;
  while (end > start && BLANKS.some((blank) => text.endsWith(blank, end))) end -= 3;
  return text.slice(start, end);
}

export function until(text: string, end: RegExp | undefined): string {
  const at = end === undefined ? -1 : text.search(end);
  return at < 0 ? text : text.slice(0, at);
}
