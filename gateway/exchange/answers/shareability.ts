// Makes an answer private that is for one caller only, such as one of a version chosen by account.
import { FIELD } from '../../plan/upstreams/answer-fields.ts';
import { fieldText, type HeaderLines } from '../answer-headers.ts';
import type { Decision } from '../facts.ts';

/** Directives that let a shared cache reuse an answer to a request with credentials (RFC 9111 §3.5), and `private` with or without fields. */
const SHARED = /^(public|s-maxage|private)\s*(=|$)/i;
const CACHE_CONTROL = /^(?:(?:.+-)?cache|edge|surrogate)-control$/;
/** One directive; a comma inside a quoted string does not end it. */
const DIRECTIVE = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g;

/** CACHE-3: whether others get another answer: by a brownout or a sunset that spares some, or an exception with a `Sunset` of its own. */
export function dependsOnCaller({
  differsByCaller: sparesSome,
  phase,
  version,
}: Pick<Decision, 'differsByCaller' | 'phase' | 'version'>): boolean {
  return sparesSome || (phase?.sunset !== undefined && phase.sunset !== version?.schedule.sunset);
}

/**
 * CACHE-3: edits the header lines in place, 304 and refusals included. Two accounts may get different versions from one
 * URL, and no field that `Vary` could name tells them apart but the credentials.
 */
export function keepPrivate(headers: HeaderLines): void {
  const ours = privateOnly(fieldText(headers.get('cache-control') ?? ''));
  headers.set('cache-control', ours, FIELD.cacheControl);
  if (!headers.has(FIELD.otherCaches)) return;
  for (const name in headers.record()) {
    if (name === 'x-accel-expires') headers.set(name, '0');
    // Shared caches alone read the other fields, and not all of them have a directive `private`, nor has nginx.
    else if (name !== 'cache-control' && isCacheControl(name)) headers.set(name, 'no-store');
  }
}

/** The standard's field with directives, the targeted ones of RFC 9213 whatever cache they are for, and those older than it. */
export function isCacheControl(name: string): boolean {
  return name.endsWith('control') && CACHE_CONTROL.test(name);
}

/** The directives of a field, trimmed. */
export function directivesOf(value: string): readonly string[] {
  return (value.match(DIRECTIVE) ?? []).map((directive) => directive.trim()).filter((each) => each !== '');
}

/** A cache that knows `must-understand` ignores the `no-store` beside it (RFC 9111 §5.2.2.3). */
export function isNeverStored(directives: readonly string[]): boolean {
  const has = (name: string) => directives.some((each) => each.toLowerCase() === name);
  return has('no-store') && !has('must-understand');
}

/** Of two forms of `no-cache`, a cache may take the one that is about some fields only (RFC 9111 §4.2.1). */
export function isNeverFresh(directives: readonly string[]): boolean {
  const forms = directives.filter((each) => /^no-cache(?: *=|$)/i.test(each));
  return forms.length > 0 && forms.every((each) => !each.includes('='));
}

/** Upstreams repeat themselves: read anew, a text takes a microsecond. */
const made = new Map<string, string>();
const MOST_MADE = 1_000;
const LONGEST_MADE = 200;

function privateOnly(value: string): string {
  const known = made.get(value);
  if (known !== undefined) return known;
  const text = makePrivate(value);
  if (made.size < MOST_MADE && value.length <= LONGEST_MADE) made.set(value, text);
  return text;
}

function makePrivate(value: string): string {
  const kept = directivesOf(value).filter((directive) => !SHARED.test(directive));
  const isPrivate = !isNeverStored(kept) || /^private *,/i.test(value);
  return (isPrivate ? ['private', ...kept] : kept).join(', ');
}
