// What the YAML parser says of a text, and what is nearly always meant by it.
// For yaml-text.ts; a message without a row here stands alone.

/** A syntax problem; offsets are positions in the text. */
export interface SyntaxProblem {
  readonly from: number;
  readonly to: number;
  readonly message: string;
  readonly hint?: string;
}

/** What is nearly always meant by what the parser says. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/^Tabs are not allowed/, 'write spaces'],
  [/must start at the same column$/, 'begin the line in the column of those it belongs to'],
  [
    /^Implicit (?:map )?keys need to be (?:on a single line|followed by)/,
    'is a colon missing behind the key, or a space behind the colon?',
  ],
  [
    /^Nested mappings are not allowed in compact/,
    'begin the next line in the column of this one; a value with a colon and a space in it is written in quotes',
  ],
  [/^A block sequence may not be used as/, 'begin the lines above and below in the column of this one'],
  [
    /^Block collections are not allowed within flow/,
    'is a comma missing, or a quote around a value with a colon?',
  ],
  [
    /^Plain value cannot start with|^Unexpected scalar at node end/,
    "write the whole value in quotes; a quote of the same kind inside is written twice, '', or as \\\"",
  ],
  [
    /^Flow \w+ in block.* end with a ([\]}])$/,
    'is a $1 missing above, or does this line belong farther right?',
  ],
  [/^Unexpected flow-\w+-end token in YAML stream: "(.)"/, 'which bracket does this $1 close? Take it out'],
  [/^Unexpected flow-\w+-start at node end/, 'one file holds one document: take out what follows the first'],
  [/^Unexpected , in flow/, 'an entry is missing before this comma, or the comma is one too many'],
  [/^Missing , or : between flow/, 'write a comma between the entries'],
  [/^Missing space after :/, 'write a space behind the colon'],
  [/^Invalid escape sequence/, "write the backslash twice, or the value in single quotes '…'"],
  [/^Comments must be separated/, 'write a space before the #, or the whole value in quotes'],
  [/^(?:Alias|Anchor) |^Unresolved tag/, 'a value that begins with *, & or ! is written in quotes'],
  [/^Not a YAML token|^Block scalar header/, 'nothing else stands in the line behind | or >'],
  [/^Unexpected block-seq-ind on same line/, 'begin the list in the next line, or write it as [ … ]'],
  [/^Block scalar values in collections must be/, 'write spaces before the lines of the text'],
];

/** What the parser has `written` of the text between two offsets, with what to do where that is nearly always the same. */
export function inWords(from: number, to: number, written: string): SyntaxProblem {
  const message = sentence(written);
  const [pattern, advice] = ADVICE.find(([known]) => known.test(message)) ?? [];
  const hint = pattern && advice?.replace('$1', pattern.exec(message)?.[1] ?? '');
  return { from, to, message, ...(hint !== undefined && { hint }) };
}

/** The parser reports what its recursion could not follow as an overflow. */
function sentence(message: string): string {
  return /call stack/.test(message) ? 'nested too deeply' : message.replace(/\s+/g, ' ');
}
