// How services read the path of a request: the rules that an API declares, and the readings that follow from them.
import { decodedOctets, decodeUnreserved } from '../octets.ts';
import { KEPT_SUFFIX, type Name, PLAIN, type Readers, type ReadPath, until } from './reading.ts';

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
  /** Whether a proxy before the service may decode the path and pass it on without encoding it again. */
  readonly proxy: 'none' | 'any';
}

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
const PARAMETERS = /;/;
const DECODED_PARAMETERS = /;|%3B/;
const BLANK_AT_EDGE = /(?:^|\/|%2F)%(?:20|09)|%(?:20|09)(?:\/|%2F|;|%3B|$)/;
/** Nothing but blanks: some services drop such a segment. */
const BLANK_SEGMENT = /(?:^|\/|%2F)(?:%20|%09)+(?:\/|%2F|;|%3B|$)/;
/** A segment before the last that is empty to a reader who cuts off parameters. */
const EMPTIED_SEGMENT = /\/(?:;|%3B).*\//;
const BEYOND_ASCII = /%[89A-F]/;
/** What a proxy decodes to `?` or `#`, where the path of the service ends, or may end. */
const DECODED_QUERY = /%3F/;
const DECODED_END = /%3F|%23/;
/** A blank before the one that ends the target: readers of the first line take both for one. */
const LAST_BLANKS = /(?<!%(?:20|85|A0))(?:%(?:20|85|A0))+$/;
const ENCODED_TWICE = /%25(?=[0-9A-F]{2})/gi;
/** That decode one behind the other. */
const MOST_PROXIES = 2;
/** All of the last segment is a suffix. */
const SUFFIX_ALONE = /^(?:%20|%09)*\./;

/**
 * All readings of `tail`, the path behind the base of an API, by services that follow `rules`; the literal one among the first.
 * Undefined if a segment before the last is empty: services read such paths in different ways.
 */
export function readingsOf(tail: string, rules: PathRules): readonly ReadPath[] | undefined {
  if (tail.includes('//')) return undefined;
  const isPlain = PLAIN.test(tail);
  const received = isPlain ? [tail] : [...receivedBy(tail, rules)];
  const paths = new Set(received);
  for (const path of isPlain ? [] : received) {
    const split = splitSlashes(path, rules);
    if (rules.parameters !== 'keep' && (BLANK_SEGMENT.test(path) || EMPTIED_SEGMENT.test(split)))
      return undefined;
    for (const each of spellings(path, split, rules)) paths.add(each);
  }
  const readers = isPlain ? PLAIN_READERS[rules.case] : readersOf(received.join('/'), rules);
  const names = new Map<string, readonly Name[]>();
  const readings: ReadPath[] = [];
  const push = (segments: readonly string[], operationsOnly: boolean): void => {
    readings.push({ segments, readers, names, isLiteral: false, operationsOnly });
  };
  const add = (segments: readonly string[], operationsOnly = false): void => {
    push(segments, operationsOnly);
    if (rules.suffix !== 'keep' && SUFFIX_ALONE.test(segments.at(-1) ?? ''))
      push(segments.slice(0, -1), true);
  };
  for (const path of paths) addTrailing(path === '' ? [] : path.slice(1).split('/'), rules, add);
  return readings;
}

/**
 * What the service may receive of `tail`: as sent, and as proxies pass it on that decode the path and do not encode it again.
 * For some readers the path then ends at a `#`, or without its last blanks.
 */
function receivedBy(tail: string, { proxy }: PathRules): ReadonlySet<string> {
  const received = new Set([tail]);
  let forms: readonly string[] = [tail];
  for (let proxies = proxy === 'any' ? MOST_PROXIES : 0; proxies > 0; proxies -= 1) {
    const ended = new Set(forms.flatMap((form) => [until(form, DECODED_QUERY), until(form, DECODED_END)]));
    const trimmed = new Set([...ended].flatMap((form) => [form, form.replace(LAST_BLANKS, '')]));
    forms = [...trimmed]
      .map((form) => decodeUnreserved(form.replace(ENCODED_TWICE, '%')))
      .filter((form) => !received.has(form));
    for (const form of forms) received.add(form);
  }
  return received;
}

/** Whether a service that follows `rules` would find an octet in `tail` that is written as one of `octets`, two hex digits each. */
export function mayHold(tail: string, octets: readonly string[], { proxy }: PathRules): boolean {
  let read = tail;
  while (read.includes('%')) {
    const written = read.toUpperCase();
    if (octets.some((octet) => written.includes(`%${octet}`))) return true;
    const decoded = proxy === 'any' ? decodedOctets(read) : read;
    if (decoded === read) return false;
    read = decoded;
  }
  return false;
}

/** Whether a service that follows `rules` may receive a path with two slashes at its beginning. */
export function mayBeginDoubled(tail: string, { proxy }: PathRules): boolean {
  let read = tail;
  while (read.startsWith('/%') && proxy === 'any') {
    const decoded = decodedOctets(read);
    if (decoded === read) break;
    read = decoded;
  }
  return read.startsWith('//');
}

/** The literal reading of a path, without its empty segments. */
export function literalReading(tail: string): ReadPath {
  const segments = tail.split('/').filter((segment) => segment !== '');
  return { segments, readers: EXACT, names: new Map(), isLiteral: true, operationsOnly: false };
}

export function literalOf(path: ReadPath): ReadPath {
  return { ...path, isLiteral: true };
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

/**
 * Drops an empty last segment, or keeps it as an empty parameter: some routers match `/items/` with `/items/{id}`. Where
 * slashes are told apart, the root of a mounted router has both spellings all the same.
 */
function addTrailing(
  segments: readonly string[],
  { parameters, trailingSlash }: PathRules,
  add: (segments: readonly string[], operationsOnly?: boolean) => void,
): void {
  const last = segments.at(-1);
  const isEmpty = last === '' || (parameters === 'ignore' && last?.startsWith(';') === true);
  // What begins with a `;` is empty to one reader and a name to another.
  const isEither = !isEmpty && parameters !== 'keep' && (last?.startsWith(';') || last?.startsWith('%3B'));
  const isDistinct = trailingSlash === 'distinct';
  if (isEither || !isEmpty || isDistinct) add(segments);
  if (isEither || isEmpty) add(segments.slice(0, -1), isEmpty && isDistinct);
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
