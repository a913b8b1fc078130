// Listens for the end: SIGTERM, SIGINT and uncaught errors; a second signal exits at once. Before there is a gateway to end,
// signals are held. main.ts wires it to the gateway's drain.
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
 * Runs `end` once, then exits: 0 after a signal, 1 after an error or when `end` takes longer than `drainMs` and a little.
 * A second signal does not wait: exit 1.
 * SIGHUP is left alone: it means reload.
 */
export function onShutdown(drainMs: number, end: (reason: ShutdownReason) => Promise<void>): void {
  closeWithGrace(
    { delay: drainMs + CLOSE_WITHIN_MS, skip: ['SIGHUP'], logger: false },
    async ({ signal, err }) => {
      await end({ signal, error: err });
    },
  );
}

/**
 * Keeps signals that would end a process that only starts. Call the result when all are heeded: each that came comes again. A
 * second one to end does not wait: exit 1.
 */
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
