// The commands about OpenAPI descriptions: `openapi` and `init`, with their options.
// Added to the program of program.ts; what they do is given by main.ts.
import type { Command } from 'commander';
import { type DatedCommandSetting, type DatedSaid, type Said, withCalls } from './command-setting.ts';
import type { InitOptions } from './init.ts';
import type { OpenapiOptions } from './openapi.ts';

/** What the commands do; each resolves with the exit code. */
export interface DescriptionActions {
  readonly openapi: (options: DatedSaid<OpenapiOptions>) => Promise<number>;
  readonly init: (options: Said<InitOptions>) => Promise<number>;
}

export function addDescriptionCommands(
  program: Command,
  { actions, config, at, end }: DatedCommandSetting<DescriptionActions>,
): void {
  withCalls(program.command('openapi'), 'openapi')
    .description(
      'print the OpenAPI description of a version with the dates in force in `deprecated` and x-lifecycle',
    )
    .argument('<api>', 'the API')
    .argument('<version>', 'the version, which names its description with `openapi:`')
    .option('--write', 'replace the file instead', false)
    .addOption(config())
    .addOption(at('say the stages of this instant'))
    .action(async (api: string, version: string, { write, config: file, at: stages }) => {
      end(await actions.openapi({ api, version, write, config: file, at: stages }));
    });
  withCalls(program.command('init'), 'init')
    .description('write a first policy file for the API of an OpenAPI description')
    .requiredOption('--from <file>', 'the description: 3.0, 3.1 or 3.2, YAML or JSON')
    .option(
      '--out <file>',
      'the policy file to write; default: one where the gateway file looks for policies',
    )
    .addOption(config())
    .action(async (options) => {
      end(await actions.init({ from: options.from, out: options.out, config: options.config }));
    });
}
