// The commands that speak to a running gateway, as program.ts asks for them. Each is read when it is called for: most
// calls of the program are for another one.
import type { Environment } from '../plan/read/interpolate.ts';
import type { EpochMs } from '../policy/contract.ts';
import type { ApartResult } from './check/check.ts';
import type { Actions } from './program.ts';

export interface LiveSetting {
  readonly environment: Environment;
  /** The real clock. */
  readonly now: () => EpochMs;
  /** Resolves with the exit code. */
  readonly print: (result: Promise<ApartResult>) => Promise<number>;
}

export function liveActions({
  environment,
  now,
  print,
}: LiveSetting): Pick<
  Actions,
  'pause' | 'pin' | 'keys' | 'usage' | 'notify' | 'status' | 'reload' | 'accept'
> {
  return {
    pause: async (options) => {
      const { runPause } = await import('./pause/pause.ts');
      return print(runPause({ ...options, environment, now: now() }));
    },
    pin: async (options) => {
      const { runPin } = await import('./pin/pin.ts');
      return print(runPin({ ...options, environment, now: now() }));
    },
    keys: async (options) => {
      const { runKeys } = await import('./keys/keys.ts');
      return print(runKeys({ ...options, environment, now: now() }));
    },
    usage: async (options) => {
      const { runUsage } = await import('./usage/usage.ts');
      const confirm = process.stdin.isTTY ? askOnTerminal : undefined;
      // A pipe is no terminal, and has no such method.
      const colour = process.stdout.hasColors?.() ?? false;
      return print(runUsage({ ...options, environment, now: now(), colour, confirm }));
    },
    notify: async (options) => {
      const { runNotify } = await import('./notify/notify.ts');
      return print(runNotify({ ...options, environment, now: now() }));
    },
    status: async (options) => {
      const { runStatus } = await import('./status/status.ts');
      return print(runStatus({ ...options, environment, now: now() }));
    },
    accept: async (options) => {
      const { runAccept } = await import('./accept/accept.ts');
      return print(runAccept({ ...options, environment, now: now() }));
    },
    reload: async (options) => {
      const { runReload } = await import('./reload/reload.ts');
      return print(runReload({ ...options, environment, now: now() }));
    },
  };
}

/** True for `y` and `yes` alone; the end of input is a no. The question goes to stderr, so that stdout stays the answer. */
async function askOnTerminal(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  // The terminal edits the line itself: no escape codes are written, and ^C ends the process as usual.
  using lines = createInterface({ input: process.stdin, output: process.stderr, terminal: false });
  const { promise: closed, resolve: close } = Promise.withResolvers<undefined>();
  lines.once('close', () => close(undefined));
  const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
  if (answer === undefined) process.stderr.write('\n');
  return answer !== undefined && /^y(es)?$/i.test(answer.trim());
}
