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

const CALLS = `diff compares policies before and after a change: two files, or two folders. Usual calls:
  sundial diff old/orders.yaml policies/orders.yaml
  sundial diff old/                     a folder, with the policies of the gateway file`;

export function addDiffCommand(program: Command, setting: CommandSetting): void {
  withCalls(program.command('diff'), CALLS)
    .description('show the changes between two policy files or folders, and what the rules report')
    .argument('<old>', 'policy file, or folder of policy files, before the change')
    .argument('[new]', 'the same after the change; default: the policies of the gateway file')
    .addOption(configOption())
    .addOption(atOption('judge at this instant'))
    .addOption(formatOption(['text', 'json']))
    .option('--exit-code', 'exit with 1 if there are changes', false)
    .option('--live', 'also show the callers of changed versions, from the running gateway', false)
    .action(async (older, newer, { format, exitCode, live, ...rest }) => {
      const { runDiff } = await import('./diff.ts');
      const options = { ...filesOf(setting, rest), older, newer, format, exitCode, live };
      await setting.end(findings(runDiff(options)));
    });
}
