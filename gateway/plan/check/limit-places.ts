// Where a limit stands in a policy file: the section itself, or its place in the list of several.
// For the checks of limits, which speak of one at a time.
import type { NamedLimit } from '../../policy/rate-limit/section.ts';
import type { Path } from '../read/document.ts';

/** `owner`: the API (no steps), a version or an operation. */
export function placeOfLimit(owner: Path, { index }: Pick<NamedLimit, 'index'>): Path {
  return index === undefined ? [...owner, 'limits'] : [...owner, 'limits', index];
}
