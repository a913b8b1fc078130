// A response made from the plan instead of an upstream: complete, public, revalidated by ETag.
import { createHash } from 'node:crypto';
import type { Fields } from '../../policy/contract.ts';
import type { AnswerHeaders } from '../answer-headers.ts';

export interface Publication {
  readonly status: 200 | 204 | 304;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

/** Maximum age in seconds of a published page (CAT-3), unless its content changes earlier. */
const MAX_AGE_SECONDS = 300;

/** Public. `changesIn`: milliseconds until the next lifecycle change on the page, or `Infinity` (CACHE-6). */
export function page(body: string, own: AnswerHeaders, request: Fields, changesIn: number): Publication {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const headers: AnswerHeaders = {
    'cache-control': `max-age=${Math.min(MAX_AGE_SECONDS, Math.floor(changesIn / 1000))}`,
    etag,
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    ...own,
  };
  if (!hasAlready(request.get('if-none-match'), etag)) return { status: 200, headers, body };
  // A 304 carries no Content-Type (RFC 9110 §15.4.5).
  return { status: 304, headers: { ...headers, 'content-type': undefined }, body: '' };
}

/** Weak comparison with each member of the list. `*` matches any tag (C304-3). */
function hasAlready(text: string | undefined, etag: string): boolean {
  if (text === undefined) return false;
  if (text.trim() === '*') return true;
  return [...text.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, opaque]) => opaque === etag);
}
