// The conditions of a request for a resource whose answers are edited, as the upstream is to see them (BODY-5, RNG-1).
import type { Fields } from '../contract.ts';
import type { BodyNotice } from './notice.ts';

/** The client's copy of the resource is not what it would get today (RFC 9110 §13.1.1). */
export type BodyNoticeRefusal = { readonly reason: 'precondition_failed' };

/** Values of fields by lower-case name; undefined: the upstream does not get the field. */
export type Replacements = Readonly<Record<string, string | undefined>>;

export interface Conditions {
  readonly kind: 'conditions';
  readonly replace: Replacements;
}

/** A part of an edited body cannot be cut out of the original, and a date cannot tell one notice from the next. */
const NOT_SENT: Replacements = { range: undefined, 'if-range': undefined, 'if-modified-since': undefined };

/**
 * `reads`: the method is GET or HEAD. A tag without a suffix names bytes without the notice: who reads gets the body
 * again, so that no 304 hides it; who writes means the state behind it, which the upstream judges. What is no list of
 * tags is left to the upstream, except that nobody who reads gets a 304 by it.
 */
export function mapConditions(
  headers: Fields,
  { suffix }: BodyNotice,
  reads: boolean,
): Conditions | BodyNoticeRefusal {
  const replace: Record<string, string | undefined> = reads ? { ...NOT_SENT } : {};
  const match = mapList(headers.get('if-match'), suffix, 'keep');
  if (match.kind === 'none') return { reason: 'precondition_failed' };
  if (match.kind === 'tags') replace['if-match'] = match.list;
  const noneMatch = mapList(headers.get('if-none-match'), suffix, reads ? 'drop' : 'keep');
  if (noneMatch.kind === 'tags') replace['if-none-match'] = noneMatch.list;
  if (noneMatch.kind === 'none' || (noneMatch.kind === 'unread' && reads))
    replace['if-none-match'] = undefined;
  return { kind: 'conditions', replace };
}

type Mapped =
  | { readonly kind: 'tags'; readonly list: string }
  /** Of the tags none is left. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unread' }
  /** Absent, unchanged, or `*`: that a resource exists is not a matter of its bytes. */
  | { readonly kind: 'as_is' };

function mapList(text: string | undefined, suffix: string, plain: 'keep' | 'drop'): Mapped {
  if (text === undefined || text.trim() === '*') return { kind: 'as_is' };
  const tags = readTags(text);
  if (tags === undefined) return { kind: 'unread' };
  const left = tags.flatMap((tag) => upstreamTag(tag, suffix, plain) ?? []);
  if (left.length === 0) return { kind: 'none' };
  const list = left.join(', ');
  return list === tags.join(', ') ? { kind: 'as_is' } : { kind: 'tags', list };
}

const TAG = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';
const ONE_TAG = new RegExp(`^${TAG}$`);
/** One element of a list, which may be empty, and what ends it (RFC 9110 §5.6.1). A comma inside quotes ends nothing. */
const ELEMENT = new RegExp(`[ \\t]*(?:(${TAG})[ \\t]*)?(?:,|$)`, 'y');
const SUFFIXED = /~d[0-9a-f]{8}"$/;

/** The tag of an answer under a notice; undefined where it is none. */
export function noticedTag(tag: string, suffix: string): string | undefined {
  return ONE_TAG.test(tag) ? `${tag.slice(0, -1)}${suffix}"` : undefined;
}

/** The tags of a list, at least one; undefined for `*` and for what is no list of tags. */
export function readTags(list: string): readonly string[] | undefined {
  const tags: string[] = [];
  for (let at = 0; at < list.length; at = ELEMENT.lastIndex) {
    ELEMENT.lastIndex = at;
    const found = ELEMENT.exec(list);
    if (found === null) return undefined;
    if (found[1] !== undefined) tags.push(found[1]);
  }
  return tags.length === 0 ? undefined : tags;
}

/**
 * What the upstream knows a tag by. One with the suffix of another notice names bytes that are no more: undefined. Of one
 * without a suffix `plain` says whether it still counts.
 */
export function upstreamTag(tag: string, suffix: string, plain: 'keep' | 'drop'): string | undefined {
  if (tag.endsWith(`${suffix}"`)) return `${tag.slice(0, -suffix.length - 1)}"`;
  if (SUFFIXED.test(tag)) return undefined;
  return plain === 'keep' ? tag : undefined;
}
