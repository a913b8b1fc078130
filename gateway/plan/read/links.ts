// Detects symbolic links that lead a named file out of its folder.
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, normalize, relative, resolve, sep } from 'node:path';

export const LEAVES_FOLDER = 'a link that leads out of its folder';
export const WRITE_ITS_TARGET = 'write the path that the link leads to, or put the file there';

/**
 * Whether a link leads `written` out of its folder: the one that its `..` steps end in, or the parent of an absolute
 * path. `namedIn`: absolute path of the file that names it. False if nothing exists there.
 */
export function leavesItsFolder(namedIn: string, written: string): boolean {
  const target = resolve(dirname(namedIn), written);
  const steps = normalize(written).split(sep);
  const upwards = steps.slice(
    0,
    steps.findIndex((step) => step !== '..'),
  );
  const folder = isAbsolute(written) ? dirname(target) : resolve(dirname(namedIn), ...upwards);
  const [from, to] = [realPath(folder), realPath(target)];
  if (from === undefined || to === undefined) return false;
  // A folder may have the name "..data".
  return relative(from, to).split(sep)[0] === '..';
}

/** Undefined if the path does not exist or may not be read: the next read reports it. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
