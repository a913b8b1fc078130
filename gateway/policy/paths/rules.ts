// How services read the path of a request: the rules that an API declares, and the readings that follow from them.
// A request is judged by each reading, so that no spelling of a path passes the rules for its plain form.
import { decodedOctets } from '../notation.ts';

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

export interface PathSegment {
  /** As the client wrote it, normalised by VER-7. */
  readonly raw: string;
  /** `raw` without the parameters that the reader cuts off before it decodes. */
  readonly text: string;
}

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
  readonly ignoresSuffix: boolean;
}

/** A path as one reader understands it. */
export interface ReadPath {
  readonly segments: readonly PathSegment[];
  readonly reader: Reader;
  /** Only operations count in this reading: if it finds none, another reading has the rules of the version. */
  readonly operationsOnly?: boolean;
}

const EXACT: Reader = {
  decodes: true,
  cutsDecoded: false,
  trims: false,
  letters: 'exact',
  ignoresSuffix: false,
};
const PLAIN_READERS: Readonly<Record<PathRules['case'], readonly Reader[]>> = {
  sensitive: [EXACT],
  insensitive: [{ ...EXACT, letters: 'ascii' }],
  any: [EXACT, { ...EXACT, letters: 'ascii' }],
};
/** Characters of a literal segment in a template, as `operations` takes them. */
const LONGEST_LITERAL = 500;
const PLAIN_PATH = /^[^%;.]*$/;
const BLANKS: readonly string[] = ['%20', '%09'];
const BLANK_AT_EDGE = /(?:^|\/|%2F)%(?:20|09)|%(?:20|09)(?:\/|%2F|;|%3B|$)/;
/** Nothing but blanks: some services drop such a segment. */
const BLANK_SEGMENT = /(?:^|\/|%2F)(?:%20|%09)+(?:\/|%2F|;|%3B|$)/;
const BEYOND_ASCII = /%[89A-F]/;

/**
 * All readings of `tail`, the path behind the base of an API, by services that follow `rules`; the literal one first.
 * Undefined if a segment before the last is empty: services read such paths in different ways.
 */
export function readingsOf(tail: string, rules: PathRules): readonly ReadPath[] | undefined {
  if (tail.slice(0, -1).includes('//') || tail === '//') return undefined;
  if (rules.parameters !== 'keep' && BLANK_SEGMENT.test(tail)) return undefined;
  const readings: ReadPath[] = [];
  const readers = readersOf(tail, rules);
  for (const segments of segmentations(tail, rules)) {
    if (segments === undefined) return undefined;
    for (const path of trailing(segments, rules))
      for (const reader of readers) readings.push({ ...path, reader });
  }
  return readings;
}

/** The literal reading of a path, without its empty segments. */
export function literalReading(tail: string): ReadPath {
  const segments = tail.split('/').filter((raw) => raw !== '');
  return { segments: segments.map((raw) => ({ raw, text: raw })), reader: EXACT };
}

/** `name`, a string of octets, as a reader compares it. What only some writings of a letter fold to is folded by all: ẞ, ß, SS. */
export function lettersOf(name: string, letters: Letters): string {
  if (letters === 'exact') return name;
  if (letters === 'ascii') return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const text = Buffer.from(name, 'latin1').toString('utf8');
  return text
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(/\u0307/g, '');
}

/** The names that this reading compares with templates, the longest first. */
export function namesOf({ segments, reader }: ReadPath, index: number): readonly string[] {
  // Cut short, a longer segment still decodes to more than any literal has.
  const written = segments[index]?.text ?? '';
  const text = reader.trims ? withoutBlanks(written) : written;
  // Cut short, a longer segment still decodes to more than any literal has.
  const name = nameOf(text.slice(0, 4 * LONGEST_LITERAL), reader);
  if (!reader.ignoresSuffix || index < segments.length - 1) return [name];
  const names = [name];
  for (let dot = name.lastIndexOf('.', LONGEST_LITERAL); dot > 0; dot = name.lastIndexOf('.', dot - 1))
    names.push(name.slice(0, dot));
  return names;
}

function nameOf(text: string, { decodes, cutsDecoded, letters }: Reader): string {
  let name = decodes ? decodedOctets(text) : text;
  if (cutsDecoded) name = until(name, ';');
  return lettersOf(name, letters);
}

function readersOf(tail: string, rules: PathRules): readonly Reader[] {
  const plain = PLAIN_READERS[rules.case];
  if (PLAIN_PATH.test(tail)) return plain;
  const foldsMore = rules.case !== 'sensitive' && BEYOND_ASCII.test(tail);
  const letters = [...plain.map((each) => each.letters), ...(foldsMore ? (['unicode'] as const) : [])];
  const suffixes = tail.includes('.') ? choices(rules.suffix, 'keep', 'ignore') : [false];
  const cuts = rules.parameters !== 'keep' && tail.includes('%3B') ? [false, true] : [false];
  const readers: Reader[] = [];
  for (const decodes of rules.reserved === 'any' && tail.includes('%') ? [true, false] : [true])
    for (const cutsDecoded of cuts)
      for (const trims of rules.parameters !== 'keep' && BLANK_AT_EDGE.test(tail) ? [false, true] : [false])
        for (const each of letters)
          for (const ignoresSuffix of suffixes)
            readers.push({ decodes, cutsDecoded, trims, letters: each, ignoresSuffix });
  return readers;
}

/** `[false]` if `written` is `kept`, `[true]` if it is `changed`, otherwise both. */
function choices(written: string, kept: string, changed: string): readonly boolean[] {
  if (written === changed) return [true];
  return written === kept ? [false] : [false, true];
}

type Path = Pick<ReadPath, 'segments' | 'operationsOnly'>;

/** Drops an empty last segment, or keeps it as an empty parameter: some routers match `/items/` with `/items/{id}`. */
function trailing(
  segments: readonly PathSegment[],
  { parameters, trailingSlash }: PathRules,
): readonly Path[] {
  const last = segments.at(-1)?.text;
  // What begins with a decoded `;` is empty to one reader and a name to another.
  if (parameters !== 'keep' && last?.startsWith('%3B'))
    return [{ segments }, { segments: segments.slice(0, -1) }];
  if (last !== '') return [{ segments }];
  const same = { segments: segments.slice(0, -1) };
  if (trailingSlash === 'same') return [same];
  return trailingSlash === 'distinct' ? [{ segments }] : [same, { segments, operationsOnly: true }];
}

/** The literal one first; undefined if a segment before the last is empty. */
function segmentations(tail: string, rules: PathRules): readonly (readonly PathSegment[] | undefined)[] {
  const hasParameter = tail.includes(';');
  // Some routers end the whole path at a `;`, as if it were `?`; a proxy before them may have decoded it.
  const ends = rules.parameters === 'keep' ? [] : [tail.search(/;/), tail.search(/;|%3B/)];
  const paths = [tail, ...new Set(ends.filter((end) => end >= 0).map((end) => tail.slice(0, end)))];
  const cuts = hasParameter ? choices(rules.parameters, 'keep', 'ignore') : [false];
  const found: (readonly PathSegment[] | undefined)[] = [];
  for (const path of paths)
    for (const splits of rules.encodedSlash === 'both' && path.includes('%2F') ? [false, true] : [false])
      for (const cut of cuts) found.push(segmentsOf(path, splits, cut, rules));
  return found;
}

/** Undefined if a segment before the last is empty, unless an encoded slash made it. */
function segmentsOf(
  tail: string,
  splits: boolean,
  cuts: boolean,
  { parameters }: PathRules,
): readonly PathSegment[] | undefined {
  if (tail === '') return [];
  const path = tail.startsWith('/') ? tail.slice(1) : tail;
  const pieces = (splits ? path.replaceAll('%2F', '/') : path).split('/');
  const last = pieces.length - 1;
  const segments: PathSegment[] = [];
  let index = -1;
  for (const raw of pieces) {
    index += 1;
    const text = cuts ? until(raw, ';') : raw;
    const isLast = index === last;
    // Services merge encoded slashes, and identifiers such as https%3A%2F%2Fexample.com have two.
    if (splits && raw === '' && !isLast) continue;
    if (!isLast && (text === '' || (parameters !== 'keep' && text.startsWith('%3B')))) return undefined;
    segments.push({ raw, text });
  }
  return segments;
}

/** Without the encoded blanks around it. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (BLANKS.includes(text.slice(start, start + 3))) start += 3;
  while (end > start && BLANKS.includes(text.slice(end - 3, end))) end -= 3;
  return text.slice(start, end);
}

function until(text: string, end: string): string {
  const at = text.indexOf(end);
  return at < 0 ? text : text.slice(0, at);
}
