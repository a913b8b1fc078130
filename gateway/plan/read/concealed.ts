// Decides which parts of a file findings must not quote: values of header rules and of keys that look secret.
import { distance } from 'fastest-levenshtein';
import { type Document, isMap, isNode, isScalar, isSeq } from 'yaml';
import { grammarWords, TOP_KEYS } from '../grammar/editor-schemas.ts';

type Path = readonly (string | number)[];

const LIKE_A_SECRET =
  /pass|pwd|secret|token|key|auth|cred|cookie|bearer|session|signature|signing|private|jwt|hmac|dsn|connection.?string|salt|(?:^|[_-])sas(?:$|[_-])/i;
/** The same words for the detection of typos, each with its sorted letters. */
const WORDS: readonly (readonly [word: string, letters: string])[] = (
  'password passwd passphrase pass pwd secret secrets token tokens key apikey auth authorization credential ' +
  'credentials cookie bearer session signature signing private jwt hmac dsn salt'
)
  .split(' ')
  .map((word) => [word, sorted(word)]);
/** Keys of the grammars that look secret but hold words, names or a size. `key` of a certificate is a path. */
const NOT_SECRET: ReadonlySet<string> = new Set(['credentials_in_url', 'token_cache', 'taken-over']);
/** The operator chooses the names of the keys below these. */
const MAPS_BY_NAME: ReadonlySet<string | number | undefined> = new Set([
  'versions',
  'operations',
  'identity',
  'upstreams',
  'contacts',
  'listeners',
  'rules',
]);
/** Keys of a header rule that hold field names or their sources. */
const FIELD_NAME_LISTS: ReadonlySet<string | number | undefined> = new Set(['remove', 'keep', 'from']);
/** Sections that hold a secret if they are not a map. */
const SECTIONS: readonly string[] = ['headers', 'client'];
/** Maps of header rules and clients. Their keys may be shown. */
const MAPS: ReadonlySet<string | number | undefined> = new Set([...SECTIONS, 'request', 'response', 'set']);
/** Documents are never nested this deeply. */
const DEEPEST = 40;

/** Whether no part of the value at `path` may be quoted. */
export function isConcealed(path: Path): boolean {
  return path.some((key, index) => {
    if (typeof key !== 'string') return false;
    const above = path[index - 1];
    // A list or a text where a map is expected.
    const isSection = key === 'client' || (key === 'headers' && index === 0);
    if (isSection && (index === path.length - 1 || typeof path[index + 1] === 'number')) return true;
    if (above === 'set' || (above === 'headers' && !FIELD_NAME_LISTS.has(path[index + 1]))) return true;
    if (key === 'authorization' && path[index - 2] === 'upstreams') return false;
    if (key === 'key' && (above === 'tls' || path[index - 2] === 'certificates')) return false;
    // A named part is a map. Any other value there may be a secret, judged by its name.
    const isName = MAPS_BY_NAME.has(above) && index < path.length - 1;
    return !NOT_SECRET.has(key) && !isName && isLikeASecret(key);
  });
}

/** Whether the keys of the value at `path` may be shown although its values may not. */
export function showsKeys(path: Path): boolean {
  return MAPS.has(path.at(-1)) || !isConcealed(path);
}

/** A method with a path, or a word. The rest of a key may be a value without a space after its colon. */
const NAME = /^["']?(?:[A-Za-z*,]+ \/\S*|[^\s:=;#]*)/;

/** The part of an unknown key that a finding may quote. */
export function shownKey(key: string): string {
  const name = (NAME.exec(key)?.[0] ?? '').slice(0, 59);
  return name.length < key.length ? `${name}…` : key;
}

/** Whether `key` has a word of `WORDS`, possibly with one typo or separators in it. */
export function isLikeASecret(key: string): boolean {
  const parts = key.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  const together = parts.replace(/[^a-z0-9]+/g, '');
  if (LIKE_A_SECRET.test(key) || LIKE_A_SECRET.test(together)) return true;
  return [...new Set([together, ...parts.split(/[^a-z0-9]+/)])].some(isTypo);
}

/** Words of three letters match only as anagrams: one wrong letter makes too many other words. */
function isTypo(part: string): boolean {
  const near = WORDS.filter(([word]) => Math.abs(part.length - word.length) <= 1);
  if (near.length === 0) return false;
  const own = sorted(part);
  return near.some(([word, letters]) => letters === own || (word.length > 3 && distance(part, word) <= 1));
}

function sorted(word: string): string {
  return [...word].sort().join('');
}

/** Shorter values are numbers and enum words. Dates are not secret. */
const SHORTEST = 4;
const CONFLICT = /^[<=>|]{7}$/;
const DATE = /^\d{4}-\d\d-\d\d(?:t[\d:.]+(?:z|[+-][\d:]+))?$/;

/** Replaces each whole word of `text` that is a value in `outside` by its origin. */
export function withoutOutside(text: string, outside: ReadonlyMap<string, string>): string {
  const origins = new Map([...outside].map(([value, origin]) => [value.toLowerCase(), origin]));
  const lower = text.toLowerCase();
  const found = [...origins.keys()].filter(
    (value) => value.length >= SHORTEST && !DATE.test(value) && lower.includes(value),
  );
  if (found.length === 0) return text;
  const longestFirst = found.sort((a, b) => b.length - a.length).map(asWord);
  return text.replace(
    new RegExp(longestFirst.join('|'), 'gi'),
    (value) => `[redacted] (from ${origins.get(value.toLowerCase())})`,
  );
}

function asWord(value: string): string {
  const [before, after] = [/^[a-z0-9]/.test(value), /[a-z0-9]$/.test(value)];
  return `${before ? '(?<![a-z0-9])' : ''}${RegExp.escape(value)}${after ? '(?![a-z0-9])' : ''}`;
}

/** Replaces every character that may not be shown by a star. Keeps the length, and the names of variables and files. */
export function concealed(text: string, trees: readonly Document[]): string {
  const [tree, ...others] = trees;
  const isWellFormed = tree !== undefined && others.length + tree.errors.length + tree.warnings.length === 0;
  return isWellFormed && holdsKnownKeys(tree) ? concealedByPath(text, tree) : concealedByWord(text);
}

function holdsKnownKeys({ contents }: Document): boolean {
  return (
    isMap(contents) && contents.items.some(({ key }) => isScalar(key) && TOP_KEYS.has(String(key.value)))
  );
}

const LONGEST_WORD = 100;
const BEFORE_WORD = /^[-{["'?,]*/;
const BEHIND_WORD = /[}\]"',:]*$/;

/** Without a valid tree, ends of values are uncertain: shows words of the grammars, dates and conflict markers only. */
function concealedByWord(text: string): string {
  return text.replace(/\S+/g, (piece) => {
    if (piece.length > LONGEST_WORD) return starred(piece);
    const from = BEFORE_WORD.exec(piece)?.[0].length ?? 0;
    const to = Math.max(from, BEHIND_WORD.exec(piece)?.index ?? piece.length);
    const word = piece.slice(from, to);
    const isShown = word === '' || grammarWords().has(word) || DATE.test(word) || CONFLICT.test(piece);
    return isShown ? piece : piece.slice(0, from) + starred(word) + piece.slice(to);
  });
}

const COMMENT = /(?<=^|[ \t])#.*$/gm;
type Range = readonly [from: number, to: number, ...rest: readonly number[]];

function concealedByPath(text: string, tree: Document): string {
  const marks: Range[] = [];
  const scalars: Range[] = [];
  const mark = (from: number | undefined, to: number | undefined): void => {
    if (from !== undefined && to !== undefined) marks.push([from, to]);
  };
  const walk = (node: unknown, path: Path, begin?: number): void => {
    if (!isNode(node)) return;
    if (isScalar(node) && node.range) scalars.push(node.range);
    const hasKeys = MAPS.has(path.at(-1)) || MAPS_BY_NAME.has(path.at(-2));
    const isWalked = path.length < DEEPEST && (!isConcealed(path) || hasKeys);
    if (isWalked && isMap(node)) {
      for (const { key, value } of node.items) {
        if (isScalar(key) && key.range) {
          const written = text.slice(key.range[0], key.range[1]);
          scalars.push(key.range);
          mark(key.range[0] + (NAME.exec(written)?.[0].length ?? 0), key.range[1]);
        }
        const name = isScalar(key) ? (key.source ?? String(key.value)) : '';
        walk(value, [...path, name], isNode(key) ? key.range?.[1] : undefined);
      }
    } else if (isWalked && isSeq(node))
      for (const [index, item] of node.items.entries()) walk(item, [...path, index]);
    else if (!isWalked || isConcealed(path)) {
      // Anchors and tags are in front of their value.
      const properties = text.slice(begin, node.range?.[0]).search(/[&!]/);
      if (begin !== undefined && properties >= 0) mark(begin + properties, node.range?.[0]);
      mark(node.range?.[0], node.range?.[1]);
    }
  };
  walk(tree.contents, []);
  const shown = replaced(text, marks, starred);
  // YAML takes a value that starts with # for a comment.
  const bare = replaced(shown, scalars, (scalar) => '*'.repeat(scalar.length));
  const comments = [...bare.matchAll(COMMENT)].map(
    ({ index, 0: comment }): Range => [index, index + comment.length],
  );
  return replaced(shown, comments, (comment) => ' '.repeat(comment.length));
}

/** Replaces overlapping parts once. */
function replaced(text: string, ranges: readonly Range[], change: (part: string) => string): string {
  let shown = '';
  let at = 0;
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    if (to <= at) continue;
    const start = Math.max(from, at);
    shown += text.slice(at, start) + change(text.slice(start, to));
    at = to;
  }
  return shown + text.slice(at);
}

function starred(text: string): string {
  const [, open = '', inner = '', close = ''] = /^(["']?)(.*?)(["']?)$/s.exec(text) ?? [];
  const stars = inner.replace(
    /(\$\{env:\w+(?:\}|(?=:-))|\$\{file:[^{}\s]+\})|[^\n]/g,
    (_piece, reference: string | undefined) => reference ?? '*',
  );
  return open + stars + close;
}
