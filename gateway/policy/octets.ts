// Percent-encoded octets: text with each of them decoded or written in another way.
// Loops and tables, since hostile paths consist of nothing else.

/** Percent-encoded text, decoded once: one character per octet, so that no octets are invalid. */
export function decodedOctets(text: string): string {
  return replaceOctets(text, CHARACTERS);
}

/** A table for `replaceOctets`: what stands for each percent-encoded octet; undefined keeps it as written. */
export function octetTable<T extends string | undefined>(
  of: (character: string, octet: number) => T,
): readonly T[] {
  return Array.from({ length: 256 }, (_, octet) => of(String.fromCharCode(octet), octet));
}

const CHARACTERS = octetTable((character) => character);

/** A loop, since a regular expression with a function takes ten times as long for each octet. */
export function replaceOctets(text: string, table: readonly (string | undefined)[]): string {
  let replaced = '';
  let from = 0;
  for (let at = text.indexOf('%'); at >= 0; at = text.indexOf('%', Math.max(at + 1, from))) {
    const instead = table[16 * hexDigit(text.charCodeAt(at + 1)) + hexDigit(text.charCodeAt(at + 2))];
    if (instead === undefined) continue;
    replaced += text.slice(from, at) + instead;
    from = at + 3;
  }
  return from === 0 ? text : replaced + text.slice(from);
}

/** NaN for anything else. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
