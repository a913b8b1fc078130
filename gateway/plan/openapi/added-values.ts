// Adds values of a description to a policy document, so that checks and compiler see one document.
import type { Path, SourceDocument } from '../read/document.ts';
import { pointer, setAt, valueAt } from '../read/values.ts';
import type { DescriptionText, Mark } from './description-text.ts';

/** A value from a description for a path that the policy leaves out. */
export interface AddedValue {
  readonly at: Path;
  readonly value: unknown;
  readonly source: DescriptionText;
  readonly mark: Mark;
}

/** `added` must have maps before their members. */
export function withAddedValues(document: SourceDocument, added: readonly AddedValue[]): SourceDocument {
  if (added.length === 0) return document;
  const value = structuredClone(document.value);
  const addedByPath = new Map<string, AddedValue>();
  for (const each of added) {
    const parent = each.at.slice(0, -1);
    if (valueAt(value, parent) === undefined) setAt(value, parent, {});
    setAt(value, each.at, each.value);
    addedByPath.set(pointer(each.at), each);
  }
  const addedValueAt = (path: Path): AddedValue | undefined => {
    for (let length = path.length; length > 0; length -= 1) {
      const beginning = path.slice(0, length);
      if (document.has(beginning)) return undefined;
      const addedValue = addedByPath.get(pointer(beginning));
      if (addedValue !== undefined) return addedValue;
    }
    return undefined;
  };
  return {
    ...document,
    value,
    problem: (path, finding) => {
      const addedValue = addedValueAt(path);
      return addedValue === undefined
        ? document.problem(path, finding)
        : addedValue.source.problem(addedValue.mark, finding);
    },
    origin: (path) => {
      const addedValue = addedByPath.get(pointer(path));
      return addedValue === undefined
        ? document.origin(path)
        : addedValue.source.positions.originAt(addedValue.mark.from);
    },
    has: (path) => document.has(path) || addedByPath.has(pointer(path)),
    written: (path) => document.written(path) ?? textOf(addedByPath.get(pointer(path))?.value),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
