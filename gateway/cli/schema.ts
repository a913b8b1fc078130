// `sundial schema`: writes the editor schemas of both kinds of file from the grammars that check them.
// The command line calls `runSchema`; a test holds the written files against the grammars.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { editorSchemas } from '../plan/grammar/editor-schemas.ts';
import { makeFolder } from '../system/make-folder.ts';
import type { CommandResult } from './check.ts';

/** Writes into `folder`, made when it is missing; 2 when the file system does not let it. */
export async function runSchema(options: { readonly folder: string }): Promise<CommandResult> {
  const written: string[] = [];
  try {
    await makeFolder(options.folder);
    for (const { file, text } of editorSchemas()) {
      const path = join(options.folder, file);
      await writeFile(path, text);
      written.push(path);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { exitCode: 2, text: `sundial: cannot write the schemas: ${error.message}\n` };
  }
  return { exitCode: 0, text: `${written.join('\n')}\n` };
}
