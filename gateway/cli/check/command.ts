// Command line of `sundial check`.
import type { Command } from 'commander';
import { findings } from '../command-result.ts';
import {
  atOption,
  type CommandSetting,
  configOption,
  EXIT_CODES,
  filesOf,
  formatOption,
} from '../command-setting.ts';

export function addCheckCommand(program: Command, setting: CommandSetting): void {
  program
    .command('check')
    .description('show everything wrong with the gateway file and the policies, at once, without starting')
    .argument('[files...]', 'policy files to check instead of those the gateway file names')
    .addOption(configOption())
    .addOption(atOption('judge at this instant'))
    .addOption(formatOption(['text', 'json', 'github']))
    .option('--strict', 'warnings count as findings', false)
    .option(
      '--live',
      'also reach what the files name (targets, key sets, Redis; at most ten seconds), and ask the running gateway what a reload would refuse',
      false,
    )
    .option('--store', 'also compare with the schedules recorded in the store, which is only read', false)
    .option(
      '--against <folder>',
      'compare with policies published earlier: dates rewritten, versions vanished',
    )
    .addHelpText('after', EXIT_CODES)
    .action(async (files, { format, strict, live, store, against, ...rest }) => {
      const { runCheck } = await import('./check.ts');
      const options = { ...filesOf(setting, rest), files, format, strict, against };
      const reach = live ? { today: options.today } : undefined;
      const recorded = store ? setting.readRecorded : undefined;
      await setting.end(findings(runCheck({ ...options, live: reach, store: recorded, machine: setting })));
    });
}
