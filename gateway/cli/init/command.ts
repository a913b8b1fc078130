// Command line of `sundial init`.
import { type Command, InvalidArgumentError } from 'commander';
import { parseOrigin } from '../../sections/upstreams/grammar.ts';
import { allOrNothing } from '../command-result.ts';
import { type CommandSetting, configOption, filesOf, withCalls } from '../command-setting.ts';

const CALLS = `Usual calls:
  sundial init --service http://127.0.0.1:3000
  sundial init --service http://127.0.0.1:3000 --from openapi.yaml
  sundial init --from openapi.yaml --out policies/orders.yaml`;

export function addInitCommand(program: Command, setting: CommandSetting): void {
  withCalls(program.command('init'), CALLS)
    .description('write a first policy file for a service, and a gateway file if there is none')
    .option('--service <url>', 'where the service listens', readService)
    .option('--from <file>', 'its OpenAPI description: 3.0, 3.1 or 3.2, YAML or JSON')
    .option(
      '--out <file>',
      'the policy file to write; default: one where the gateway file looks for policies',
    )
    .addOption(configOption())
    .action(async ({ service, from, out, ...rest }, command: Command) => {
      if (service === undefined && from === undefined)
        command.error('error: name the service with --service, its description with --from, or both');
      const { runInit } = await import('./init.ts');
      await setting.end(
        allOrNothing(runInit({ ...filesOf(setting, rest, process.stderr), service, from, out })),
      );
    });
}

function readService(text: string): string {
  const service = parseOrigin(text);
  if (service === undefined) throw new InvalidArgumentError('Not a URL such as http://127.0.0.1:3000.');
  return service;
}
