// Replaces percent-encoded octets in text.

/** In characters. A longer request segment matches no literal of a template, base or upstream path. */
export const LONGEST_LITERAL = 150;

/** Decodes once, to one character per octet, so that no octet sequence is invalid. */
export function decodedOctets(text: string): string {
  return replaceOctets(text, CHARACTERS);
}

/** Builds a table for `replaceOctets`: the replacement of each octet. Undefined keeps the octet as written. */
export function octetTable<T extends string | undefined>(
  of: (character: string, octet: number) => T,
): readonly T[] {
  return Array.from({ length: 256 }, (_, octet) => of(String.fromCharCode(octet), octet));
}

const CHARACTERS = octetTable((character) => character);
const UNRESERVED = /^[A-Za-z0-9._~-]$/;
const NORMALISED = octetTable((character, octet) =>
  UNRESERVED.test(character) ? character : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`,
);

/** RFC 3986 §6.2.2.1, §6.2.2.2: decodes unreserved characters and writes hex digits in upper case. */
export function decodeUnreserved(path: string): string {
  return replaceOctets(path, NORMALISED);
}

/** A loop, because a regular expression with a callback takes ten times as long per octet. */
export function replaceOctets(text: string, table: readonly (string | undefined)[]): string {
  let replaced = '';
  let from = 0;
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', Math.max(at + 1, from))) {
    const replacement = table[16 * hexDigit(text.charCodeAt(at + 1)) + hexDigit(text.charCodeAt(at + 2))];
    if (replacement === undefined) continue;
    replaced += text.slice(from, at) + replacement;
    from = at + 3;
  }
  return from === 0 ? text : replaced + text.slice(from);
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
