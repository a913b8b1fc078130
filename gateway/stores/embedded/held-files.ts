// Notices that sundial.db is not where it was: SQLite would go on writing to a file that nobody finds again.
// Asked by the database's thread after every batch, and before the file is opened a second time.
import { statSync } from 'node:fs';

/** What tells one file from another under the same name; undefined where there is none. */
export function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

/** The first of `file` and the log beside it that was removed or replaced since it was first seen. */
export function holdFiles(file: string): () => string | undefined {
  const seen = new Map<string, string>();
  const isLost = (path: string): boolean => {
    const known = seen.get(path);
    const found = identityOf(path);
    if (known === undefined && found !== undefined) seen.set(path, found);
    return known !== undefined && known !== found;
  };
  // The log comes with the first write and goes when the database is closed.
  const lost = () => [file, `${file}-wal`].find(isLost);
  lost();
  return lost;
}
