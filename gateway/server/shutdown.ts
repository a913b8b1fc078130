// Handles SIGTERM, SIGINT and uncaught errors, and delays signals during the start.
import closeWithGrace from 'close-with-grace';

const CLOSE_WITHIN_MS = 5_000;
const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
const HELD: readonly NodeJS.Signals[] = [...ENDING, 'SIGHUP'];
const FAILED = 1;

export interface ShutdownReason {
  readonly signal: string | undefined;
  readonly error: Error | undefined;
}

/**
 * Exits with 0 after a signal, and with 1 after an error, a second signal, or if `end` exceeds `drainMs` by five
 * seconds. Ignores SIGHUP, which means reload.
 */
export function onShutdown(drainMs: number, end: (reason: ShutdownReason) => Promise<void>): void {
  closeWithGrace(
    { delay: drainMs + CLOSE_WITHIN_MS, skip: ['SIGHUP'], logger: false },
    async ({ signal, err }) => {
      await end({ signal, error: err });
    },
  );
}

/** The result raises the delayed signals again. A second signal to end exits at once with 1. */
export function holdSignals(): () => void {
  const held = new Set<NodeJS.Signals>();
  const hold = (signal: NodeJS.Signals): void => {
    if (ENDING.includes(signal) && ENDING.some((each) => held.has(each))) process.exit(FAILED);
    held.add(signal);
  };
  for (const signal of HELD) process.on(signal, hold);
  return () => {
    for (const signal of HELD) process.off(signal, hold);
    for (const signal of held) process.kill(process.pid, signal);
  };
}
