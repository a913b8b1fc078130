// The conditions of a request for a resource whose answers are edited, as the upstream is to see them (BODY-5, RNG-1).
// Clients hold tags of edited answers, the upstream knows its own.
import type { RequestHeaders } from '../contract.ts';
import { readTags, upstreamTag } from './entity-tag.ts';
import type { Notice } from './notice.ts';

/** The client's copy of the resource is not what it would get today (RFC 9110 §13.1.1). */
export type BodyNoticeRefusal = { readonly reason: 'precondition_failed' };

export interface Conditions {
  readonly kind: 'conditions';
  /** Lower-case names of fields the upstream does not get. */
  readonly remove: readonly string[];
  /** By lower-case name. */
  readonly replace: Readonly<Record<string, string>>;
}

/** A part of an edited body cannot be cut out of the original, and a date cannot tell one notice from the next. */
const OF_READING = ['range', 'if-range', 'if-modified-since'] as const;

/**
 * `reads`: the method is GET or HEAD. A tag without a suffix names bytes without the notice: who reads gets the body
 * again, so that no 304 hides it; who writes means the state behind it, which the upstream judges. What is no list of
 * tags is left to the upstream, except that nobody who reads gets a 304 by it.
 */
export function mapConditions(
  headers: RequestHeaders,
  { suffix }: Notice,
  reads: boolean,
): Conditions | BodyNoticeRefusal {
  const remove: string[] = reads ? OF_READING.filter((name) => headers[name] !== undefined) : [];
  const replace: Record<string, string> = {};
  const match = mapList(headers['if-match'], suffix, 'keep');
  if (match.kind === 'none') return { reason: 'precondition_failed' };
  if (match.kind === 'tags') replace['if-match'] = match.list;
  const noneMatch = mapList(headers['if-none-match'], suffix, reads ? 'drop' : 'keep');
  if (noneMatch.kind === 'tags') replace['if-none-match'] = noneMatch.list;
  if (noneMatch.kind === 'none' || (noneMatch.kind === 'unread' && reads)) remove.push('if-none-match');
  return { kind: 'conditions', remove, replace };
}

type Mapped =
  | { readonly kind: 'tags'; readonly list: string }
  /** Of the tags none is left. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unread' }
  /** Absent, unchanged, or `*`: that a resource exists is not a matter of its bytes. */
  | { readonly kind: 'as_is' };

function mapList(field: RequestHeaders[string], suffix: string, plain: 'keep' | 'drop'): Mapped {
  const text = typeof field === 'string' ? field : field?.join(', ');
  if (text === undefined || text.trim() === '*') return { kind: 'as_is' };
  const tags = readTags(text);
  if (tags === undefined) return { kind: 'unread' };
  const left = tags.flatMap((tag) => upstreamTag(tag, suffix, plain) ?? []);
  if (left.length === 0) return { kind: 'none' };
  const list = left.join(', ');
  return list === tags.join(', ') ? { kind: 'as_is' } : { kind: 'tags', list };
}
