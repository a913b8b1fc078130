// What a cache that follows RFC 9111 may do with a response at most; a model written from the RFC alone.

export interface CachedExchange {
  readonly method: string;
  /** By lower-case name, repeated lines joined. */
  readonly request: Readonly<Record<string, string>>;
  readonly status: number;
  readonly answer: Readonly<Record<string, string>>;
  /** When the response came, epoch milliseconds. */
  readonly at: number;
}

/** `targeted`: obeys the first of TARGETED instead of Cache-Control, if it is there (RFC 9213). */
export type CacheKind = 'private' | 'shared' | 'targeted';
export const CACHE_KINDS: readonly CacheKind[] = ['private', 'shared', 'targeted'];
const TARGETED = ['akamai-cache-control', 'cdn-cache-control'];

/** RFC 9110 section 15.1. */
const HEURISTIC = new Set([200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]);
/** Without Last-Modified the RFC sets no limit. RFC 9111 section 4.2.2 mentions a day as the longest. */
const DAY = 86_400;

/** Whether the cache may store the response (RFC 9111 section 3). */
export function mayStore(kind: CacheKind, exchange: CachedExchange): boolean {
  const { method, request, status } = exchange;
  const directives = directivesOf(kind, exchange);
  const shared = kind !== 'private';
  if (method !== 'GET' && method !== 'HEAD') return false;
  const ignoresNoStore = directives.has('must-understand');
  if ((directives.has('no-store') && !ignoresNoStore) || (shared && directives.has('private'))) return false;
  const has = (...names: string[]) => names.some((name) => directives.has(name));
  if (shared && request.authorization !== undefined && !has('public', 's-maxage', 'must-revalidate'))
    return false;
  return (
    HEURISTIC.has(status) ||
    has('public', 'max-age') ||
    (shared && has('s-maxage')) ||
    exchange.answer.expires !== undefined
  );
}

/**
 * Longest use without validation, in seconds from `at` (sections 4.2 and 4). Covers both readings of spaces
 * around an equals sign: some caches accept them, others see an unknown directive.
 */
export function longestUse(kind: CacheKind, exchange: CachedExchange): number {
  return Math.max(useOf(kind, exchange, true), useOf(kind, exchange, false));
}

function useOf(kind: CacheKind, exchange: CachedExchange, readsBlanks: boolean): number {
  const directives = directivesOf(kind, exchange, readsBlanks);
  if (directives.has('no-cache') && directives.get('no-cache')?.every((each) => each === undefined)) return 0;
  const stale = Math.max(
    ...['stale-while-revalidate', 'stale-if-error'].map((name) => Math.max(0, ...numbers(directives, name))),
  );
  const { date, age } = exchange.answer;
  const sent = httpDate(date) ?? exchange.at;
  const apparent = Math.max(0, (exchange.at - sent) / 1000);
  const spent = Math.max(apparent, /^\d+$/.test(age ?? '') ? Number(age) : 0);
  return Math.max(0, freshness(kind, directives, exchange, sent) - spent) + stale;
}

function freshness(
  kind: CacheKind,
  directives: Directives,
  { answer, status, at }: CachedExchange,
  sent: number,
): number {
  const own = kind === 'private' ? [] : numbers(directives, 's-maxage');
  if (own.length > 0) return Math.max(...own);
  const ages = numbers(directives, 'max-age');
  if (ages.length > 0) return Math.max(...ages);
  // A targeted field replaces Expires too (RFC 9213 section 2.2).
  const { expires } = answer;
  if (expires !== undefined && !(kind === 'targeted' && targeted(answer) !== undefined))
    return ((httpDate(expires) ?? sent) - sent) / 1000;
  if (!HEURISTIC.has(status) && !directives.has('public')) return 0;
  const modified = httpDate(answer['last-modified']);
  // Some caches measure by their own clock.
  return modified === undefined ? DAY : Math.max(0, sent - modified, at - modified) / 10_000;
}

/** Whether a stored response `first` may be used for `later` at the same URL (section 4). */
export function mayServe(
  kind: CacheKind,
  first: CachedExchange,
  later: Pick<CachedExchange, 'request'>,
): boolean {
  return mayStore(kind, first) && longestUse(kind, first) > 0 && varyAllows(first, later);
}

/** Section 4.1. */
export function varyAllows(first: CachedExchange, later: Pick<CachedExchange, 'request'>): boolean {
  const { vary } = first.answer;
  const fields = (vary ?? '').split(',').map((name) => name.trim().toLowerCase());
  if (fields.includes('*')) return false;
  return fields.every((name) => first.request[name] === later.request[name]);
}

/** The stored response after a 304 (section 4.3.4): fields of the 304 replace those stored. */
export function freshened(kept: CachedExchange, by: CachedExchange): CachedExchange {
  return { ...kept, answer: { ...kept.answer, ...by.answer }, at: by.at };
}

type Directives = ReadonlyMap<string, readonly (string | undefined)[]>;

function targeted(answer: CachedExchange['answer']): string | undefined {
  return TARGETED.map((name) => answer[name]).find((value) => (value ?? '') !== '');
}

function directivesOf(kind: CacheKind, { answer }: CachedExchange, readsBlanks = true): Directives {
  const own = kind === 'targeted' ? targeted(answer) : undefined;
  return parse(own ?? answer['cache-control'] ?? '', readsBlanks);
}

/** Section 5.2. */
function parse(field: string, readsBlanks: boolean): Directives {
  const found = new Map<string, (string | undefined)[]>();
  let at = 0;
  const blanks = () => {
    while (field[at] === ' ' || field[at] === '\t') at += 1;
  };
  const until = (ends: string) => {
    const from = at;
    while (at < field.length && !ends.includes(field[at] ?? '')) at += 1;
    return field.slice(from, at);
  };
  while (at < field.length) {
    blanks();
    const written = until('=,"').toLowerCase();
    const name = readsBlanks || field[at] !== '=' ? written.trim() : written;
    let value: string | undefined;
    if (field[at] === '=') {
      at += 1;
      if (readsBlanks) blanks();
      if (field[at] === '"') {
        at += 1;
        value = '';
        while (at < field.length && field[at] !== '"') {
          if (field[at] === '\\') at += 1;
          value += field[at] ?? '';
          at += 1;
        }
      } else value = until(',').trimEnd();
    }
    until(',');
    at += 1;
    if (name !== '') found.set(name, [...(found.get(name) ?? []), value]);
  }
  return found;
}

function numbers(directives: Directives, name: string): readonly number[] {
  return (directives.get(name) ?? []).flatMap((value) =>
    value !== undefined && /^\d+$/.test(value) ? Number(value) : [],
  );
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const FORMS = [
  /^\w{3}, (?<day>\d\d) (?<month>\w{3}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^\w{6,9}, (?<day>\d\d)-(?<month>\w{3})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/,
  /^\w{3} (?<month>\w{3}) (?<day>[ \d]\d) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/,
];

/** The three formats of RFC 9110 section 5.6.7; anything else is not a date. */
export function httpDate(text: string | undefined): number | undefined {
  for (const form of FORMS) {
    const groups = form.exec(text ?? '')?.groups;
    if (groups === undefined) continue;
    const month = MONTHS.indexOf(groups.month ?? '');
    const year = Number(groups.year);
    const [hours = 0, minutes = 0, seconds = 0] = (groups.time ?? '').split(':').map(Number);
    return Date.UTC(year < 100 ? 2000 + year : year, month, Number(groups.day), hours, minutes, seconds);
  }
  return undefined;
}
