// The words and options of `sundial schema`.
// What the command does is loaded when it runs.
import type { Command } from 'commander';
import { allOrNothing } from '../command-result.ts';
import type { CommandSetting } from '../command-setting.ts';

export function addSchemaCommand(program: Command, setting: CommandSetting): void {
  program
    .command('schema')
    .description('write the JSON Schemas that editors use for both kinds of file')
    .option('--folder <folder>', 'where to', 'config/schema')
    .action(async ({ folder }) => {
      const { runSchema } = await import('./schema.ts');
      await setting.end(allOrNothing(runSchema({ folder })));
    });
}
