// The commands about policy files and OpenAPI descriptions: `diff`, `extend`, `openapi` and `init`, with their options.
// Added to the program of program.ts; what they do is given by main.ts.
import { type Command, Option } from 'commander';
import {
  type DatedCommandSetting,
  type DatedSaid,
  readMovedTo,
  type Said,
  withCalls,
} from './command-setting.ts';
import type { DiffOptions } from './diff/diff.ts';
import type { ExtendOptions } from './extend/extend.ts';
import type { InitOptions } from './init/init.ts';
import type { OpenapiOptions } from './openapi/openapi.ts';

/** What the commands do; each resolves with the exit code. */
export interface ChangeActions {
  readonly diff: (options: DatedSaid<DiffOptions>) => Promise<number>;
  readonly extend: (options: DatedSaid<ExtendOptions>) => Promise<number>;
}

export function addChangeCommands(
  program: Command,
  { actions, config, at, end }: DatedCommandSetting<ChangeActions>,
): void {
  withCalls(program.command('diff'), 'diff')
    .description('show what changed between two policy files or folders, and what the rules say of it')
    .argument('<old>', 'policy file, or folder of policy files, as it was')
    .argument('[new]', 'the same as it is to be; default: the policies that the gateway file names')
    .addOption(config())
    .addOption(at('judge at this instant'))
    .addOption(new Option('--format <format>', 'how to print').choices(['text', 'json']).default('text'))
    .option('--exit-code', 'end with 1 when there are changes', false)
    .option('--live', 'also ask the running gateway who calls what is changed', false)
    .action(async (older, newer, { config: file, at: judged, format, exitCode, live }) => {
      end(await actions.diff({ older, newer, config: file, format, exitCode, live, at: judged }));
    });
  withCalls(program.command('extend'), 'extend')
    .description(
      'extend the sunset of a version, or of a whole API: one more entry in its policy file, checked before it is written',
    )
    .argument('<api>', 'name of the API, such as orders')
    .argument('[version]', 'its version, such as v1; none for the sunset of the whole API')
    .addOption(new Option('--to <date>', 'the new sunset').argParser(readMovedTo).makeOptionMandatory())
    .requiredOption('--why <text>', 'why, for the readers of the file')
    .addOption(
      new Option('--announced <date>', 'when callers were told; default: today').argParser(readMovedTo),
    )
    .addOption(config())
    .addOption(at('put today here'))
    .option('--dry-run', 'show what would be written, and write nothing', false)
    .action(async (api, version, { to, why, announced, config: file, at: today, dryRun }) => {
      end(await actions.extend({ api, version, to, why, announced, dryRun, config: file, at: today }));
    });
}

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
