// Making a folder and those above it, one at a time.
// For the commands that write files; `mkdir` with `recursive` never returns where a file system such as /proc says
// that a folder is missing which is there.
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** @throws what the system says against it, such as ENOTDIR, EACCES or ENOENT */
export async function makeFolder(folder: string): Promise<void> {
  const refused = await tryMake(folder);
  if (refused === undefined) return;
  const above = dirname(folder);
  if (refused.code !== 'ENOENT' || above === folder) throw refused;
  await makeFolder(above);
  const again = await tryMake(folder);
  if (again !== undefined) throw again;
}

/** Undefined once the folder is there. */
async function tryMake(folder: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(folder);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const refused: NodeJS.ErrnoException = error;
    if (refused.code !== 'EEXIST') return refused;
    return (await stat(folder)).isDirectory() ? undefined : new Error(`${folder} is a file, not a folder`);
  }
}
