// A document with changed values that keep the positions of the original ones.
import type { Path, SourceDocument } from './document.ts';

/** `document` with another `value`. The position of `path` is that of `real(path)`. */
export function relocated(
  document: SourceDocument,
  value: unknown,
  real: (path: Path) => Path,
): SourceDocument {
  return {
    ...document,
    value,
    problem: (path, finding) => document.problem(real(path), finding),
    show: (path, shown) => document.show(real(path), shown),
    origin: (path) => document.origin(real(path)),
    isSecret: (path) => document.isSecret(real(path)),
    isHidden: (path) => document.isHidden(real(path)),
    isQuotable: (path) => document.isQuotable(real(path)),
    isOutside: (path) => document.isOutside(real(path)),
    has: (path) => document.has(real(path)),
    written: (path) => document.written(real(path)),
  };
}
