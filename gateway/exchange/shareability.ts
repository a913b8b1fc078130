// Which caches may keep an answer that is for its caller alone, such as one of a version chosen by account: no shared one.
// Called when an answer is decorated; only ever makes it stricter (CACHE-4).
import type { AnswerHeaders } from './answer-headers.ts';

/** What lets a shared cache reuse an answer to a request with credentials (RFC 9111 §3.5), and a `private` for some fields only. */
const SHARED = /^(public|s-maxage|private)\s*(=|$)/i;
/** The standard's field, and the targeted ones of RFC 9213 whatever cache they are for. */
const FIELD = /^(?:cache-control|(?:.+-)?cdn-cache-control)$/;
/** Directives apart; a comma inside a quoted string is no end of one. */
const DIRECTIVE = /(?:[^",]|"(?:[^"\\]|\\.)*"?)+/g;

/**
 * CACHE-3: edits the header lines in place, 304 and refusals included. Two accounts may get different versions from one
 * URL, and no field that `Vary` could name tells them apart but the credentials.
 */
export function keepPrivate(headers: AnswerHeaders): void {
  headers['cache-control'] ??= '';
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && FIELD.test(name))
      headers[name] = privateOnly(typeof value === 'string' ? value : value.join(', '));
  }
  // Read by surrogates, and by nginx, instead of all others, and without a word for private.
  if (headers['surrogate-control'] !== undefined) headers['surrogate-control'] = 'no-store';
  if (headers['x-accel-expires'] !== undefined) headers['x-accel-expires'] = '0';
}

/** The directives of a field without blanks around them. */
export function directivesOf(value: string): readonly string[] {
  return (value.match(DIRECTIVE) ?? []).map((directive) => directive.trim()).filter((each) => each !== '');
}

/** A cache that knows `must-understand` passes over the `no-store` beside it (RFC 9111 §5.2.2.3). */
export function isNeverStored(directives: readonly string[]): boolean {
  const has = (name: string) => directives.some((each) => each.toLowerCase() === name);
  return has('no-store') && !has('must-understand');
}

function privateOnly(value: string): string {
  const kept = directivesOf(value).filter((directive) => !SHARED.test(directive));
  const isPrivate = !isNeverStored(kept) || /^private *,/i.test(value);
  return (isPrivate ? ['private', ...kept] : kept).join(', ');
}
