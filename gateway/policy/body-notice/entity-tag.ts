// Entity tags (RFC 9110 §8.8.3) with and without the suffix of a notice (BODY-5).
// Strong tags stay strong: the same bytes and the same notice always make the same answer.

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
