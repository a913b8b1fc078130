// The readers table: one row per carrier, each reading what a request writes there and judging nothing.
// A new carrier is a function, its row, and its member of `Carrier`.
import type { Carrier, CarrierInput, Claim, ResolutionRules } from './resolution.ts';

/** What one carrier says: nothing, one value, or the several values of a repeated carrier. */
type Reader = (rules: ResolutionRules, input: CarrierInput) => string | readonly string[] | undefined;

const READERS: readonly { readonly carrier: Carrier; readonly read: Reader }[] = [
  { carrier: 'path', read: readPath },
  { carrier: 'header', read: readHeader },
];

const NO_CLAIMS: readonly Claim[] = [];

/** Reads every carrier the API has enabled (VER-2), in the order of the table. */
export function readClaims(rules: ResolutionRules, input: CarrierInput): readonly Claim[] {
  let claims: Claim[] | undefined;
  for (const { carrier, read } of READERS) {
    const found = read(rules, input);
    if (found === undefined) continue;
    claims ??= [];
    if (typeof found === 'string') claims.push({ carrier, value: found });
    else for (const value of found) claims.push({ carrier, value });
  }
  return claims ?? NO_CLAIMS;
}

function readPath(_rules: ResolutionRules, input: CarrierInput): string | undefined {
  return input.pathSegment;
}

/** Repeated lines arrive joined by a comma and are told apart again, so that they can disagree (VER-3). */
function readHeader(rules: ResolutionRules, input: CarrierInput): string | readonly string[] | undefined {
  if (rules.header === undefined) return undefined;
  const value = input.headers[rules.header];
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value.includes(',') ? value.split(',').map(trimBlanks) : value;
  return value.flatMap((line) => line.split(',').map(trimBlanks));
}

/**
 * Removes SP and HTAB at both ends, which is all that RFC 9110 §5.6.3 calls optional whitespace: `trim()` would also
 * take a no-break space and make a malformed value good. A loop, since `/[ \t]+$/` is quadratic on hostile input.
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
