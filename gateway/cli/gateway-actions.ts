// What the commands do that speak to a running gateway: each loaded when it is called, and printed on its streams.
// Given to the program by main.ts, with what only main.ts may read.
import { printApart } from './printing.ts';
import type { Actions } from './program.ts';
import type { WhichGateway } from './running-gateway.ts';

type GatewayActions = Pick<Actions, 'pause' | 'pin' | 'usage' | 'status' | 'reload'>;

/** `around`: read when a command begins. */
export function gatewayActions(around: () => Pick<WhichGateway, 'environment' | 'now'>): GatewayActions {
  return {
    pause: async (options) => {
      const { runPause } = await import('./pause.ts');
      return printApart(runPause({ ...options, ...around() }));
    },
    pin: async (options) => {
      const { runPin } = await import('./pin.ts');
      return printApart(runPin({ ...options, ...around() }));
    },
    usage: async (options) => {
      const { runUsage } = await import('./usage.ts');
      const { askOnTerminal } = await import('./confirmation.ts');
      const confirm = process.stdin.isTTY ? askOnTerminal : undefined;
      // A pipe is no terminal, and has no such method.
      const colour = process.stdout.hasColors?.() ?? false;
      return printApart(runUsage({ ...options, ...around(), colour, confirm }));
    },
    status: async (options) => {
      const { runStatus } = await import('./status.ts');
      return printApart(runStatus({ ...options, ...around() }));
    },
    reload: async (options) => {
      const { runReload } = await import('./reload.ts');
      return printApart(runReload({ ...options, ...around() }));
    },
  };
}
