// Orderly end: readiness first, then no new connections, then what runs is finished, within a bound.
// Called by gateway.ts on SIGTERM; shutdown.ts is what listens for the signal.

/** Milliseconds that requests in flight are given at the end. */
export const DRAIN_MS = 30_000;

/** What drain() needs of a listener. */
export interface Drainable {
  /** Stops accepting and says `Connection: close` from now on; resolves when every connection has ended. */
  readonly stop: () => Promise<void>;
  /** Cuts what is left. */
  readonly destroy: () => void;
}

/**
 * Drains all `listeners` together. `onDraining` runs before any of them stops accepting, so that readiness turns first.
 * Resolves with false when connections were still open after `timeoutMs` and had to be cut.
 */
export async function drain({
  listeners,
  onDraining,
  timeoutMs,
}: {
  readonly listeners: readonly Drainable[];
  readonly onDraining: () => void;
  readonly timeoutMs: number;
}): Promise<boolean> {
  onDraining();
  let complete = true;
  const limit = setTimeout(() => {
    complete = false;
    for (const listener of listeners) listener.destroy();
  }, timeoutMs);
  await Promise.all(listeners.map((listener) => listener.stop()));
  clearTimeout(limit);
  return complete;
}
