// The commands of `sundial` in the order in which `sundial --help` shows them.
import { Command, CommanderError } from 'commander';
import { addAcceptCommand } from './accept/command.ts';
import { addBackupCommand } from './backup/command.ts';
import { addCheckCommand } from './check/command.ts';
import type { ApartResult } from './command-result.ts';
import { type CommandSetting, checkOptionValues, EXIT_CODES, WHERE_HELP_IS } from './command-setting.ts';
import { addConfigCommands } from './config/command.ts';
import { addDiffCommand } from './diff/command.ts';
import { addExplainCommand } from './explain/command.ts';
import { addExtendCommand } from './extend/command.ts';
import { addInitCommand } from './init/command.ts';
import { addKeyCommands } from './keys/command.ts';
import { addLogLevelCommand } from './log-level/command.ts';
import { addNotifyCommand } from './notify/command.ts';
import { addOpenapiCommand } from './openapi/command.ts';
import { addPauseCommand } from './pause/command.ts';
import { addPinCommands } from './pin/command.ts';
import { addReloadCommand } from './reload/command.ts';
import { addRestoreCommand } from './restore/command.ts';
import { addSchemaCommand } from './schema/command.ts';
import { addDemoCommands, addRunCommand, type StartActions } from './start-commands.ts';
import { addStatusCommand } from './status/command.ts';
import { addTimelineCommand } from './timeline/command.ts';
import { addUsageCommand } from './usage/command.ts';

type ProgramSetting = Omit<CommandSetting, 'end'> & {
  /** Resolves with the exit code. */
  readonly print: (result: Promise<ApartResult>) => Promise<number>;
  readonly actions: StartActions;
};

/** `version`: what `--version` prints. `end`: receives the exit code of the command. */
export function createProgram(
  version: string,
  { print, actions, ...given }: ProgramSetting,
  end: (code: number) => void,
): Command {
  const program = new Command('sundial')
    .description('An API gateway that enforces API lifecycle policy.')
    .version(version)
    // After a command, --version is an option of that command.
    .enablePositionalOptions()
    .addHelpText('after', EXIT_CODES)
    .showSuggestionAfterError()
    .showHelpAfterError(WHERE_HELP_IS)
    .exitOverride();
  const setting = { ...given, end: async (result: Promise<ApartResult>) => end(await print(result)) };

  addRunCommand(program, { actions, end });
  addCheckCommand(program, setting);
  addExplainCommand(program, setting);
  addTimelineCommand(program, setting);
  addDiffCommand(program, setting);
  addExtendCommand(program, setting);
  addPauseCommand(program, setting);
  addPinCommands(program, setting);
  addKeyCommands(program, setting);
  addStatusCommand(program, setting);
  addReloadCommand(program, setting);
  addAcceptCommand(program, setting);
  addConfigCommands(program, setting);
  addLogLevelCommand(program, setting);
  addUsageCommand(program, setting);
  addBackupCommand(program, setting);
  addRestoreCommand(program, setting);
  addNotifyCommand(program, setting);
  addOpenapiCommand(program, setting);
  addInitCommand(program, setting);
  addSchemaCommand(program, setting);
  addDemoCommands(program, { actions, end });

  checkOptionValues(program, (name) => name === 'header' || name === 'scope');

  return program;
}

/** Runs the command that `argv` (without node and script) names. Resolves with 2 after a usage error. */
export async function runProgram(
  argv: readonly string[],
  version: string,
  setting: ProgramSetting,
): Promise<number> {
  let exitCode = 0;
  const program = createProgram(version, setting, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // `--help` and `--version` also throw, with exit code 0.
    return error.exitCode === 0 ? 0 : 2;
  }
  return exitCode;
}
