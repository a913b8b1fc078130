// Notices that sundial.db is not where it was, or not as it was left: SQLite would go on writing to a file that nobody finds
// again, or whose pages are another's. Asked by the database's thread around every batch, and before a file is opened again.
import { statSync } from 'node:fs';

/** What tells one file from another under the same name; undefined where there is none. */
export function identityOf(path: string): string | undefined {
  return lookAt(path)?.identity;
}

export interface HeldFiles {
  /** The first of the database and the log beside it that was removed, replaced or written by another since `after`. */
  readonly before: () => string | undefined;
  /** The first that was removed or replaced since it was first seen; what was written of the others was written here. */
  readonly after: () => string | undefined;
}

interface Look {
  readonly identity: string;
  readonly size: bigint;
}

export function holdFiles(file: string): HeldFiles {
  // The log comes with the first write and goes when the database is closed.
  const paths = [file, `${file}-wal`];
  const left = new Map<string, Look>();
  const isAnother = (path: string, found: Look | undefined): boolean => {
    const known = left.get(path);
    return known !== undefined && known.identity !== found?.identity;
  };
  const after = (): string | undefined => {
    const looks = paths.map((path) => [path, lookAt(path)] as const);
    const lost = looks.find(([path, found]) => isAnother(path, found));
    if (lost !== undefined) return lost[0];
    for (const [path, found] of looks) if (found !== undefined) left.set(path, found);
    return undefined;
  };
  after();
  return {
    before: () =>
      paths.find((path) => {
        const found = lookAt(path);
        return isAnother(path, found) || (left.has(path) && found?.size !== left.get(path)?.size);
      }),
    after,
  };
}

function lookAt(path: string): Look | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && { identity: `${found.dev}:${found.ino}`, size: found.size };
}
