// Entity tags and preconditions: whether a request is carried out, answered 304, or refused with 412.
// RFC 9110 section 13.2.2 in its order; used by reads on the answer, by writes on what is there before.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readHttpDate } from './http-date.ts';

/** What tells one state of a representation from another. */
export interface Validators {
  /** Strong, quotes included. */
  readonly etag: string;
  /** Milliseconds since 1970, whole seconds. */
  readonly lastModified: number;
}

export type Verdict = 'proceed' | 'not-modified' | 'failed';

/** The same bytes, the same tag: another edition, other fields or other contents have another. */
export function tagOf(body: string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

export function linesOf({ etag, lastModified }: Validators): { ETag: string; 'Last-Modified': string } {
  return { ETag: etag, 'Last-Modified': new Date(lastModified).toUTCString() };
}

/** A date that cannot be read is no condition (RFC 9110 §13.1.3, §13.1.4). */
export function judge(headers: IncomingHttpHeaders, isRead: boolean, current: Validators): Verdict {
  const since = dateOf(headers['if-unmodified-since']);
  const ifMatch = headers['if-match'];
  if (ifMatch !== undefined) {
    if (!names(ifMatch, current.etag, 'strong')) return 'failed';
  } else if (since !== undefined && current.lastModified > since) return 'failed';
  const ifNoneMatch = headers['if-none-match'];
  if (ifNoneMatch !== undefined) {
    if (!names(ifNoneMatch, current.etag, 'weak')) return 'proceed';
    return isRead ? 'not-modified' : 'failed';
  }
  const modified = dateOf(headers['if-modified-since']);
  return isRead && modified !== undefined && current.lastModified <= modified ? 'not-modified' : 'proceed';
}

function names(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  return Array.from(list.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)).some(
    ([, weak, opaque]) => opaque === etag && (weak === undefined || comparison === 'weak'),
  );
}

function dateOf(written: string | undefined): number | undefined {
  return written === undefined ? undefined : readHttpDate(written);
}
