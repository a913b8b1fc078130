// Adds values of a description to a policy document, so that checks and compiler see one document.
import type { Path, SourceDocument } from '../read/document.ts';
import { pointer, setAt, valueAt } from '../read/values.ts';
import type { DescriptionText, Mark } from './description-text.ts';

/** A value from a description for a path that the policy leaves out. */
export interface Borrowed {
  readonly at: Path;
  readonly value: unknown;
  readonly source: DescriptionText;
  readonly mark: Mark;
}

/** `borrowed` must have maps before their members. */
export function withBorrowed(document: SourceDocument, borrowed: readonly Borrowed[]): SourceDocument {
  if (borrowed.length === 0) return document;
  const value = structuredClone(document.value);
  const lenders = new Map<string, Borrowed>();
  for (const each of borrowed) {
    const parent = each.at.slice(0, -1);
    if (valueAt(value, parent) === undefined) setAt(value, parent, {});
    setAt(value, each.at, each.value);
    lenders.set(pointer(each.at), each);
  }
  const lenderOf = (path: Path): Borrowed | undefined => {
    for (let length = path.length; length > 0; length -= 1) {
      const beginning = path.slice(0, length);
      if (document.has(beginning)) return undefined;
      const lender = lenders.get(pointer(beginning));
      if (lender !== undefined) return lender;
    }
    return undefined;
  };
  return {
    ...document,
    value,
    problem: (path, finding) => {
      const lender = lenderOf(path);
      return lender === undefined
        ? document.problem(path, finding)
        : lender.source.problem(lender.mark, finding);
    },
    origin: (path) => {
      const lender = lenders.get(pointer(path));
      return lender === undefined
        ? document.origin(path)
        : lender.source.positions.originAt(lender.mark.from);
    },
    has: (path) => document.has(path) || lenders.has(pointer(path)),
    written: (path) => document.written(path) ?? textOf(lenders.get(pointer(path))?.value),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
