// How services read the path of a request: the rules that an API declares, and the readings that follow from them.
// A request is judged by each reading, so that no spelling of a path passes the rules for its plain form.
import type { KnownNames, Reader, ReadPath } from './reading.ts';

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

const EXACT: Reader = {
  decodes: true,
  cutsDecoded: false,
  trims: false,
  letters: 'exact',
  mixesCase: false,
  ignoresSuffix: false,
};
const PLAIN_READERS: Readonly<Record<PathRules['case'], readonly Reader[]>> = {
  sensitive: [EXACT],
  insensitive: [{ ...EXACT, letters: 'ascii' }],
  any: [EXACT, { ...EXACT, letters: 'ascii', mixesCase: true }],
};
/** Characters. What is made of the segments of a shorter path costs less than to keep it. */
const LONG = 200;
const PLAIN_PATH = /^[^%;.]*$/;
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
  const known: KnownNames | undefined = tail.length < LONG ? undefined : new Map();
  const readers = readersOf(tail, rules);
  for (const segmentation of segmentations(tail, split, rules))
    for (const path of trailing(segmentation, rules))
      for (const reader of readers) readings.push({ ...path, reader, known });
  return readings;
}

/** The literal reading of a path, without its empty segments. */
export function literalReading(tail: string): ReadPath {
  return { segments: tail.split('/').filter((segment) => segment !== ''), cuts: false, reader: EXACT };
}

function readersOf(tail: string, rules: PathRules): readonly Reader[] {
  const plain = PLAIN_READERS[rules.case];
  if (PLAIN_PATH.test(tail)) return plain;
  const foldsMore = rules.case !== 'sensitive' && BEYOND_ASCII.test(tail);
  const letters = [...plain.map((each) => each.letters), ...(foldsMore ? (['unicode'] as const) : [])];
  const suffixes = tail.includes('.') ? choices(rules.suffix, 'keep', 'ignore') : [false];
  const cuts = rules.parameters !== 'keep' && tail.includes('%3B') ? [false, true] : [false];
  const mixesCase = rules.case === 'any';
  const readers: Reader[] = [];
  for (const decodes of rules.reserved === 'any' && tail.includes('%') ? [true, false] : [true])
    for (const cutsDecoded of cuts)
      for (const trims of rules.parameters !== 'keep' && BLANK_AT_EDGE.test(tail) ? [false, true] : [false])
        for (const each of letters)
          for (const ignoresSuffix of suffixes)
            readers.push({ decodes, cutsDecoded, trims, letters: each, mixesCase, ignoresSuffix });
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
): readonly Omit<ReadPath, 'reader' | 'known'>[] {
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
