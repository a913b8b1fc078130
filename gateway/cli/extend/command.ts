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
      'extend the sunset of a version, or of a whole API: one more entry in its policy file, checked before it is written',
    )
    .argument('<api>', 'name of the API, such as orders')
    .argument('[version]', 'its version, such as v1; none for the sunset of the whole API')
    .addOption(new Option('--to <date>', 'the new sunset').argParser(readMovedTo).makeOptionMandatory())
    .requiredOption('--why <text>', 'why, for the readers of the file')
    .addOption(
      new Option('--announced <date>', 'when callers were told; default: today').argParser(readMovedTo),
    )
    .addOption(configOption())
    .addOption(atOption('put today here'))
    .option('--dry-run', 'show what would be written, and write nothing', false)
    .action(async (api, version, { to, why, announced, dryRun, ...said }) => {
      const { runExtend } = await import('./extend.ts');
      const options = { ...filesOf(setting, said), api, version, to, why, announced, dryRun };
      await setting.end(allOrNothing(runExtend(options)));
    });
}
