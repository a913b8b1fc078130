// Arbitrary strings for properties, with more quotes, escapes and delimiters than chance would draw.
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

/** Includes lone surrogates and control characters. */
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

/** Any character but surrogates. Unlike fast-check's `binary`, it keeps no table of a million entries. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(0x10ffff - SURROGATES)
  .map((rank) => String.fromCodePoint(rank < FIRST_SURROGATE ? rank : rank + SURROGATES), rankOf);

/** The inverse. fast-check needs it to recognise names such as `__proto__`, which it often draws. */
function rankOf(character: unknown): number {
  const code = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (code === undefined || character !== String.fromCodePoint(code)) throw new Error('not one character');
  return code < FIRST_SURROGATE ? code : code - SURROGATES;
}
