// Suggests the right shape for a value of another one: `limits: { rate: 600/1m }` for `limits: 600/1m`.
import { EXCEPTION_SCOPES } from '../../policy/lifecycle/exceptions.ts';
import { parseInstant, parseRate } from '../../policy/notation.ts';
import { parseLabel } from '../../policy/versioning/label.ts';
import type { Path } from './document.ts';
import { nearRate } from './near-notations.ts';
import { matchesPath } from './values.ts';

interface Row {
  /** A pattern of `standsAt`. */
  readonly at: string;
  readonly write: (given: string | readonly string[], last: string | number) => string | undefined;
}

const ROWS: readonly Row[] = [
  {
    at: 'access.scopes',
    write: (given) =>
      `scopes: { read: ${list(given)}, write: ${list(given)} }: read is for GET, HEAD and OPTIONS, write for all other methods`,
  },
  { at: '**.scopes.read', write: (given) => `${list(given)}, or any` },
  { at: '**.scopes.write', write: (given) => `${list(given)}, or any` },
  { at: '**.operations.*.access.scopes', write: (given) => `${list(given)}, or any` },
  {
    at: 'access',
    write: (given) =>
      typeof given === 'string' && /^[\w-]+$/.test(given) && !/^(?:private|none|open|off)$/.test(given)
        ? `access: { identity: ${given}, scopes: any }, or access: public`
        : 'access: { identity: <name>, scopes: any }, or access: public',
  },
  { at: 'versions.*.after', write: redirect },
  { at: '**.limits', write: limits },
  { at: '**.limits.burst', write: (given) => alone(given, /^(\d+)\//, 'burst: ') },
  { at: 'resolve.*', write: carrier },
  { at: 'upstreams.*', write: (given, last) => `${last}: { targets: ${list(given)} }` },
  {
    at: 'identity.*',
    write: (_given, last) =>
      `${last}: { issuer: https://<issuer>, audience: <audience> }, or ${last}: { header: X-API-Key }`,
  },
  { at: 'listeners.*', write: (given, last) => text(given, (it) => `${last}: { address: ${asYaml(it)} }`) },
  { at: '**.exceptions.*.from', write: exemptions },
  {
    at: '**.extended',
    write: (given) =>
      `extended: [{ to: ${typeof given === 'string' && parseInstant(given) !== undefined ? given : '<date>'}, announced: <date>, why: <reason> }]`,
  },
  { at: 'contacts', write: () => 'contacts: { <consumer>: <address> }' },
  { at: 'notify.email', write: () => 'email: { smtp: smtp://<host>:587, from: <address> }' },
  { at: 'notify.webhooks', write: (given) => text(given, (it) => `webhooks: { intake: ${asYaml(it)} }`) },
  {
    at: '**.algorithms',
    write: (given) =>
      typeof given === 'string' && SHARED_SECRET.test(given)
        ? `algorithms: [RS256], or another algorithm of its keys: they cannot verify a shared secret`
        : undefined,
  },
  {
    at: 'cors',
    write: (given) =>
      typeof given === 'string' && /^(?:no|off|none)$/i.test(given)
        ? 'nothing: without "cors", preflights go to the service'
        : `cors: { origins: ${list(given)} }`,
  },
  {
    at: '**.idempotency',
    write: (given) =>
      `idempotency: { methods: ${/^(?:yes|on|true)$/i.test(String(given)) ? '[POST, PUT, PATCH]' : list(given)} }`,
  },
  {
    at: 'versions',
    write: (given) =>
      typeof given === 'string' ? undefined : `${given[0] ?? 'v1'}: { released: <date> }, and so on`,
  },
  {
    at: 'versions.*',
    write: (given, last) =>
      parseLabel(String(last)) === undefined
        ? undefined
        : text(given, (it) => `${last}: { released: ${parseInstant(it) === undefined ? '<date>' : it} }`),
  },
];

/** Suggestions for an empty list, by its path. */
const EMPTY_LIST_HINTS: readonly (readonly [at: string, hint: string])[] = [
  ['**.access.identity', 'name an identity of the gateway file, or write access: public'],
  ['**.scopes', 'name a scope, or write any, which admits every identified caller'],
  ['**.scopes.*', 'name a scope, or write any, which admits every identified caller'],
];

/** Signature algorithms with a shared secret (JWT-1). */
const SHARED_SECRET = /^HS\d+$/i;

const LONGEST = 100;

/** The suggestion for `given` at `path`. Undefined if there is none. */
export function nearShape(path: Path, given: unknown): string | undefined {
  const words = given === true && matchesPath(path, ['**', 'idempotency']) ? 'yes' : wordsOf(given);
  const last = path.at(-1);
  if (words === undefined || last === undefined) return undefined;
  const row = ROWS.find(({ at }) => matchesPath(path, at.split('.')));
  const form = row?.write(words, last);
  return form && `write ${form}`;
}

export function nearEmpty(path: Path): string {
  return (
    EMPTY_LIST_HINTS.find(([at]) => matchesPath(path, at.split('.')))?.[1] ??
    'add an entry, or leave the key out'
  );
}

/** The suggestion for a value close to one of the grammar: `yes` for true, a list of one entry, `"10"` for 10. */
export function nearWord(message: string, given: unknown): string | undefined {
  if (message === 'expected true or false' && typeof given === 'string') {
    if (/^(?:true|false)$/.test(given)) return `write ${given}, without quotes`;
    if (/^(?:yes|on|y|1|enabled)$/i.test(given)) return 'write true';
    return /^(?:no|off|n|0|disabled)$/i.test(given) ? 'write false' : undefined;
  }
  if (typeof given === 'string' && given.length >= 3) {
    const [one, ...others] = expectedWords(message).filter((word) => word.startsWith(given.toLowerCase()));
    if (one !== undefined && others.length === 0) return `did you mean "${one}"?`;
  }
  if (message === 'expected a whole number' && typeof given === 'string' && /^\d{1,9}$/.test(given))
    return `write ${given}, without quotes`;
  const [one, ...others] = Array.isArray(given) ? given : [];
  return message === 'expected text' && typeof one === 'string' && others.length === 0
    ? `write ${asYaml(one)}, without the brackets`
    : undefined;
}

/** Why a similar word of the enum is not a correction of `word`. */
export function whyNotMeant(path: Path, word: string): string | undefined {
  return matchesPath(path, ['**', 'algorithms', '*']) && SHARED_SECRET.test(word)
    ? 'published keys cannot verify a shared secret: let the issuer sign with one of these'
    : undefined;
}

/** `value` as YAML text, also valid inside braces. */
export function asYaml(value: string): string {
  return /^[\w./][\w./+%~-]*(?::(?:[\w./+%~@-]+))*$/.test(value) ? value : JSON.stringify(value);
}

/** `expected "error", "warning" or "off"` */
const expectedWords = (message: string): readonly string[] =>
  /^expected "/.test(message) ? Array.from(message.matchAll(/"([\w-]+)"/g), ([, word = '']) => word) : [];

function redirect(given: string | readonly string[]): string | undefined {
  const to = text(given, (it) => /^(?:redirect(?:\s+to)?[\s:]*)?(\S*)$/i.exec(it.trim())?.[1]);
  if (to === undefined || to === 'redirect') return 'after: { redirect: <version> }, or after: gone';
  return parseLabel(to) === undefined
    ? 'after: { redirect: <version> }, or after: gone'
    : `after: { redirect: ${to} }`;
}

/** `[brownouts]` for `brownout`, with the valid words. */
function exemptions(given: string | readonly string[]): string {
  const words = typeof given === 'string' ? given.split(/[\s,]+/) : given;
  const stem = (word: string) => word.toLowerCase().replace(/s$/, '');
  const meant = EXCEPTION_SCOPES.filter((each) => words.some((word) => stem(word) === stem(each)));
  const all = EXCEPTION_SCOPES.join(', ');
  return meant.length === 0 ? `a list of ${all}` : `from: [${meant.join(', ')}]: there are ${all}`;
}

function limits(given: string | readonly string[]): string | undefined {
  return text(given, (it) => {
    if (it === 'off' || it === 'none') return 'nothing: without "limits" no caller is limited';
    const near = parseRate(it) === undefined ? nearRate(it) : it;
    return /%$/.test(it) ? `limits: { deprecated: ${it} }` : near && `limits: { rate: ${near} }`;
  });
}

function carrier(given: string | readonly string[]): string | undefined {
  return text(given, (it) => {
    if (it.startsWith('/')) return `{ path: ${asYaml(it)} }`;
    if (parseLabel(it) !== undefined) return `{ default: ${it} }`;
    return EXAMPLES[it];
  });
}

const EXAMPLES: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  path: '{ path: "/api/{version}/orders" }',
  header: '{ header: API-Version }',
  query: '{ query: version }',
  subdomain: '{ subdomain: "{version}.api.example.com" }',
  default: '{ default: <version> }',
});

/** A string, or a list of strings. Undefined for other values. */
function wordsOf(given: unknown): string | readonly string[] | undefined {
  if (typeof given === 'string') return given.length > LONGEST ? undefined : given;
  if (!Array.isArray(given)) return undefined;
  const words = given.filter((each) => typeof each === 'string');
  return words.length === given.length && words.join('').length <= LONGEST ? words : undefined;
}

function text(
  given: string | readonly string[],
  write: (given: string) => string | undefined,
): string | undefined {
  return typeof given === 'string' ? write(given) : undefined;
}

function alone(given: string | readonly string[], pattern: RegExp, key: string): string | undefined {
  const found = text(given, (it) => pattern.exec(it)?.[1]);
  return found && `${key}${found}: the window is that of the rate`;
}

function list(given: string | readonly string[]): string {
  const words = typeof given === 'string' ? given.split(/[\s,]+/) : given;
  return `[${words.map(asYaml).join(', ')}]`;
}
