// What of a file no finding repeats: values of header rules, and whatever stands under a key that is called like a secret.
// Known keys and unknown ones alike: a secret that is written in the wrong place is a secret all the same.
import { distance } from 'fastest-levenshtein';
import { type Document, isMap, isNode, isScalar, isSeq } from 'yaml';
import { concealedLines } from './concealed-lines.ts';

type Path = readonly (string | number)[];

const LIKE_A_SECRET =
  /pass|pwd|secret|token|key|auth|cred|cookie|bearer|session|signature|signing|private|jwt|hmac|dsn|connection.?string|salt|(?:^|[_-])sas(?:$|[_-])/i;
/** The same, as words that may be misspelt. */
const WORDS: readonly string[] = [
  ...[
    'password',
    'passwd',
    'passphrase',
    'pass',
    'pwd',
    'secret',
    'secrets',
    'token',
    'tokens',
    'key',
    'apikey',
    'auth',
    'authorization',
  ],
  ...[
    'credential',
    'credentials',
    'cookie',
    'bearer',
    'session',
    'signature',
    'signing',
    'private',
    'jwt',
    'hmac',
  ],
  ...['dsn', 'salt'],
];
/** Keys of the grammars that are called so and hold words of a choice, names or a size; `key` of a certificate is a path. */
const NO_SECRETS: ReadonlySet<string> = new Set(['credentials_in_url', 'token_cache']);
/** Below these the operator chooses the names of keys. */
const OF_NAMES: ReadonlySet<string | number | undefined> = new Set([
  'versions',
  'operations',
  'identity',
  'upstreams',
  'contacts',
  'listeners',
  'rules',
]);
/** Keys of a header rule that hold names of fields, and where they may come from. */
const OF_FIELD_NAMES: ReadonlySet<string | number | undefined> = new Set(['remove', 'keep', 'from']);
/** Sections that hold a secret where they are no map. */
const SECTIONS: readonly string[] = ['headers', 'client'];
/** Maps of header rules and of clients, whose keys may be shown. */
const MAPS: ReadonlySet<string | number | undefined> = new Set([...SECTIONS, 'request', 'response', 'set']);
/** Nothing that is read is nested so deeply. */
const DEEPEST = 40;

/** Whether nothing of the value at `path` may be repeated. */
export function isConcealed(path: Path): boolean {
  return path.some((key, index) => {
    if (typeof key !== 'string') return false;
    const above = path[index - 1];
    // A list, or a text where a map belongs.
    const isSection = key === 'client' || (key === 'headers' && index === 0);
    if (isSection && (index === path.length - 1 || typeof path[index + 1] === 'number')) return true;
    if (above === 'set' || (above === 'headers' && !OF_FIELD_NAMES.has(path[index + 1]))) return true;
    if (key === 'authorization' && path[index - 2] === 'upstreams') return false;
    if (key === 'key' && (above === 'tls' || path[index - 2] === 'certificates')) return false;
    return !NO_SECRETS.has(key) && !OF_NAMES.has(above) && (LIKE_A_SECRET.test(key) || isMisspelt(key));
  });
}

/** Whether the keys of the value at `path` may be shown although its values may not. */
export function showsKeys(path: Path): boolean {
  return MAPS.has(path.at(-1)) || !isConcealed(path);
}

/** A message of the parser without what it quotes of the text. */
export function withoutQuoted(message: string): string {
  if (/\btags?\b/i.test(message)) return 'Unresolved tag';
  return message.replace(/: .*|(?<=^Invalid escape sequence) .*/s, '');
}

/** Whether one slip makes a word of `key` of one of `WORDS`. */
function isMisspelt(key: string): boolean {
  const parts = key.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase();
  return parts.split(/[^a-z0-9]+/).some((part) => WORDS.some((word) => isSlip(part, word)));
}

/** Of three letters, only the same ones in another order: one wrong letter makes too many other words. */
function isSlip(part: string, word: string): boolean {
  if (Math.abs(part.length - word.length) > 1) return false;
  return (word.length > 3 && distance(part, word) <= 1) || sorted(part) === sorted(word);
}

function sorted(word: string): string {
  return [...word].sort().join('');
}

/** Shorter values are numbers and words of a choice, and dates hold no secret. */
const SHORTEST = 4;
const DATE = /^\d{4}-\d\d-\d\d(?:t[\d:.]+(?:z|[+-][\d:]+))?$/;

/** `text` with the origin of each value in `outside` instead of the value, wherever it stands as a word of its own. */
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

/** YAML takes no tab as indentation, so that nothing says which map such a line belongs to. */
const BEHIND_TAB = /^ *\t[^\n]*?:[ \t]*(?=\S)([^\n]+)$/dgm;

/** `text` in its length, with a star for every character that may not be shown; names of variables and files stay. */
export function concealed(text: string, trees: readonly Document[]): string {
  const isWellFormed =
    trees.length === 1 && trees.every((tree) => tree.errors.length + tree.warnings.length === 0);
  const marks: (readonly [from: number, to: number])[] = [
    ...[...text.matchAll(BEHIND_TAB)].flatMap(({ indices }) => (indices?.[1] ? [indices[1]] : [])),
    ...(isWellFormed ? [] : concealedLines(text, isConcealed, (path) => MAPS.has(path.at(-1)))),
  ];
  const mark = (node: unknown): void => {
    if (!isNode(node)) return;
    if (node.range) marks.push([node.range[0], node.range[1]]);
    // Of a malformed file a map may hold what lies behind its end.
    if (isMap(node)) for (const { key, value } of node.items) for (const each of [key, value]) mark(each);
    if (isSeq(node)) node.items.forEach(mark);
  };
  /** An anchor and a tag stand before what they belong to. */
  const markProperties = (key: unknown, value: unknown): void => {
    const from = isNode(key) ? key.range?.[1] : undefined;
    const to = isNode(value) ? value.range?.[0] : undefined;
    if (from === undefined || to === undefined) return;
    const before = text.slice(from, to).search(/[&!]/);
    if (before >= 0) marks.push([from + before, to]);
  };
  const spansLines = (node: unknown): boolean =>
    isNode(node) && node.range != null && text.slice(node.range[0], node.range[1]).includes('\n');
  const walk = (node: unknown, path: Path): void => {
    const isWalked = path.length < DEEPEST && (!isConcealed(path) || MAPS.has(path.at(-1)));
    if (isWalked && isMap(node)) {
      let before: Path = path;
      for (const { key, value } of node.items) {
        const name = isScalar(key) ? (key.source ?? String(key.value)) : '';
        // In a malformed file lines of a value that began above may pass for a key.
        if (isConcealed(before) && (!isNode(value) || spansLines(key))) mark(key);
        else before = [...path, name];
        if (isConcealed([...path, name])) markProperties(key, value);
        walk(value, [...path, name]);
      }
    } else if (isWalked && isSeq(node))
      for (const [index, item] of node.items.entries()) walk(item, [...path, index]);
    else if (!isWalked || isConcealed(path)) mark(node);
  };
  for (const tree of trees) walk(tree.contents, []);
  if (marks.length === 0) return text;
  let shown = '';
  let at = 0;
  for (const [begin, to] of marks.sort(([a], [b]) => a - b)) {
    const from = Math.max(begin, at);
    if (to <= from) continue;
    shown += text.slice(at, from) + starred(text.slice(from, to));
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
