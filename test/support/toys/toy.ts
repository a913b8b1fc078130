// A sample extension of one kind, as edits and new files of gateway/, applied to a copy of the tree.
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface Edit {
  readonly file: string;
  /** Occurs once in the file; `add` follows it. */
  readonly after: string;
  readonly add: string;
}

export interface Toy {
  readonly edits: readonly Edit[];
  readonly newFiles: Readonly<Record<string, string>>;
}

const ROOT = join(import.meta.dirname, '../../..');

export function filesOf({ edits, newFiles }: Toy): readonly string[] {
  return [...new Set([...edits.map(({ file }) => file), ...Object.keys(newFiles)])].toSorted();
}

/** Copies the gateway and applies `toys`. @throws Error if the place of an edit is missing or ambiguous */
export async function applyToys(folder: string, toys: readonly Toy[]): Promise<void> {
  for (const part of ['gateway', 'package.json', 'tsconfig.json', 'config/schema'])
    await cp(join(ROOT, part), join(folder, part), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  for (const { edits, newFiles } of toys) {
    for (const { file, after, add } of edits) {
      const text = await readFile(join(folder, file), 'utf8');
      const [before, behind, ...more] = text.split(after);
      if (before === undefined || behind === undefined || more.length > 0)
        throw new Error(
          `${file} has this text ${more.length + (behind === undefined ? 0 : 1)} times: ${after}`,
        );
      await writeFile(join(folder, file), `${before}${after}${add}${behind}`);
    }
    for (const [path, text] of Object.entries(newFiles)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
  }
}
