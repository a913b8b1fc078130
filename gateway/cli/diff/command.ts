// Command line of `sundial diff`.
import type { Command } from 'commander';
import { findings } from '../command-result.ts';
import {
  atOption,
  type CommandSetting,
  configOption,
  filesOf,
  formatOption,
  withCalls,
} from '../command-setting.ts';

const CALLS = `diff compares policies as they were with policies as they are to be: two files, or two folders. Usual calls:
  sundial diff old/orders.yaml policies/orders.yaml
  sundial diff old/                     a folder, with the policies that the gateway file names`;

export function addDiffCommand(program: Command, setting: CommandSetting): void {
  withCalls(program.command('diff'), CALLS)
    .description('show what changed between two policy files or folders, and what the rules say of it')
    .argument('<old>', 'policy file, or folder of policy files, as it was')
    .argument('[new]', 'the same as it is to be; default: the policies that the gateway file names')
    .addOption(configOption())
    .addOption(atOption('judge at this instant'))
    .addOption(formatOption(['text', 'json']))
    .option('--exit-code', 'end with 1 when there are changes', false)
    .option('--live', 'also ask the running gateway who calls what is changed', false)
    .action(async (older, newer, { format, exitCode, live, ...said }) => {
      const { runDiff } = await import('./diff.ts');
      const options = { ...filesOf(setting, said), older, newer, format, exitCode, live };
      await setting.end(findings(runDiff(options)));
    });
}
