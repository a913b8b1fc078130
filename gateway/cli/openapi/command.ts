// Command line of `sundial openapi`.
import type { Command } from 'commander';
import { atOption, type CommandSetting, configOption, filesOf, withCalls } from '../command-setting.ts';

const CALLS = `Usual calls:
  sundial openapi orders v2             print it
  sundial openapi orders v2 --write     replace the file`;

export function addOpenapiCommand(program: Command, setting: CommandSetting): void {
  withCalls(program.command('openapi'), CALLS)
    .description(
      'print the OpenAPI description of a version with the dates in force in `deprecated` and x-lifecycle',
    )
    .argument('<api>', 'the API')
    .argument('<version>', 'version whose `openapi:` names the description')
    .option('--write', 'write the file instead of printing it', false)
    .addOption(configOption())
    .addOption(atOption('instant whose stages are written'))
    .action(async (api, version, { write, ...rest }) => {
      const { runOpenapi } = await import('./openapi.ts');
      await setting.end(runOpenapi({ ...filesOf(setting, rest, process.stderr), api, version, write }));
    });
}
