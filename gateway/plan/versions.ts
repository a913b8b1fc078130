// The versions of a policy file by label, an API without versions as its only one.
import { type Label, UNVERSIONED } from '../policy/versioning/resolution.ts';
import { INHERITED } from '../sections/list.ts';
import type { PolicyFile, PolicyParts, VersionFile, VersionParts } from '../sections/policy-file.ts';

export function versionsOf(file: PolicyFile): ReadonlyMap<Label, VersionFile> {
  if (file.versions !== 'none') return new Map(Object.entries(file.versions));
  return new Map([[UNVERSIONED, { ...lifeOf(file), released: ALWAYS }]]);
}

/** What a file says of the life of its API as a whole, which is all there is of one without versions. */
export function wholeApiParts(parts: PolicyParts): VersionParts {
  return { ...lifeOf(parts), released: ALWAYS };
}

const ALWAYS = Number.NEGATIVE_INFINITY;

function lifeOf(file: PolicyParts): Omit<VersionParts, 'released'> {
  const parts = Object.keys(INHERITED).map((key) => ({ [key]: file[key as keyof PolicyParts] }));
  return Object.assign({}, ...parts);
}
