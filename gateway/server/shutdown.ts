// Listens for the end: SIGTERM, SIGINT and uncaught errors; a second signal exits at once.
// main.ts wires it to the gateway's drain.
import closeWithGrace from 'close-with-grace';

export interface ShutdownReason {
  readonly signal: string | undefined;
  readonly error: Error | undefined;
}

/**
 * Runs `end` once, then exits: 0 after a signal, 1 after an error or when `end` takes longer than `withinMs`.
 * SIGHUP is left alone: it means reload.
 */
export function onShutdown(end: (reason: ShutdownReason) => Promise<void>, withinMs: number): void {
  closeWithGrace({ delay: withinMs, skip: ['SIGHUP'], logger: false }, async ({ signal, err }) => {
    await end({ signal, error: err });
  });
}
