// Reads a text of a file: substitutes references and refuses control characters.
import { controlIn } from '../../policy/contract.ts';
import { type Interpolated, interpolate, type Sources } from './interpolate.ts';
import { matchesPath } from './values.ts';

type Path = readonly (string | number)[];

/** `raw` is the text at `path`. Published fields allow no references. */
export function readText(raw: string, path: Path, sources: Sources): Interpolated {
  if (raw.includes('${') && isPublished(path)) return NOT_PUBLISHED;
  const filled = interpolate(raw, sources);
  if (filled.kind === 'failed') return filled;
  const from = filled.kind === 'literal' ? [] : filled.from;
  const refused = controlProblem(filled.kind === 'literal' ? raw : filled.text, path, from);
  return refused === undefined ? filled : { kind: 'failed', ...refused, from };
}

const NOT_PUBLISHED: Interpolated = {
  kind: 'failed',
  message: `\${…} is not allowed here: answers, metrics or reports show this field`,
  hint: 'write the text itself',
  from: [],
};

/** The problem with the characters of a value or a key. `from`: the sources of a substituted value. */
export function controlProblem(
  text: string,
  path: Path,
  from: readonly string[] = [],
): { readonly message: string; readonly hint: string } | undefined {
  // Whitespace of a field value (RFC 9110 section 5.5).
  const found = controlIn(text, path.at(-2) === 'set' ? '\t' : '');
  if (found === undefined) return undefined;
  const source = from.length === 0 ? '' : ` (from ${from.join(', ')})`;
  if (found === 'U+000A' || found === 'U+000D')
    return { message: `this text has several lines${source}`, hint: 'write it on one line' };
  const what = /^U\+D[89A-F]/.test(found)
    ? `the lone surrogate ${found}, half of a character,`
    : `the control character ${found}`;
  return { message: `${what} is not allowed in a text${source}`, hint: 'remove it' };
}

const LIFECYCLE = ['successor', 'alternate', 'guide', 'status', 'service_doc', 'service_desc', 'reason'];
const EXCEPTIONS = ['consumer', 'why', 'by'].map((key) => `exceptions.#.${key}`);
const SCOPES = ['access.scopes.read.#', 'access.scopes.write.#'];

/** Texts and links that clients or reports see. Dates and numbers hold no secret; addresses may be substituted. */
export const PUBLISHED_FIELDS: readonly string[] = [
  'api',
  ...LIFECYCLE.filter((field) => field !== 'successor'),
  ...['brownouts.#.message', 'limits.#.name', ...SCOPES, ...EXCEPTIONS],
  'headers.response.set.*',
  ...[...LIFECYCLE, 'after.redirect', 'brownouts.#.message', 'limits.#.name', ...SCOPES, ...EXCEPTIONS].map(
    (field) => `versions.*.${field}`,
  ),
  ...['successor', 'guide', 'reason', 'brownouts.#.message', 'limits.#.name', 'access.scopes.#'].map(
    (field) => `versions.*.operations.*.${field}`,
  ),
];

const PATTERNS = PUBLISHED_FIELDS.map((field) => field.replaceAll('#', '*').split('.'));

function isPublished(path: readonly (string | number)[]): boolean {
  return PATTERNS.some((pattern) => matchesPath(path, pattern));
}
