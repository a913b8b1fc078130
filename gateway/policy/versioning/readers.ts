// The carrier readers: each returns what a request writes in one carrier, without judging it.
import { NO_PREFERENCES, readPreferences } from './accept.ts';
import { CARRIERS, type Carrier, type NamedCarrier } from './carriers.ts';
import { resemblesVersion } from './look-alike.ts';
import { otherVersionsIn, parseMediaType, versionIn } from './media-type.ts';
import { misspeltContent } from './misspelt-type.ts';
import { lookAlikes, parameterValues } from './query.ts';
import type {
  CarrierInput,
  Claim,
  Evidence,
  MediaTemplate,
  PathInTail,
  ResolutionRules,
} from './resolution.ts';

type Reader = (input: CarrierInput) => Claim | readonly Claim[] | undefined;

type Enabled = Pick<ResolutionRules, 'pathInTail' | NamedCarrier | 'isIgnored' | 'mediaTypes'>;

/** Each row returns its reader, or undefined if the API has not enabled the carrier (VER-2). */
const READERS: readonly ((enabled: Enabled) => Reader | undefined)[] = [
  ({ pathInTail }) => (pathInTail === undefined ? readPath : (input) => readTail(pathInTail, input)),
  () => readSubdomain,
  ({ header }) => (header === undefined ? undefined : (input) => readHeader(header, input)),
  ({ query, isIgnored }) => (query === undefined ? undefined : (input) => readQuery(query, isIgnored, input)),
  ({ mediaTypes }) => (mediaTypes.length === 0 ? undefined : (input) => readContentType(mediaTypes, input)),
];

const NO_CLAIMS: readonly Claim[] = [];

const LETTER_V = 0x76;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;

/** Reads the enabled carriers in the order of the table. A disabled carrier costs nothing per request. */
export function claimsReader(enabled: Enabled): (input: CarrierInput) => readonly Claim[] {
  const readers = READERS.flatMap((row) => row(enabled) ?? []);
  return (input) => {
    let claims: readonly Claim[] | undefined;
    for (const read of readers) {
      const found = read(input);
      if (found === undefined) continue;
      const more = 'carrier' in found ? [found] : found;
      claims = claims === undefined ? more : [...claims, ...more];
    }
    return claims ?? NO_CLAIMS;
  };
}

/** All versions that a request names. Only those in `Accept` are negotiated. */
export function readEvidence(rules: ResolutionRules, input: CarrierInput): Evidence {
  const { mediaTypes } = rules;
  const preferences = mediaTypes.length === 0 ? NO_PREFERENCES : readPreferences(mediaTypes, input.headers);
  return { claims: rules.readClaims(input), preferences };
}

/**
 * Whether no carrier except path or host names a version. A client sends all other carriers again to a redirect target,
 * which would refuse them (RET-5).
 */
export function isNamedOnlyInUrl({ claims, preferences }: Evidence): boolean {
  return (
    claims.every(({ carrier }) => CARRIERS[carrier].inUrl) &&
    preferences.every(({ claim }) => claim === undefined)
  );
}

/**
 * Whether a segment looks like a version: `v1`, `1`, and also `v01`, which is refused later as malformed. Not `vendors`.
 */
export function looksLikeVersion(segment: string): boolean {
  const first = segment.charCodeAt(segment.charCodeAt(0) === LETTER_V ? 1 : 0);
  return first >= DIGIT_0 && first <= DIGIT_9 && !/;|%2F/.test(segment);
}

function readPath({ pathSegment }: CarrierInput): Claim | undefined {
  return pathSegment === undefined ? undefined : { carrier: 'path', value: pathSegment };
}

/**
 * If the version follows the base, the route table reads a misspelt one as part of the tail: `/api/orders/vx` beside
 * `/api/orders/v1`. This reader returns it as a claim, so that it is refused.
 */
function readTail({ before, after }: PathInTail, input: CarrierInput): Claim | undefined {
  if (input.pathSegment !== undefined || !input.tail.startsWith(`${before}/`)) return readPath(input);
  const start = before.length;
  let first = start;
  while (input.tail[first] === '/') first += 1;
  const slash = input.tail.indexOf('/', first);
  const end = slash < 0 ? input.tail.length : slash;
  const rest = input.tail.slice(end);
  if (!rest.startsWith(after) || !['', '/'].includes(rest.charAt(after.length))) return undefined;
  // Includes empty segments before it, so that the version counts as malformed.
  const segment = input.tail.slice(start + 1, end);
  return resemblesVersion(segment) ? { carrier: 'path', value: segment } : undefined;
}

function readSubdomain({ subdomain }: CarrierInput): Claim | undefined {
  return subdomain === undefined ? undefined : { carrier: 'subdomain', value: subdomain };
}

/**
 * The field itself, and names with another character instead of `-`: a CGI service cannot tell them apart (VER-4, SMG-25).
 */
function readHeader(name: string, input: CarrierInput): Claim | readonly Claim[] | undefined {
  const ownClaims = readLines(name, input);
  const similarNames: string[] = [];
  const look = (each: string): void => {
    if (each.length === name.length && each !== name && each.replace(/[^a-z0-9]/g, '-') === name)
      similarNames.push(each);
  };
  input.headers.each(look);
  input.underscored?.forEach(look);
  return similarNames.length === 0
    ? ownClaims
    : [...[ownClaims ?? []].flat(), ...claimsOf('header', similarNames)];
}

/** Repeated lines arrive joined with commas. They are split again, so that they can disagree (VER-3). */
function readLines(name: string, { headers }: CarrierInput): Claim | readonly Claim[] | undefined {
  const value = headers.get(name);
  if (value === undefined) return undefined;
  return value.includes(',')
    ? claimsOf('header', value.split(',').map(trimBlanks))
    : { carrier: 'header', value };
}

function readQuery(
  name: string,
  isIgnored: (name: string) => boolean,
  { search }: CarrierInput,
): readonly Claim[] | undefined {
  if (search.length < 2) return undefined;
  const values = [...parameterValues(search, name), ...lookAlikes(search, name, isIgnored)];
  return values.length === 0 ? undefined : claimsOf('query', values);
}

/** NEG-6: one type, not a list. The type is ignored for methods without a body. */
function readContentType(
  templates: readonly MediaTemplate[],
  { method, headers }: CarrierInput,
): readonly Claim[] | undefined {
  const value = headers.get('content-type');
  if (value === undefined || method === 'GET' || method === 'HEAD') return undefined;
  const media = parseMediaType(value);
  const misspelt = misspeltContent(templates, media, value);
  if (misspelt !== undefined) return [{ carrier: 'content_type', value: misspelt }];
  const version = versionIn(templates, media);
  if (version === undefined) return undefined;
  const others = otherVersionsIn(templates, media, value, version);
  return [{ carrier: 'content_type', ...version }, ...claimsOf('content_type', others)];
}

function claimsOf(carrier: Carrier, values: readonly string[]): readonly Claim[] {
  return values.map((value) => ({ carrier, value }));
}

/**
 * Removes SP and HTAB at both ends, the optional whitespace of RFC 9110 §5.6.3. `trim()` would also remove a no-break space
 * and so accept a malformed value. It is a loop, because `/[ \t]+$/` is quadratic on hostile input.
 */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
