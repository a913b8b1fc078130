// Runs one command to its end and returns its output, in a process or inside the test.
import { Command, CommanderError } from 'commander';
import { addAcceptCommand } from '../../gateway/cli/accept/command.ts';
import { openGateway } from '../../gateway/cli/admin-client.ts';
import { addBackupCommand } from '../../gateway/cli/backup/command.ts';
import { addCheckCommand } from '../../gateway/cli/check/command.ts';
import type { ApartResult } from '../../gateway/cli/command-result.ts';
import type { CommandSetting } from '../../gateway/cli/command-setting.ts';
import { addConfigCommands } from '../../gateway/cli/config/command.ts';
import { addDiffCommand } from '../../gateway/cli/diff/command.ts';
import { addExplainCommand } from '../../gateway/cli/explain/command.ts';
import { addExtendCommand } from '../../gateway/cli/extend/command.ts';
import { addInitCommand } from '../../gateway/cli/init/command.ts';
import { addKeyCommands } from '../../gateway/cli/keys/command.ts';
import { addLogLevelCommand } from '../../gateway/cli/log-level/command.ts';
import { addNotifyCommand } from '../../gateway/cli/notify/command.ts';
import { addOpenapiCommand } from '../../gateway/cli/openapi/command.ts';
import { addPauseCommand } from '../../gateway/cli/pause/command.ts';
import { addPinCommands } from '../../gateway/cli/pin/command.ts';
import { addReloadCommand } from '../../gateway/cli/reload/command.ts';
import { addRestoreCommand } from '../../gateway/cli/restore/command.ts';
import { addStatusCommand } from '../../gateway/cli/status/command.ts';
import { addTimelineCommand } from '../../gateway/cli/timeline/command.ts';
import { addUsageCommand } from '../../gateway/cli/usage/command.ts';
import { restoreBackup } from '../../gateway/stores/embedded/restore.ts';
import { readPublishedFrom, unusableFolder } from '../../gateway/stores/read-unopened.ts';
import { unusableTracing } from '../../gateway/telemetry/traces/spans.ts';
import { startProcess } from './gateway-process.ts';

export interface Ended {
  readonly exitCode: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** `words` follow `sundial`; `environment` is added to the environment of this process. */
export async function runCommand(words: readonly string[], environment: Environment = {}): Promise<Ended> {
  await using child = startProcess(words, environment);
  const exitCode = await child.ended;
  return { exitCode, stdout: child.stdout, stderr: child.stderr };
}

export interface Surroundings {
  readonly environment?: Environment;
  readonly cwd?: string;
  /** Answers the question at the terminal; default: there is no terminal. */
  readonly confirm?: (question: string) => Promise<boolean>;
  readonly now?: () => number;
}

const COMMANDS = [
  addPauseCommand,
  addPinCommands,
  addKeyCommands,
  addStatusCommand,
  addReloadCommand,
  addAcceptCommand,
  addConfigCommands,
  addLogLevelCommand,
  addUsageCommand,
  addNotifyCommand,
  addCheckCommand,
  addExplainCommand,
  addTimelineCommand,
  addDiffCommand,
  addExtendCommand,
  addOpenapiCommand,
  addInitCommand,
  addBackupCommand,
  addRestoreCommand,
];

/** Runs `sundial pause …` and similar commands without a process; `environment` is the whole environment. */
export async function operate(
  words: readonly string[],
  { environment = {}, cwd, confirm, now = Date.now }: Surroundings = {},
): Promise<Ended> {
  let ended: ApartResult = { exitCode: 0, stdout: '', stderr: '' };
  let complaint = '';
  const program = new Command('sundial').exitOverride().configureOutput({
    writeErr: (text) => {
      complaint += text;
    },
  });
  const setting: CommandSetting = {
    environment,
    now,
    end: async (result) => {
      ended = await result;
    },
    openGateway: async (options) =>
      openGateway({ ...options, environment, now: now(), ...(cwd !== undefined && { cwd }) }),
    confirm: () => confirm,
    readRecorded: readPublishedFrom,
    restoreBackup,
    unusableFolder: async (folder) => unusableFolder(folder),
    unusableTracing,
  };
  for (const add of COMMANDS) add(program, setting);
  try {
    await program.parseAsync(words, { from: 'user' });
    return ended;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { exitCode: 2, stdout: '', stderr: complaint };
  }
}
