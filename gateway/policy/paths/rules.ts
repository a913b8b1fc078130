// How services read the path of a request: the rules that an API declares, and the readings that follow from them.
// A request is judged by each reading, so that no spelling of a path passes the rules for its plain form.
import { decodedOctets } from '../octets.ts';

/** `any`: not known. The gateway then judges every reading that the other values allow. */
export interface PathRules {
  readonly case: 'sensitive' | 'insensitive' | 'any';
  /** `;x=1` in a segment. */
  readonly parameters: 'keep' | 'ignore' | 'any';
  /** `.json` at the end of the path. */
  readonly suffix: 'keep' | 'ignore' | 'any';
  readonly trailingSlash: 'same' | 'distinct' | 'any';
  /** `both`: the service may read %2F as a character of its segment, or as its end. */
  readonly encodedSlash: 'keep' | 'reject' | 'both';
  /** Whether the service is known to decode characters such as %3A before it compares. */
  readonly reserved: 'decode' | 'any';
}

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

/** Characters. Longer segments of a request are equal to no literal of a template, base or upstream path. */
export const LONGEST_LITERAL = 150;
const KEPT_SUFFIX: readonly boolean[] = [false];
const EXACT: Readers = {
  ends: [undefined],
  trims: [false],
  decodes: [true],
  letters: ['exact'],
  ignoresSuffix: KEPT_SUFFIX,
};
const PLAIN_READERS: Readonly<Record<PathRules['case'], Readers>> = {
  sensitive: EXACT,
  insensitive: { ...EXACT, letters: ['ascii'] },
  any: { ...EXACT, letters: ['exact', 'ascii'] },
};
/** A character of a name comes from at most three octets, each written with three characters. */
const MOST_WRITTEN = 9 * (LONGEST_LITERAL + 1);
const VISIBLE = /^[ -~]*$/;
const PLAIN = /^[^%;.]*$/;
const PARAMETERS = /;/;
const DECODED_PARAMETERS = /;|%3B/;
const BLANKS: readonly string[] = ['%20', '%09'];
const BLANK_AT_EDGE = /(?:^|\/|%2F)%(?:20|09)|%(?:20|09)(?:\/|%2F|;|%3B|$)/;
/** Nothing but blanks: some services drop such a segment. */
const BLANK_SEGMENT = /(?:^|\/|%2F)(?:%20|%09)+(?:\/|%2F|;|%3B|$)/;
/** A segment before the last that is empty to a reader who cuts off parameters. */
const EMPTIED_SEGMENT = /\/(?:;|%3B).*\//;
const BEYOND_ASCII = /%[89A-F]/;

/**
 * All readings of `tail`, the path behind the base of an API, by services that follow `rules`; the literal one among the first.
 * Undefined if a segment before the last is empty: services read such paths in different ways.
 */
export function readingsOf(tail: string, rules: PathRules): readonly ReadPath[] | undefined {
  if (tail.includes('//')) return undefined;
  const isPlain = PLAIN.test(tail);
  const split = isPlain ? tail : splitSlashes(tail, rules);
  if (!isPlain && rules.parameters !== 'keep' && (BLANK_SEGMENT.test(tail) || EMPTIED_SEGMENT.test(split)))
    return undefined;
  const readers = isPlain ? PLAIN_READERS[rules.case] : readersOf(tail, rules);
  const names = new Map<string, readonly Name[]>();
  const readings: ReadPath[] = [];
  const add = (segments: readonly string[], operationsOnly = false): void => {
    readings.push({ segments, readers, names, isLiteral: false, operationsOnly });
  };
  for (const path of isPlain ? [tail] : spellings(tail, split, rules))
    addTrailing(path === '' ? [] : path.slice(1).split('/'), rules, add);
  return readings;
}

/** The literal reading of a path, without its empty segments. */
export function literalReading(tail: string): ReadPath {
  const segments = tail.split('/').filter((segment) => segment !== '');
  return { segments, readers: EXACT, names: new Map(), isLiteral: true, operationsOnly: false };
}

export function literalOf(path: ReadPath): ReadPath {
  return { ...path, isLiteral: true };
}

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

function readersOf(tail: string, rules: PathRules): Readers {
  const { letters } = PLAIN_READERS[rules.case];
  const ignoresParameters = rules.parameters !== 'keep';
  const foldsMore = rules.case !== 'sensitive' && BEYOND_ASCII.test(tail);
  const ends = choices(rules.parameters, 'keep', 'ignore').map((cuts) => (cuts ? PARAMETERS : undefined));
  return {
    ends: ignoresParameters && tail.includes('%3B') ? [...ends, DECODED_PARAMETERS] : ends,
    trims: ignoresParameters && BLANK_AT_EDGE.test(tail) ? [false, true] : [false],
    decodes: rules.reserved === 'any' && tail.includes('%') ? [true, false] : [true],
    letters: foldsMore ? [...letters, 'unicode'] : letters,
    ignoresSuffix: tail.includes('.') ? choices(rules.suffix, 'keep', 'ignore') : KEPT_SUFFIX,
  };
}

/** `[false]` if `written` is `kept`, `[true]` if it is `changed`, otherwise both. */
function choices(written: string, kept: string, changed: string): readonly boolean[] {
  if (written === changed) return [true];
  return written === kept ? [false] : [false, true];
}

/** Drops an empty last segment, or keeps it as an empty parameter: some routers match `/items/` with `/items/{id}`. */
function addTrailing(
  segments: readonly string[],
  { parameters, trailingSlash }: PathRules,
  add: (segments: readonly string[], operationsOnly?: boolean) => void,
): void {
  const last = segments.at(-1);
  const isEmpty = last === '' || (parameters === 'ignore' && last?.startsWith(';') === true);
  // What begins with a `;` is empty to one reader and a name to another.
  const isEither = !isEmpty && parameters !== 'keep' && (last?.startsWith(';') || last?.startsWith('%3B'));
  if (isEither || !isEmpty || trailingSlash === 'distinct') add(segments);
  if (isEither || (isEmpty && trailingSlash !== 'distinct')) add(segments.slice(0, -1));
  if (isEmpty && trailingSlash === 'any') add(segments, true);
}

/** The literal one first. `split`: the tail with a slash for each encoded one. */
function spellings(tail: string, split: string, rules: PathRules): ReadonlySet<string> {
  const paths = new Set([tail, split]);
  // Some routers end the whole path at a `;`, as if it were `?`; a proxy before them may have decoded it.
  if (rules.parameters !== 'keep')
    for (const end of [PARAMETERS, DECODED_PARAMETERS]) {
      const path = until(tail, end);
      paths.add(path).add(splitSlashes(path, rules));
    }
  return paths;
}

/** Services merge encoded slashes, and identifiers such as https%3A%2F%2Fexample.com have two. */
function splitSlashes(path: string, { encodedSlash }: PathRules): string {
  return encodedSlash === 'both' && path.includes('%2F') ? path.replace(/(?:\/|%2F)+/g, '/') : path;
}

/** Without the encoded blanks around it. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (BLANKS.some((blank) => text.startsWith(blank, start))) start += 3;
  while (end > start && BLANKS.some((blank) => text.endsWith(blank, end))) end -= 3;
  return text.slice(start, end);
}

function until(text: string, end: RegExp | undefined): string {
  const at = end === undefined ? -1 : text.search(end);
  return at < 0 ? text : text.slice(0, at);
}
