// How a YAML or JSON file is written: line ends, indentation, quotes; and new values in the same style.
// Used by text-edits.ts alone.
import { isScalar, type Scalar, type YAMLMap } from 'yaml';

/** What a map should say; what it does not name is left alone. */
export interface Wanted {
  readonly [key: string]: string | boolean | null | Wanted;
}

export interface Style {
  readonly eol: '\n' | '\r\n';
  /** One level deeper. */
  readonly step: string;
  readonly isJson: boolean;
  /** No blanks after colons and commas. */
  readonly isCompact: boolean;
}

const WORD = /^[A-Za-z][A-Za-z0-9_-]*$/;
/** Words that older parsers of YAML take for something else than text. */
const NO_TEXT = /^(true|false|null|yes|no|on|off|y|n)$/i;

export function styleOf(text: string, root: YAMLMap | undefined): Style {
  const first = root?.items[0]?.key;
  const isJson = root?.flow === true && isScalar(first) && first.type === 'QUOTE_DOUBLE';
  const step = /\n([ \t]+)[^\s#]/.exec(text)?.[1] ?? '  ';
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    step: isJson || /^ {1,8}$/.test(step) ? step : '  ',
    isJson,
    isCompact: isJson && !/":\s/.test(text),
  };
}

/** For the place of `there`: the same kind of quotes; undefined stands for nothing written. */
export function replacementText(
  there: Scalar | undefined,
  value: string | boolean | null,
  style: Style,
): string {
  if (typeof value !== 'string') return String(value);
  switch (there?.type) {
    case 'QUOTE_SINGLE':
      return `'${value.replaceAll("'", "''")}'`;
    case 'PLAIN':
      // As plain as before: a date, a word, a path; what needs quotes gets them.
      return typeof there.value === 'string' && /^[A-Za-z0-9/][\w./:-]*$/.test(value) && !value.endsWith(':')
        ? value
        : scalarText(value, style);
    case 'BLOCK_FOLDED':
    case 'BLOCK_LITERAL':
      return JSON.stringify(value) + style.eol;
    default:
      return scalarText(value, style);
  }
}

/** Lines of a block map at `indent`, each with its end. */
export function blockLines(wanted: Wanted, indent: string, style: Style): string {
  return Object.entries(wanted)
    .map(([key, value]) =>
      typeof value === 'object' && value !== null
        ? `${indent}${key}:${style.eol}${blockLines(value, indent + style.step, style)}`
        : `${indent}${key}: ${scalarText(value, style)}${style.eol}`,
    )
    .join('');
}

/**
 * `{ key: value }` on one line. With `separator` only the members, with that between them; with `indent` their own
 * maps on lines of their own.
 */
export function flowText(wanted: Wanted, style: Style, indent?: string, separator?: string): string {
  const colon = style.isCompact ? ':' : ': ';
  const members = Object.entries(wanted).map(([key, value]) => {
    const name = style.isJson ? JSON.stringify(key) : key;
    if (typeof value !== 'object' || value === null) return name + colon + scalarText(value, style);
    if (indent === undefined) return name + colon + flowText(value, style);
    const inner = indent + style.step;
    const lines = flowText(value, style, inner, `,${style.eol}${inner}`);
    return `${name}${colon}{${style.eol}${inner}${lines}${style.eol}${indent}}`;
  });
  if (separator !== undefined) return members.join(separator);
  return style.isCompact ? `{${members.join(',')}}` : `{ ${members.join(', ')} }`;
}

function scalarText(value: string | boolean | null, { isJson }: Style): string {
  if (typeof value !== 'string') return String(value);
  return !isJson && WORD.test(value) && !NO_TEXT.test(value) ? value : JSON.stringify(value);
}
