// The words and options of `sundial init`.
import type { Command } from 'commander';
import { allOrNothing } from '../command-result.ts';
import { type CommandSetting, configOption, filesOf, withCalls } from '../command-setting.ts';

const CALLS = `Usual calls:
  sundial init --from openapi.yaml
  sundial init --from openapi.yaml --out policies/orders.yaml`;

export function addInitCommand(program: Command, setting: CommandSetting): void {
  withCalls(program.command('init'), CALLS)
    .description('write a first policy file for the API of an OpenAPI description')
    .requiredOption('--from <file>', 'the description: 3.0, 3.1 or 3.2, YAML or JSON')
    .option(
      '--out <file>',
      'the policy file to write; default: one where the gateway file looks for policies',
    )
    .addOption(configOption())
    .action(async ({ from, out, ...said }) => {
      const { runInit } = await import('./init.ts');
      await setting.end(allOrNothing(runInit({ ...filesOf(setting, said, process.stderr), from, out })));
    });
}
