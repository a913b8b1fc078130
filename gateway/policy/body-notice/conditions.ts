// Maps conditional headers to the upstream's own tags where bodies are edited (BODY-5, RNG-1).
import type { Fields } from '../contract.ts';
import type { BodyNotice } from './notice.ts';

/** If-Match failed: the client's copy differs from the current body (RFC 9110 §13.1.1). */
export type BodyNoticeRefusal = { readonly reason: 'precondition_failed' };

/** New field values by lower-case name. Undefined removes the field. */
export type Replacements = Readonly<Record<string, string | undefined>>;

export interface Conditions {
  readonly kind: 'conditions';
  readonly replace: Replacements;
}

/** A range of the original body does not fit the edited one. A date cannot distinguish two notices. */
const NOT_SENT: Replacements = { range: undefined, 'if-range': undefined, 'if-modified-since': undefined };

/**
 * `reads`: the method is GET or HEAD. A tag without a suffix names a body without the notice. A read drops such tags, so
 * that no 304 hides the notice. A write keeps them, because the upstream compares its own state. A value that is no list of
 * tags goes to the upstream unchanged, except If-None-Match of a read, which is removed.
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

type MappedTags =
  | { readonly kind: 'tags'; readonly list: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'unread' }
  /** The field is absent, unchanged, or `*`, which does not depend on the bytes. */
  | { readonly kind: 'as_is' };

function mapList(text: string | undefined, suffix: string, plain: 'keep' | 'drop'): MappedTags {
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
/** One list element, possibly empty, and its separator (RFC 9110 §5.6.1). A comma inside quotes separates nothing. */
const ELEMENT = new RegExp(`[ \\t]*(?:(${TAG})[ \\t]*)?(?:,|$)`, 'y');
const NOTICE_SUFFIX = /~d[0-9a-f]{8}"$/;

/** The entity tag of a body with the notice. Undefined if `tag` is no valid entity tag. */
export function noticedTag(tag: string, suffix: string): string | undefined {
  return ONE_TAG.test(tag) ? `${tag.slice(0, -1)}${suffix}"` : undefined;
}

/** At least one tag. Undefined for `*` and for a value that is no list of tags. */
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
 * The upstream's tag for a client's tag. Undefined for the suffix of another notice, whose body no longer exists. `plain`
 * decides about tags without a suffix.
 */
export function upstreamTag(tag: string, suffix: string, plain: 'keep' | 'drop'): string | undefined {
  if (tag.endsWith(`${suffix}"`)) return `${tag.slice(0, -suffix.length - 1)}"`;
  if (NOTICE_SUFFIX.test(tag)) return undefined;
  return plain === 'keep' ? tag : undefined;
}
