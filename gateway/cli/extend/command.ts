// Command line of `sundial extend`.
import { type Command, Option } from 'commander';
import { GLOSSARY } from '../../policy/glossary.ts';
import { allOrNothing } from '../command-result.ts';
import {
  atOption,
  type CommandSetting,
  configOption,
  filesOf,
  readMovedTo,
  withCalls,
} from '../command-setting.ts';

const CALLS = `Extension: ${GLOSSARY.extension}

Usual calls:
  sundial extend orders v1 --to 2027-04-15 --why "acme still migrates" --dry-run
  sundial extend orders --to 2027-04-15 --why "…"     the sunset of the whole API`;

export function addExtendCommand(program: Command, setting: CommandSetting): void {
  withCalls(program.command('extend'), CALLS)
    .description(
      'extend the sunset of a version or a whole API: checks and writes an entry in its policy file',
    )
    .argument('<api>', 'name of the API, such as orders')
    .argument('[version]', 'version, such as v1; without it, the sunset of the whole API')
    .addOption(new Option('--to <date>', 'the new sunset').argParser(readMovedTo).makeOptionMandatory())
    .requiredOption('--why <text>', 'reason, for readers of the file')
    .addOption(new Option('--announced <date>', 'announcement day; default: today').argParser(readMovedTo))
    .addOption(configOption())
    .addOption(atOption('treat this day as today'))
    .option('--dry-run', 'show the change, but do not write it', false)
    .action(async (api, version, { to, why, announced, dryRun, ...rest }) => {
      const { runExtend } = await import('./extend.ts');
      const options = { ...filesOf(setting, rest), api, version, to, why, announced, dryRun };
      await setting.end(allOrNothing(runExtend(options)));
    });
}
