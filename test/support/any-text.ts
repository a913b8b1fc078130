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
