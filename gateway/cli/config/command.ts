// Command line of `sundial config show`.
import type { Command } from 'commander';
import { type CommandSetting, configOption, filesOf, formatOption } from '../command-setting.ts';

export function addConfigCommands(program: Command, setting: CommandSetting): void {
  program
    .command('config')
    .description('the configuration that the gateway uses')
    .command('show')
    .description('print every value of the gateway file and the policies; secrets are redacted')
    .argument('[api]', 'only the policy of this API')
    .addOption(configOption())
    .option('--defaults', 'include the defaults of keys that the files do not set', false)
    .option('--origin', 'print the source of each value after it', false)
    .addOption(formatOption(['text', 'json']))
    .action(async (api, { defaults, origin, format, ...rest }) => {
      const { runConfigShow } = await import('./config-show.ts');
      await setting.end(runConfigShow({ ...filesOf(setting, rest), api, defaults, origin, format }));
    });
}
