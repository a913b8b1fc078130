// Creates a folder and its parents, one at a time and with a timeout.
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface FolderOptions {
  /** Mode of each new folder. Default: the umask decides. */
  readonly mode?: number;
  readonly within?: number;
}

const WITHIN_MS = 10_000;

/** @throws the system's error, such as ENOTDIR, EACCES or ENOENT; ETIMEDOUT if the file system does not respond */
export async function makeFolder(
  folder: string,
  { mode, within = WITHIN_MS }: FolderOptions = {},
): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`the file system has not answered within ${within / 1000} s`);
    reject(Object.assign(error, { code: 'ETIMEDOUT' }));
  }, within);
  try {
    await Promise.race([makeAll(folder, mode), late]);
  } finally {
    clearTimeout(timer);
  }
}

async function makeAll(folder: string, mode: number | undefined): Promise<void> {
  const refused = await tryMake(folder, mode);
  if (refused === undefined) return;
  const above = dirname(folder);
  if (refused.code !== 'ENOENT' || above === folder) throw refused;
  await makeAll(above, mode);
  const again = await tryMake(folder, mode);
  if (again !== undefined) throw again;
}

async function tryMake(folder: string, mode: number | undefined): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(folder, mode);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const refused: NodeJS.ErrnoException = error;
    return refused.code === 'EEXIST' && (await stat(folder)).isDirectory() ? undefined : refused;
  }
}
