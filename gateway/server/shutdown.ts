// Listens for the end: SIGTERM, SIGINT and uncaught errors; a second signal exits at once.
// main.ts wires it to the gateway's drain.
import closeWithGrace from 'close-with-grace';
import { DRAIN_MS } from './drain.ts';

/** For what is let go after the drain. */
const LETTING_GO_MS = 5_000;

export interface ShutdownReason {
  readonly signal: string | undefined;
  readonly error: Error | undefined;
}

/**
 * Runs `end` once, then exits: 0 after a signal, 1 after an error or when `end` takes longer than a drain and a little.
 * SIGHUP is left alone: it means reload.
 */
export function onShutdown(end: (reason: ShutdownReason) => Promise<void>): void {
  closeWithGrace(
    { delay: DRAIN_MS + LETTING_GO_MS, skip: ['SIGHUP'], logger: false },
    async ({ signal, err }) => {
      await end({ signal, error: err });
    },
  );
}
