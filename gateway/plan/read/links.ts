// Where a file that another one names really lies, once links are followed.
import { realpathSync } from 'node:fs';
import { dirname, isAbsolute, normalize, relative, resolve, sep } from 'node:path';

export const LEAVES_FOLDER = 'a link that leads out of its folder';
export const WRITE_ITS_TARGET = 'write the path that the link leads to, or put the file there';

/**
 * Whether a link leads `written` out of the folder it is written in: the one that its steps upwards end in, or for an
 * absolute path its own. `namedIn`: absolute path of the file that names it. False where nothing is.
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
  // A folder may be called "..data".
  return relative(from, to).split(sep)[0] === '..';
}

/** Undefined where nothing is, or nothing that may be looked at: whoever reads it says so. */
function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
