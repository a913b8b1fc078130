// Lets the thread that reads policies give way to the one that serves, where both want the same processor.
// Called once by reader-thread.ts, in that thread.
import { getPriority, setPriority } from 'node:os';

/** A quarter of a processor that the serving thread wants as well, and all of one that nobody wants. */
const NICENESS = 5;
const LOWEST = 19;
/** The code of every refusal of the system. */
const REFUSED = 'ERR_SYSTEM_ERROR';

/** On Linux, and nowhere else, a priority is the thread's own. Where a system forbids it, a reload takes an equal share. */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(Math.min(LOWEST, getPriority() + NICENESS));
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, 'code') !== REFUSED) throw error;
  }
}
