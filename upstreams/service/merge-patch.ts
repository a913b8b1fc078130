// JSON Merge Patch (RFC 7396).
import type { JsonObject } from './body.ts';

/** Removes members that are null, merges objects, and replaces everything else. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else if (isObject(value)) {
      const before = merged.get(name);
      merged.set(name, mergePatch(isObject(before) ? before : {}, value));
    } else merged.set(name, value);
  }
  // Built as a map, since a member may be called __proto__.
  return Object.fromEntries(merged);
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
