// Command line of `sundial timeline`.
import type { Command } from 'commander';
import { allOrNothing } from '../command-result.ts';
import { atOption, type CommandSetting, configOption, filesOf, formatOption } from '../command-setting.ts';

/** Without a terminal. */
const DEFAULT_COLUMNS = 100;

export function addTimelineCommand(program: Command, setting: CommandSetting): void {
  program
    .command('timeline')
    .description('show the versions of each API on a time axis, with their dates and months of notice')
    .option('--api <name>', 'only this API')
    .addOption(configOption())
    .addOption(atOption('treat this day as today'))
    .addOption(formatOption(['text', 'json', 'ics']))
    .action(async ({ api, format, ...rest }) => {
      const { runTimeline } = await import('./timeline.ts');
      const columns = process.stdout.columns ?? DEFAULT_COLUMNS;
      await setting.end(allOrNothing(runTimeline({ ...filesOf(setting, rest), api, format, columns })));
    });
}
