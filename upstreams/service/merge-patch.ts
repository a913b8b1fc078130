// JSON Merge Patch (RFC 7396): what a representation becomes when a part of it is written.
// Pure; the result is read like a whole representation, so that a change cannot make what a creation could not.
import type { JsonObject } from './body.ts';

/** Members that are null are taken out, objects are merged, everything else is replaced. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else if (isObject(value)) {
      const before = merged.get(name);
      merged.set(name, mergePatch(isObject(before) ? before : {}, value));
    } else merged.set(name, value);
  }
  // A map and not an object, since a member may be called __proto__.
  return Object.fromEntries(merged);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
