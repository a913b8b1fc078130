// How services read the path of a request: the rules that an API declares, and the readings that follow from them.
// A request is judged by each reading, so that no spelling of a path passes the rules for its plain form.
import { decodedOctets } from '../notation.ts';

/** `any`: not known. Every reading that the other values allow is then judged. */
export interface PathRules {
  readonly case: 'sensitive' | 'insensitive' | 'any';
  /** `;x=1` in a segment. */
  readonly parameters: 'keep' | 'ignore' | 'any';
  /** `.json` at the end of the path. */
  readonly suffix: 'keep' | 'ignore' | 'any';
  readonly trailingSlash: 'same' | 'distinct' | 'any';
  /** `both`: the service may take %2F for a character of its segment, or for the end of it. */
  readonly encodedSlash: 'keep' | 'reject' | 'both';
  /** Whether the service is known to decode characters such as %3A before it compares. */
  readonly reserved: 'decode' | 'any';
}

export interface PathSegment {
  /** As the client wrote it, normalised by VER-7. */
  readonly raw: string;
  /** As the reader compares it: one character per octet. */
  readonly name: string;
}

/** What one reader makes of a path. */
export interface ReadPath {
  readonly segments: readonly PathSegment[];
  readonly ignoresCase: boolean;
  readonly ignoresSuffix: boolean;
  /** A path without an operation means nothing to this reader: another reading has the rules for it. */
  readonly operationsOnly?: boolean;
}

const EDGE_BLANKS = /^[ \t]+|[ \t]+$/g;
const BLANK_AT_EDGE = /(?:^|\/)%(?:20|09)|%(?:20|09)(?:\/|;|$)/;
// Letters that are no ASCII but become it in upper or lower case: ſ, K (Kelvin), İ and ı.
const FOLDED_TO_ASCII = /%C5%BF|%E2%84%AA|%C4%B[01]/;
const ASCII_OF: readonly (readonly [RegExp, string])[] = [
  [/\xC5\xBF/g, 's'],
  [/\xE2\x84\xAA/g, 'k'],
  [/\xC4[\xB0\xB1]/g, 'i'],
];

/**
 * Every way in which a service that keeps `rules` may read what follows the base of an API; first the literal one.
 * Undefined for an empty segment before the last: services disagree about those.
 */
export function readingsOf(tail: string, rules: PathRules): readonly ReadPath[] | undefined {
  if (tail.slice(0, -1).includes('//') || tail === '//') return undefined;
  const readings: ReadPath[] = [];
  for (const segments of segmentations(tail, rules)) {
    if (segments === undefined) return undefined;
    for (const path of trailing(segments, rules)) {
      const suffixes = path.segments.at(-1)?.name.includes('.')
        ? choices(rules.suffix, 'keep', 'ignore')
        : [false];
      for (const ignoresCase of choices(rules.case, 'sensitive', 'insensitive'))
        for (const ignoresSuffix of suffixes) readings.push({ ...path, ignoresCase, ignoresSuffix });
    }
  }
  return readings;
}

/** The literal reading of a path that is not a request's own; empty segments count for nothing. */
export function literalReading(tail: string): ReadPath {
  const segments = tail.split('/').filter((raw) => raw !== '');
  return {
    segments: segments.map((raw) => ({ raw, name: decodedOctets(raw) })),
    ignoresCase: false,
    ignoresSuffix: false,
  };
}

/** ASCII only: a name is a string of octets. */
export function withoutCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** The names that a segment may stand for in this reading, the likeliest first. */
export function namesOf(
  { segments, ignoresCase, ignoresSuffix }: ReadPath,
  index: number,
): readonly string[] {
  const written = segments[index]?.name ?? '';
  const name = ignoresCase ? withoutCase(written) : written;
  if (!ignoresSuffix || index < segments.length - 1) return [name];
  const names = [name];
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1))
    names.push(name.slice(0, dot));
  return names;
}

/** Whether a reader does what `changed` says: no, yes, or either of the two. */
function choices(written: string, kept: string, changed: string): readonly boolean[] {
  if (written === changed) return [true];
  return written === kept ? [false] : [false, true];
}

type Path = Pick<ReadPath, 'segments' | 'operationsOnly'>;

/** A last empty segment is dropped, or an empty value of a parameter: some routers take `/items/` for `/items/{id}`. */
function trailing(segments: readonly PathSegment[], { trailingSlash }: PathRules): readonly Path[] {
  if (segments.at(-1)?.name !== '') return [{ segments }];
  const same = { segments: segments.slice(0, -1) };
  if (trailingSlash === 'same') return [same];
  return trailingSlash === 'distinct' ? [{ segments }] : [same, { segments, operationsOnly: true }];
}

type Cut = 'none' | 'raw' | 'decoded';

/** The literal one first; undefined stands for an empty segment before the last. */
function segmentations(tail: string, rules: PathRules): readonly (readonly PathSegment[] | undefined)[] {
  if (!/[%;]/.test(tail)) return [segmentsOf(tail, false, 'none')];
  const found: (readonly PathSegment[] | undefined)[] = [];
  const isEncoded = tail.includes('%');
  for (const splits of rules.encodedSlash === 'both' && tail.includes('%2F') ? [false, true] : [false])
    for (const cut of cutsOf(tail, rules)) found.push(segmentsOf(tail, splits, cut));
  if (rules.reserved === 'any' && isEncoded) found.push(segmentsOf(tail, false, 'none', (raw) => raw));
  // Routers that end the whole path at a `;`, as if it were `?`.
  if (rules.parameters === 'any' && tail.includes(';'))
    found.push(segmentsOf(tail.slice(0, tail.indexOf(';')), false, 'none'));
  if (rules.parameters === 'any' && BLANK_AT_EDGE.test(tail))
    found.push(segmentsOf(tail, false, 'raw', (raw) => trimmed(decodedOctets(raw))));
  if (rules.case !== 'sensitive' && FOLDED_TO_ASCII.test(tail))
    found.push(segmentsOf(tail, false, 'none', (raw) => asciiOf(decodedOctets(raw))));
  return found;
}

function cutsOf(tail: string, { parameters }: PathRules): readonly Cut[] {
  if (parameters === 'keep') return ['none'];
  const cuts: Cut[] = parameters === 'any' ? ['none'] : ['raw'];
  if (parameters === 'any' && tail.includes(';')) cuts.push('raw');
  // A proxy in front of the service may decode it on the way.
  if (tail.includes('%3B')) cuts.push('decoded');
  return cuts;
}

/** Undefined for an empty segment before the last, where no slash that was encoded made it. */
function segmentsOf(
  tail: string,
  splits: boolean,
  cut: Cut,
  read: (raw: string) => string = decodedOctets,
): readonly PathSegment[] | undefined {
  if (tail === '') return [];
  const pieces = (tail.startsWith('/') ? tail.slice(1) : tail).split(splits ? /\/|%2F/ : '/');
  const segments: PathSegment[] = [];
  for (const [index, raw] of pieces.entries()) {
    const whole = cut === 'raw' ? until(raw, ';') : raw;
    const name = cut === 'decoded' ? until(read(whole), ';') : read(whole);
    if (name === '' && index < pieces.length - 1) {
      // Services merge these, and identifiers such as https%3A%2F%2Fexample.com have them.
      if (splits && raw === '') continue;
      return undefined;
    }
    segments.push({ raw, name });
  }
  return segments;
}

function until(text: string, end: string): string {
  const at = text.indexOf(end);
  return at < 0 ? text : text.slice(0, at);
}

/** A segment of blanks alone stays one. */
function trimmed(name: string): string {
  return name.replace(EDGE_BLANKS, '') || name;
}

function asciiOf(name: string): string {
  return ASCII_OF.reduce((text, [letter, ascii]) => text.replace(letter, ascii), name);
}
