// Command line of `sundial config show`.
import type { Command } from 'commander';
import { type CommandSetting, configOption, filesOf, formatOption } from '../command-setting.ts';

export function addConfigCommands(program: Command, setting: CommandSetting): void {
  program
    .command('config')
    .description('the configuration as the gateway understands it')
    .command('show')
    .description('print every value of the gateway file and the policies; secrets are redacted')
    .argument('[api]', 'the policy of this API alone')
    .addOption(configOption())
    .option('--defaults', 'add what holds where the files say nothing', false)
    .option('--origin', 'say behind each value where it comes from', false)
    .addOption(formatOption(['text', 'json']))
    .action(async (api, { defaults, origin, format, ...said }) => {
      const { runConfigShow } = await import('./config-show.ts');
      await setting.end(runConfigShow({ ...filesOf(setting, said), api, defaults, origin, format }));
    });
}
