// Any text for properties: whatever code units there are, and often those that end or begin something where they stand.
// Chance alone would not meet a quote in thousands of texts.
import fc from 'fast-check';

const TELLING = [
  '"',
  '\\',
  '<',
  '>',
  ',',
  ';',
  '=',
  '%',
  '/',
  '?',
  '#',
  '.',
  ' ',
  '\t',
  '\r',
  '\n',
  '\0',
  '\x7f',
];

/** Lone surrogates and control characters included. */
export const anyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(...TELLING),
      fc.nat(0xffff).map((code) => String.fromCharCode(code)),
    ),
    {
      maxLength: 12,
    },
  )
  .map((characters) => characters.join(''));

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any character, surrogates left out: the unit of a string that is well-formed. The `binary` of fast-check draws the same,
 * from a table of all million of them that it makes first and keeps.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(0x10ffff - SURROGATES)
  .map((rank) => String.fromCodePoint(rank < FIRST_SURROGATE ? rank : rank + SURROGATES), rankOf);

/** The way back, by which fast-check knows that names such as `__proto__` are made of these: it often draws them. */
function rankOf(character: unknown): number {
  const code = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (code === undefined || character !== String.fromCodePoint(code)) throw new Error('not one character');
  return code < FIRST_SURROGATE ? code : code - SURROGATES;
}
