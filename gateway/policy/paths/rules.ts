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
  /** As the client wrote them, normalised by VER-7. */
  readonly segments: readonly string[];
  /** Whether the reader cuts off the parameters of a segment before it decodes. */
  readonly cuts: boolean;
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
/** A character of a name comes from at most three octets, each written with three characters. */
const WRITTEN_PER_CHARACTER = 9;
const PLAIN_PATH = /^[^%;.]*$/;
const BLANKS: readonly string[] = ['%20', '%09'];
const BLANK_AT_EDGE = /(?:^|\/|%2F)%(?:20|09)|%(?:20|09)(?:\/|%2F|;|%3B|$)/;
/** Nothing but blanks: some services drop such a segment. */
const BLANK_SEGMENT = /(?:^|\/|%2F)(?:%20|%09)+(?:\/|%2F|;|%3B|$)/;
/** A segment before the last that is empty to a reader who cuts off parameters. */
const EMPTIED_SEGMENT = /\/(?:;|%3B).*\//;
const BEYOND_ASCII = /%[89A-F]/;

/**
 * All readings of `tail`, the path behind the base of an API, by services that follow `rules`; the literal one first.
 * Undefined if a segment before the last is empty: services read such paths in different ways.
 */
export function readingsOf(tail: string, rules: PathRules): readonly ReadPath[] | undefined {
  if (tail.includes('//')) return undefined;
  const split = splitSlashes(tail, rules);
  if (rules.parameters !== 'keep' && (BLANK_SEGMENT.test(tail) || EMPTIED_SEGMENT.test(split)))
    return undefined;
  const readings: ReadPath[] = [];
  const readers = readersOf(tail, rules);
  for (const segmentation of segmentations(tail, split, rules))
    for (const path of trailing(segmentation, rules))
      for (const reader of readers) readings.push({ ...path, reader });
  return readings;
}

/** The literal reading of a path, without its empty segments. */
export function literalReading(tail: string): ReadPath {
  return { segments: tail.split('/').filter((segment) => segment !== ''), cuts: false, reader: EXACT };
}

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
  { segments, cuts, reader }: ReadPath,
  index: number,
  { lengths, longest }: NameLengths,
): readonly string[] {
  const raw = segments[index] ?? '';
  const written = cuts ? until(raw, ';') : raw;
  const text = reader.trims ? withoutBlanks(written) : written;
  const name = nameOf(text.slice(0, WRITTEN_PER_CHARACTER * (longest + 1)), reader);
  if (!reader.ignoresSuffix || index < segments.length - 1) return [name];
  const names = [name];
  for (let dot = name.lastIndexOf('.', longest); dot > 0; dot = name.lastIndexOf('.', dot - 1))
    if (lengths === undefined || lengths.has(dot)) names.push(name.slice(0, dot));
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

type Segmentation = Pick<ReadPath, 'segments' | 'cuts'>;

/** Drops an empty last segment, or keeps it as an empty parameter: some routers match `/items/` with `/items/{id}`. */
function trailing(
  path: Segmentation,
  { parameters, trailingSlash }: PathRules,
): readonly Omit<ReadPath, 'reader'>[] {
  const last = path.segments.at(-1);
  const same = () => ({ ...path, segments: path.segments.slice(0, -1) });
  // What begins with a decoded `;` is empty to one reader and a name to another.
  if (parameters !== 'keep' && last?.startsWith('%3B')) return [path, same()];
  if (last !== '' && !(path.cuts && last?.startsWith(';'))) return [path];
  if (trailingSlash === 'same') return [same()];
  return trailingSlash === 'distinct' ? [path] : [same(), { ...path, operationsOnly: true }];
}

/** The literal one first. `split`: the tail with a slash for each encoded one. */
function segmentations(tail: string, split: string, rules: PathRules): readonly Segmentation[] {
  const found: Segmentation[] = [];
  const add = (path: string, cutsEach: readonly boolean[]): void => {
    const segments = path === '' ? [] : path.slice(1).split('/');
    for (const cuts of cutsEach) found.push({ segments, cuts });
  };
  const cutsEach = tail.includes(';') ? choices(rules.parameters, 'keep', 'ignore') : [false];
  add(tail, cutsEach);
  if (split !== tail) add(split, cutsEach);
  if (rules.parameters === 'keep') return found;
  // Some routers end the whole path at a `;`, as if it were `?`; a proxy before them may have decoded it.
  const ends = new Set([tail.search(/;/), tail.search(/;|%3B/)].filter((end) => end >= 0));
  for (const path of [...ends].map((end) => tail.slice(0, end)))
    for (const read of new Set([path, splitSlashes(path, rules)])) add(read, [false]);
  return found;
}

/** Services merge encoded slashes, and identifiers such as https%3A%2F%2Fexample.com have two. */
function splitSlashes(path: string, { encodedSlash }: PathRules): string {
  return encodedSlash === 'both' && path.includes('%2F') ? path.replace(/(?:\/|%2F)+/g, '/') : path;
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
