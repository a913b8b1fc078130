// `sundial schema`: writes the JSON Schemas for editors from the grammars.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { makeFolder } from '../../system/make-folder.ts';
import { allOrNothing, type CommandResult, unusable } from '../command-result.ts';
import type { CommandSetting } from '../command-setting.ts';

export function addSchemaCommand(program: Command, setting: CommandSetting): void {
  program
    .command('schema')
    .description('write the JSON Schemas of the gateway file and the policy files, for editors')
    .option('--folder <folder>', 'where to', 'config/schema')
    .action(async ({ folder }) => setting.end(allOrNothing(runSchema({ folder }))));
}

export async function runSchema(options: { readonly folder: string }): Promise<CommandResult> {
  const { editorSchemas } = await import('../../plan/grammar/editor-schemas.ts');
  const paths: string[] = [];
  try {
    await makeFolder(options.folder);
    for (const { file, text } of editorSchemas()) {
      const path = join(options.folder, file);
      await writeFile(path, text);
      paths.push(path);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return unusable(`cannot write the schemas: ${error.message}`);
  }
  return { exitCode: 0, text: `${paths.join('\n')}\n` };
}
