// Makes a response private if it depends on the caller, such as that of a version chosen by account.
import { FIELD } from '../../plan/upstreams/answer-fields.ts';
import { fieldText, type HeaderLines } from '../answer-headers.ts';
import type { Decision } from '../facts.ts';

/** Directives that let a shared cache store a response to a request with credentials (RFC 9111 §3.5), and `private`. */
const SHARED = /^(public|s-maxage|private)\s*(=|$)/i;
const CACHE_CONTROL = /^(?:(?:.+-)?cache|edge|surrogate)-control$/;
/** One directive. A comma in a quoted string does not end it. */
const DIRECTIVE = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g;

/** CACHE-3: whether a brownout or a sunset exempts some callers, or this caller's exception has its own `Sunset`. */
export function dependsOnCaller({
  differsByCaller,
  phase,
  version,
}: Pick<Decision, 'differsByCaller' | 'phase' | 'version'>): boolean {
  return differsByCaller || (phase?.sunset !== undefined && phase.sunset !== version?.schedule.sunset);
}

/**
 * CACHE-3, also for a 304 or a refusal. Only credentials tell accounts with different versions apart, so `Vary` cannot.
 */
export function keepPrivate(headers: HeaderLines): void {
  const ours = privateOnly(fieldText(headers.get('cache-control') ?? ''));
  headers.set('cache-control', ours, FIELD.cacheControl);
  if (!headers.has(FIELD.otherCaches)) return;
  for (const name in headers.record()) {
    if (name === 'x-accel-expires') headers.set(name, '0');
    // Only shared caches read the other fields. Not all of them have a `private` directive, and nginx has none.
    else if (name !== 'cache-control' && isCacheControl(name)) headers.set(name, 'no-store');
  }
}

export function isCacheControl(name: string): boolean {
  return name.endsWith('control') && CACHE_CONTROL.test(name);
}

export function directivesOf(value: string): readonly string[] {
  return (value.match(DIRECTIVE) ?? []).map((directive) => directive.trim()).filter((each) => each !== '');
}

/** A cache that supports `must-understand` ignores a `no-store` beside it (RFC 9111 §5.2.2.3). */
export function isNeverStored(directives: readonly string[]): boolean {
  const has = (name: string) => directives.some((each) => each.toLowerCase() === name);
  return has('no-store') && !has('must-understand');
}

/** If both forms of `no-cache` occur, a cache may use the one that covers only some fields (RFC 9111 §4.2.1). */
export function isNeverFresh(directives: readonly string[]): boolean {
  const forms = directives.filter((each) => /^no-cache(?: *=|$)/i.test(each));
  return forms.length > 0 && forms.every((each) => !each.includes('='));
}

/** Cache of results, because upstreams repeat their values. Parsing one takes a microsecond. */
const made = new Map<string, string>();
const MAX_MADE = 1_000;
const LONGEST_MADE = 200;

function privateOnly(value: string): string {
  const known = made.get(value);
  if (known !== undefined) return known;
  const text = makePrivate(value);
  if (made.size < MAX_MADE && value.length <= LONGEST_MADE) made.set(value, text);
  return text;
}

function makePrivate(value: string): string {
  const kept = directivesOf(value).filter((directive) => !SHARED.test(directive));
  const isPrivate = !isNeverStored(kept) || /^private *,/i.test(value);
  return (isPrivate ? ['private', ...kept] : kept).join(', ');
}
