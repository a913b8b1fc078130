// The versions of a policy file with the keys that they inherit from their API.
import { type Label, UNVERSIONED } from '../policy/versioning/resolution.ts';
import { INHERITED } from '../sections/list.ts';
import type { PolicyFile, PolicyParts, VersionFile, VersionParts } from '../sections/policy-file.ts';
import type { Path, SourceDocument } from './read/document.ts';
import { relocated } from './read/relocated.ts';
import { keysOf, pointer, setAt, valueAt } from './read/values.ts';

export function versionsOf(file: PolicyFile): ReadonlyMap<Label, VersionFile> {
  if (file.versions !== 'none') return new Map(Object.entries(file.versions));
  return new Map([[UNVERSIONED, { ...lifeOf(file), released: ALWAYS }]]);
}

/** The lifecycle keys at the top of a file: all that an API without versions has. */
export function wholeApiParts(parts: PolicyParts): VersionParts {
  return { ...lifeOf(parts), released: ALWAYS };
}

const ALWAYS = Number.NEGATIVE_INFINITY;

function lifeOf(file: PolicyParts): Omit<VersionParts, 'released'> {
  const parts = Object.keys(INHERITED).map((key) => ({ [key]: file[key as keyof PolicyParts] }));
  return Object.assign({}, ...parts);
}

/** Copies inherited keys into each version. Returns the document itself if nothing is inherited. */
export function withInherited(document: SourceDocument): SourceDocument {
  const inherited = keysOf(valueAt(document.value, ['versions'])).flatMap((label) =>
    inheritedPaths(document, label),
  );
  if (inherited.length === 0) return document;
  const value = structuredClone(document.value);
  for (const path of inherited) setAt(value, path, structuredClone(valueAt(value, writtenAt(path))));
  const inheritedPointers = new Set(inherited.map(pointer));
  const real = (path: Path): Path =>
    inheritedPointers.has(pointer(path.slice(0, DEPTH))) ? writtenAt(path) : path;
  return relocated(document, value, real);
}

/** Length of a path such as `versions.v1.sunset`. */
const DEPTH = 3;

function writtenAt(path: Path): Path {
  return path.slice(DEPTH - 1);
}

/** The paths of the keys that a version inherits. */
function inheritedPaths(document: SourceDocument, label: string): readonly Path[] {
  const at: Path = ['versions', label];
  const version = valueAt(document.value, at);
  if (typeof version !== 'object' || version === null || Array.isArray(version)) return [];
  return Object.entries(INHERITED).flatMap(([key, own]): readonly Path[] => {
    const isWritten = own.some((each) => document.has([...at, ...each.split('.')]));
    return document.has([key]) && !isWritten ? [[...at, key]] : [];
  });
}
