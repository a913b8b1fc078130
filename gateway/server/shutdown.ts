// Listens for the end: SIGTERM, SIGINT and uncaught errors; a second signal exits at once.
// main.ts wires it to the gateway's drain.
import closeWithGrace from 'close-with-grace';

/** For what is let go after the drain. */
const LETTING_GO_MS = 5_000;

export interface ShutdownReason {
  readonly signal: string | undefined;
  readonly error: Error | undefined;
}

/**
 * Runs `end` once, then exits: 0 after a signal, 1 after an error or when `end` takes longer than `drainMs` and a little.
 * A second signal does not wait: exit 1.
 * SIGHUP is left alone: it means reload.
 */
export function onShutdown(drainMs: number, end: (reason: ShutdownReason) => Promise<void>): void {
  closeWithGrace(
    { delay: drainMs + LETTING_GO_MS, skip: ['SIGHUP'], logger: false },
    async ({ signal, err }) => {
      await end({ signal, error: err });
    },
  );
}
