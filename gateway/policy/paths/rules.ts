// The path rules that an API declares, and the readings of a request path that they allow.
import { decodedOctets, decodeUnreserved } from '../octets.ts';
import { cutAt, KEPT_SUFFIX, type Name, PLAIN, type Readers, type ReadPath } from './reading.ts';

/** `any`: unknown, so the gateway judges every reading that the other values allow. */
export interface PathRules {
  readonly case: 'sensitive' | 'insensitive' | 'any';
  /** `;x=1` in a segment. */
  readonly parameters: 'keep' | 'ignore' | 'any';
  /** `.json` at the end of the path. */
  readonly suffix: 'keep' | 'ignore' | 'any';
  readonly trailingSlash: 'same' | 'distinct' | 'any';
  /** `both`: the service may read %2F as part of a segment or as a separator. */
  readonly encodedSlash: 'keep' | 'reject' | 'both';
  /** Whether the service always decodes characters such as %3A before it compares. */
  readonly reserved: 'decode' | 'any';
  /** Whether a proxy in front of the service may decode the path without encoding it again. */
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
/** A segment of blanks alone, which some services drop. */
const BLANK_SEGMENT = /(?:^|\/|%2F)(?:%20|%09)+(?:\/|%2F|;|%3B|$)/;
/** A segment before the last that is empty after its parameters are removed. */
const EMPTIED_SEGMENT = /\/(?:;|%3B).*\//;
const BEYOND_ASCII = /%[89A-F]/;
/** A proxy decodes these to `?` or `#`, where the service may end the path. */
const DECODED_QUERY = /%3F/;
const DECODED_END = /%3F|%23/;
/** Trailing blanks of the decoded target, which some servers drop when they parse the request line. */
const TRAILING_BLANKS = /(?<!%(?:20|85|A0))(?:%(?:20|85|A0))+$/;
const ENCODED_TWICE = /%25(?=[0-9A-F]{2})/gi;
const MAX_PROXIES = 2;
const SUFFIX_ALONE = /^(?:%20|%09)*\./;

/**
 * All readings of `tail`, the path below the base of an API, under `rules`. The literal reading is among the first.
 * Undefined if a segment before the last is empty, because services read such paths in different ways.
 */
export function readingsOf(tail: string, rules: PathRules): readonly ReadPath[] | undefined {
  if (tail.includes('//')) return undefined;
  const isPlain = PLAIN.test(tail);
  const received = isPlain ? [tail] : [...receivedForms(tail, rules)];
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
 * The forms of `tail` that the service may receive: as sent, and decoded by proxies. Some services then end the path at a
 * `#`, or drop trailing blanks.
 */
function receivedForms(tail: string, { proxy }: PathRules): ReadonlySet<string> {
  const received = new Set([tail]);
  let forms: readonly string[] = [tail];
  for (let proxies = proxy === 'any' ? MAX_PROXIES : 0; proxies > 0; proxies -= 1) {
    const ended = new Set(forms.flatMap((form) => [cutAt(form, DECODED_QUERY), cutAt(form, DECODED_END)]));
    const trimmed = new Set([...ended].flatMap((form) => [form, form.replace(TRAILING_BLANKS, '')]));
    forms = [...trimmed]
      .map((form) => decodeUnreserved(form.replace(ENCODED_TWICE, '%')))
      .filter((form) => !received.has(form));
    for (const form of forms) received.add(form);
  }
  return received;
}

/**
 * Whether a service under `rules` could find one of `octets` in `tail`. Each of `octets` is two hex digits in upper case.
 */
export function mayContain(tail: string, octets: readonly string[], { proxy }: PathRules): boolean {
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

/** Whether a service under `rules` could receive a path that begins with two slashes. */
export function mayBeginWithTwoSlashes(tail: string, { proxy }: PathRules): boolean {
  let read = tail;
  while (read.startsWith('/%') && proxy === 'any') {
    const decoded = decodedOctets(read);
    if (decoded === read) break;
    read = decoded;
  }
  return read.startsWith('//');
}

/** Ignores empty segments. */
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

function choices(written: string, kept: string, changed: string): readonly boolean[] {
  if (written === changed) return [true];
  return written === kept ? [false] : [false, true];
}

/**
 * Drops an empty last segment, or keeps it as an empty parameter: some routers match `/items/` with `/items/{id}`. Even
 * with `distinct` slashes, the root of a mounted router matches with and without one.
 */
function addTrailing(
  segments: readonly string[],
  { parameters, trailingSlash }: PathRules,
  add: (segments: readonly string[], operationsOnly?: boolean) => void,
): void {
  const last = segments.at(-1);
  const isEmpty = last === '' || (parameters === 'ignore' && last?.startsWith(';') === true);
  // A segment that begins with `;` is empty for some readers and a name for others.
  const isEither = !isEmpty && parameters !== 'keep' && (last?.startsWith(';') || last?.startsWith('%3B'));
  const isDistinct = trailingSlash === 'distinct';
  if (isEither || !isEmpty || isDistinct) add(segments);
  if (isEither || isEmpty) add(segments.slice(0, -1), isEmpty && isDistinct);
  if (isEmpty && trailingSlash === 'any') add(segments, true);
}

/** The literal path first. `split`: the tail with encoded slashes decoded. */
function spellings(tail: string, split: string, rules: PathRules): ReadonlySet<string> {
  const paths = new Set([tail, split]);
  // Some routers cut the whole path at a `;`, as at a `?`. A proxy may have decoded it.
  if (rules.parameters !== 'keep')
    for (const end of [PARAMETERS, DECODED_PARAMETERS]) {
      const path = cutAt(tail, end);
      paths.add(path).add(splitSlashes(path, rules));
    }
  return paths;
}

/** Services merge repeated slashes, and identifiers such as https%3A%2F%2Fexample.com contain two. */
function splitSlashes(path: string, { encodedSlash }: PathRules): string {
  return encodedSlash === 'both' && path.includes('%2F') ? path.replace(/(?:\/|%2F)+/g, '/') : path;
}
