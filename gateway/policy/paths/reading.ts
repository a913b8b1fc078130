// Computes the names under which services may read a path segment, for comparison with templates.
import { decodedOctets, LONGEST_LITERAL } from '../octets.ts';

/** Which letters a reader compares without case: none, ASCII letters, or all letters of Unicode. */
export const LETTERS = ['exact', 'ascii', 'unicode'] as const;
export type Letters = (typeof LETTERS)[number];

/** How readers turn a segment into a name. The first choice of each list is the literal one. */
export interface Readers {
  /** What ends a segment: nothing, a `;`, or also a `%3B` that a proxy in front of the service decodes. */
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

export interface ReadPath {
  /** As the client wrote them, normalised by VER-7. */
  readonly segments: readonly string[];
  readonly readers: Readers;
  /** A cache by written segment, shared by all readings of a request. */
  readonly names: Map<string, readonly Name[]>;
  /** Only the first name of a segment counts. */
  readonly isLiteral: boolean;
  /** This reading only finds operations. If it finds none, another reading applies the rules of the version. */
  readonly operationsOnly: boolean;
}

export const KEPT_SUFFIX: readonly boolean[] = [false];
/** A character of a name has at most three octets, and each octet at most three characters. */
const MAX_ENCODED = 9 * (LONGEST_LITERAL + 1);
const VISIBLE = /^[ -~]*$/;
export const PLAIN = /^[^%;.]*$/;
const BLANKS: readonly string[] = ['%20', '%09'];

/** `name` is a string of octets. The Unicode form maps all variants of a letter to one: ẞ, ß and SS are equal. */
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

/** The literal name comes first. Longer names are truncated to a length that matches no template. */
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
  const cut = distinct([written], ends, cutAt);
  const bare = distinct(cut, trims, (text, isTrimmed) => (isTrimmed ? withoutBlanks(text) : text));
  const starts = bare.map((text) => text.slice(0, MAX_ENCODED));
  return distinct(starts, decodes, (text, isDecoded) => (isDecoded ? decodedOctets(text) : text));
}

function distinct<Choice>(
  texts: readonly string[],
  choices: readonly Choice[],
  read: (text: string, choice: Choice) => string,
): readonly string[] {
  return [...new Set(texts.flatMap((text) => choices.map((choice) => read(text, choice))))];
}

function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (BLANKS.some((blank) => text.startsWith(blank, start))) start += 3;
  while (end > start && BLANKS.some((blank) => text.endsWith(blank, end))) end -= 3;
  return text.slice(start, end);
}

export function cutAt(text: string, end: RegExp | undefined): string {
  const at = end === undefined ? -1 : text.search(end);
  return at < 0 ? text : text.slice(0, at);
}
