// The sliding log (RL-8) as a pure function: exactly the units of the limit in any window, for a number kept per unit.
// The in-process store calls it; the one in Redis does the same on the server's clock.
import type { Limit, Taken } from './limit.ts';

/**
 * What a log says to `cost` more units. `log` holds the instants, microseconds, of the units admitted, oldest first; what
 * has left the window is dropped from it. A taker adds `cost` times `at`. `now` is in milliseconds, as for `gcra`.
 */
export function slidingLog(
  log: number[],
  limit: Limit,
  cost: number,
  now: number,
): { readonly taken: Taken; readonly at: number } {
  const at = Math.round(now * 1000);
  const window = limit.windowMs * 1000;
  // After the clock was set back a unit counts from now on, instead of until the old time comes.
  for (let index = log.length - 1; (log[index] ?? at) > at; index -= 1) log[index] = at;
  const kept = log.findIndex((each) => each > at - window);
  log.splice(0, kept < 0 ? log.length : kept);

  const over = log.length + cost - limit.units;
  const allowed = over <= 0;
  const remaining = Math.max(0, limit.units - log.length - (allowed ? cost : 0));
  // The unit with whose end the cost fits; a cost above the limit never does, and is told the whole window.
  const hindrance = log[over - 1] ?? at;
  const retryAfterMs = allowed ? 0 : (hindrance + window - at) / 1000;
  const first = log[Math.max(0, log.length - limit.units)] ?? at;
  const last = allowed && cost > 0 ? at : (log.at(-1) ?? at - window);
  const resetMs = ((remaining === 0 ? first : last) + window - at) / 1000;
  return { taken: { allowed, remaining, retryAfterMs, resetMs }, at };
}
