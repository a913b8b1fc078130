// Translates syntax errors of the YAML parser for operators. Quotes nothing from the file.

interface SyntaxWords {
  readonly message: string;
  readonly hint?: string;
}

type Row = readonly [reported: RegExp, message: string, hint?: string];

const QUOTES =
  "write the whole value in quotes; a quote of the same kind inside is written twice, '', or as \\\"";
const MARKS = 'quote a value that begins with *, & or !';
const COLUMN = 'align the lines above and below with this one';

/** The first matching row wins. `$1` in a hint is the first group. */
const ROWS: readonly Row[] = [
  [/call stack/, 'nested too deeply'],
  [/^Tabs are not allowed/, 'a tab indents this line', 'write spaces'],
  [
    /must start at the same column$/,
    'this line is indented differently from the lines above it',
    'align the line with the others of its map or list',
  ],
  [
    /^Implicit (?:map )?keys|^The : indicator must/,
    'this key has no value',
    'is a colon missing after the key, or a space after the colon?',
  ],
  [
    /^Nested mappings are not allowed in compact/,
    'two keys are on one line',
    'align the next line with this one; quote a value that has a colon and a space',
  ],
  [/^A block sequence may not be used as/, 'there is a list where a key is expected', COLUMN],
  [
    /^Block collections are not allowed within flow/,
    'an indented list or map is inside { } or [ ]',
    'is a comma missing, or a quote around a value with a colon?',
  ],
  [/^Plain value cannot start with/, 'a value without quotes cannot begin with this character', QUOTES],
  [/^Unexpected (?:double-quoted-|single-quoted-)?scalar/, 'text follows the end of a value', QUOTES],
  [
    /^Flow \w+ .*end with a ([\]}])$/,
    'a bracket or a brace is not closed',
    'is a $1 missing above, or should this line be indented further?',
  ],
  [
    /^Unexpected flow-\w+-end[^"]*"?([\]}])?/,
    'a bracket or a brace is closed here but was not opened',
    'remove this $1, or open its bracket',
  ],
  [
    /^Unexpected flow-\w+-start/,
    'a bracket or a brace opens after the end of a value',
    'one file has one document: remove what follows the first',
  ],
  [
    /^Unexpected (?:,|comma|empty item)/,
    'there is nothing before this comma',
    'add an entry before this comma, or remove the comma',
  ],
  [/^Missing , /, 'a comma is missing', 'write a comma between the entries'],
  [/^Missing space after :/, 'a space is missing', 'write a space after the colon'],
  [/^Missing closing/, 'a quote is not closed'],
  [
    /^Invalid escape sequence/,
    'this backslash means nothing in YAML',
    "write the backslash twice, or the value in single quotes '…'",
  ],
  [
    /^Comments must be separated/,
    'this # does not begin a comment',
    'write a space before the #, or the whole value in quotes',
  ],
  [
    /^(?:An )?(?:Alias|alias|Anchor)|^A node can have|^Tags and anchors|^Unexpected (?:alias|anchor|tag)|^Unresolved tag|\btags?\b/,
    'an alias (*), an anchor (&) or a tag (!) is not allowed here',
    MARKS,
  ],
  [
    /^Not a YAML token|^Block scalar header|block scalar header/,
    'text follows | or > on the same line',
    'write nothing else on the line after | or >',
  ],
  [
    /^Unexpected block-seq-ind on same line/,
    'a list begins in the line of its key',
    'begin the list in the next line, or write it as [ … ]',
  ],
  [/^Sequence item without|seq-item-ind|block-seq/, 'a list and keys begin in one column', COLUMN],
  [
    /^Block scalar/,
    'the lines of this text are not indented alike',
    'write spaces before the lines of the text',
  ],
  [
    /directive|YAML version|doc-(?:start|end)/,
    'a line with %, --- or ... divides this file',
    'remove it: one file has one document',
  ],
];

/** Returns a fallback for unknown errors, such as those of a newer parser. */
export function syntaxWords(reported: string): SyntaxWords {
  for (const [pattern, message, hint] of ROWS) {
    const found = pattern.exec(reported);
    if (found === null) continue;
    return hint === undefined ? { message } : { message, hint: hint.replace('$1', found[1] ?? 'one') };
  }
  return {
    message: 'this is not YAML',
    hint: 'compare this line and the line above with a valid file',
  };
}
