// Runs one command to its end and hands over all that came of it: as a process of its own, or, for the many cases
// that differ only in what a gateway answers, the operators' commands inside the test, from their words to what they print.
import { Command, CommanderError, Option } from 'commander';
import { runAccept } from '../../gateway/cli/accept/accept.ts';
import type { ApartResult } from '../../gateway/cli/check/check.ts';
import { runConfigShow } from '../../gateway/cli/config/config-show.ts';
import { addNotifyCommand, runNotify } from '../../gateway/cli/notify/notify.ts';
import { addOperatorCommands } from '../../gateway/cli/operator-commands.ts';
import { runPause } from '../../gateway/cli/pause/pause.ts';
import { runPin } from '../../gateway/cli/pin/pin.ts';
import { addProcessCommands } from '../../gateway/cli/process-commands.ts';
import { runReload } from '../../gateway/cli/reload/reload.ts';
import { runStatus } from '../../gateway/cli/status/status.ts';
import { runUsage } from '../../gateway/cli/usage/usage.ts';
import { addUsageCommand } from '../../gateway/cli/usage/usage-command.ts';
import { startProcess } from './gateway-process.ts';

export interface Ended {
  readonly exitCode: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** `words` follow `sundial`; `environment` is added to the system's own. */
export async function runCommand(words: readonly string[], environment: Environment = {}): Promise<Ended> {
  await using child = startProcess(words, environment);
  const exitCode = await child.ended;
  return { exitCode, stdout: child.stdout, stderr: child.stderr };
}

export interface Surroundings {
  readonly environment?: Environment;
  readonly cwd?: string;
  /** What somebody at the terminal says; nobody sits there unless given. */
  readonly confirm?: (question: string) => Promise<boolean>;
}

/** `sundial pause …` and its like without a process; `environment` is all there is. */
export async function operate(
  words: readonly string[],
  { environment = {}, cwd, confirm }: Surroundings = {},
): Promise<Ended> {
  let ended: ApartResult = { exitCode: 0, stdout: '', stderr: '' };
  let complaint = '';
  const around = { environment, now: Date.now(), ...(cwd !== undefined && { cwd }) };
  const keep = async (result: Promise<ApartResult>): Promise<number> => {
    ended = await result;
    return ended.exitCode;
  };
  const program = new Command('sundial').exitOverride().configureOutput({
    writeErr: (text) => {
      complaint += text;
    },
  });
  const setting = {
    config: () => new Option('-c, --config <file>').default('config/gateway.yaml'),
    end: () => undefined,
  };
  addOperatorCommands(program, {
    ...setting,
    actions: {
      pause: (options) => keep(runPause({ ...options, ...around })),
      pin: (options) => keep(runPin({ ...options, ...around })),
    },
  });
  addProcessCommands(program, {
    ...setting,
    actions: {
      status: (options) => keep(runStatus({ ...options, ...around })),
      reload: (options) => keep(runReload({ ...options, ...around })),
      accept: (options) => keep(runAccept({ ...options, ...around })),
      configShow: ({ config: configFile, ...options }) =>
        keep(runConfigShow({ configFile, ...options, ...around })),
    },
  });
  addUsageCommand(program, {
    ...setting,
    actions: { usage: (options) => keep(runUsage({ ...options, ...around, colour: false, confirm })) },
  });
  addNotifyCommand(program, {
    ...setting,
    actions: { notify: (options) => keep(runNotify({ ...options, ...around })) },
  });
  try {
    await program.parseAsync(words, { from: 'user' });
    return ended;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { exitCode: 2, stdout: '', stderr: complaint };
  }
}
