// An answer made from the plan instead of an upstream: complete, public, revalidated by its ETag.
import { createHash } from 'node:crypto';
import type { Fields } from '../../policy/contract.ts';
import type { AnswerHeaders } from '../answer-headers.ts';

export interface Publication {
  readonly status: 200 | 204 | 304;
  readonly headers: AnswerHeaders;
  readonly body: string;
}

/** Seconds a published page may be reused (CAT-3), unless something in it changes sooner. */
const MAX_AGE_SECONDS = 300;

/**
 * `body` as 200, or 304 when the client has it (C304-4). Needs no credentials, and pages of any origin may read it.
 * `changesIn`: milliseconds until the next lifecycle change in the page, or `Infinity` (CACHE-6).
 */
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
  // A 304 has only the validators of the representation (RFC 9110 §15.4.5).
  return { status: 304, headers: { ...headers, 'content-type': undefined }, body: '' };
}

/** Weak comparison with each member of the list; `*` is any (C304-3). */
function hasAlready(text: string | undefined, etag: string): boolean {
  if (text === undefined) return false;
  if (text.trim() === '*') return true;
  return [...text.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, opaque]) => opaque === etag);
}
