// Entity tags and preconditions, in the order of RFC 9110 section 13.2.2.
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { readHttpDate } from './http-date.ts';

export interface Validators {
  /** A strong tag, with its quotes. */
  readonly etag: string;
  /** Milliseconds since 1970, whole seconds. */
  readonly lastModified: number;
}

export type PreconditionResult = 'proceed' | 'not-modified' | 'failed';

/** The tag of a body: another edition, other fields or other contents give another tag. */
export function tagOf(body: string): string {
  return `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
}

export function validatorHeaders({ etag, lastModified }: Validators): {
  ETag: string;
  'Last-Modified': string;
} {
  return { ETag: etag, 'Last-Modified': new Date(lastModified).toUTCString() };
}

/** An unreadable date is ignored (RFC 9110 §13.1.3, §13.1.4). */
export function judge(
  headers: IncomingHttpHeaders,
  isRead: boolean,
  current: Validators,
): PreconditionResult {
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
