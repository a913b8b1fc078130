// Orderly end: readiness first, then no new connections, then what runs is finished, within a bound.
// Called by gateway.ts on SIGTERM; shutdown.ts is what listens for the signal.
import { setTimeout as sleep } from 'node:timers/promises';
import type { DrainTimes } from '../plan/bounds.ts';
import type { Listener } from '../plane/port.ts';

export interface DrainOptions extends DrainTimes {
  readonly listeners: readonly Pick<Listener, 'announceEnd' | 'stop' | 'destroy'>[];
  /** Runs first: readiness turns before any listener stops accepting. */
  readonly onDraining: () => void;
}

/**
 * Drains all `listeners` together. While it waits, load balancers that look at readiness send their requests elsewhere.
 * Resolves with false when connections were still open at the end of the time and had to be cut.
 */
export async function drain({ listeners, onDraining, waitMs, timeoutMs }: DrainOptions): Promise<boolean> {
  onDraining();
  for (const listener of listeners) listener.announceEnd();
  if (waitMs > 0) await sleep(waitMs);
  let complete = true;
  const limit = setTimeout(() => {
    complete = false;
    for (const listener of listeners) listener.destroy();
  }, timeoutMs);
  await Promise.all(listeners.map((listener) => listener.stop()));
  clearTimeout(limit);
  return complete;
}
