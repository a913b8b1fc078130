// Replaces a file atomically: a reader sees the old text or the new text.
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** The reason of a failure, or undefined. `before`: the content that `after` was made from. */
export async function replaceFile(
  path: string,
  before: Uint8Array,
  after: Uint8Array,
): Promise<string | undefined> {
  let temporary: string | undefined;
  try {
    const file = await realpath(path);
    const { mode } = await stat(file);
    temporary = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`);
    await using handle = await open(temporary, 'wx', 0o600);
    await handle.writeFile(after);
    await handle.chmod(mode & 0o7777);
    await handle.sync();
    if (Buffer.compare(await readFile(file), before) !== 0)
      throw new Error('it has been changed meanwhile: look at it and try again');
    await rename(temporary, file);
    return undefined;
  } catch (error) {
    if (temporary !== undefined) await rm(temporary, { force: true });
    if (!(error instanceof Error)) throw error;
    return error.message;
  }
}
