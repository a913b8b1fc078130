// How a bucket judges, as pure functions: GCRA (RL-9), whose state is the theoretical arrival time, and the sliding log (RL-8).
import type { Limit, Taken } from './limit.ts';

/**
 * Takes `cost` units, all or nothing. In any stretch of time at most `burst + elapsed/T` units pass.
 *
 * `tat` is what was stored last, undefined for a bucket never used; `now` is in milliseconds of any clock that does not
 * run backwards. The returned `tat`, in microseconds (RL-10), is to be stored, undefined means store nothing: a refusal
 * costs nothing. A cost above the burst never passes. `keepsDebt`: limits of several bursts count in this bucket, and what
 * one of them let pass is owed to each.
 */
export function gcra(
  tat: number | undefined,
  limit: Limit,
  cost: number,
  now: number,
  keepsDebt = false,
): { readonly taken: Taken; readonly tat: number | undefined } {
  const at = Math.round(now * 1000);
  const interval = emissionInterval(limit);
  const capacity = limit.burst * interval;
  // No admitted request leaves tat later than now + capacity. If it is later, the clock was set back or the limit was
  // lowered by a reload: the bucket counts as empty from now on, instead of refusing until the old time comes.
  const latest = at + capacity;
  const owed = Math.max(tat ?? at, at);
  const current = keepsDebt ? owed : Math.min(owed, latest);

  const next = current + cost * interval;
  if (next > latest) {
    const taken = {
      allowed: false,
      retryAfterMs: (next - latest) / 1000,
      ...left(current, at, interval, capacity),
    };
    return { taken, tat: current < owed ? current : undefined };
  }
  return { taken: { allowed: true, retryAfterMs: 0, ...left(next, at, interval, capacity) }, tat: next };
}

/** T of RL-9: microseconds between two units. Rounded up, so that the promise of the limit is never exceeded. */
export function emissionInterval(limit: Limit): number {
  return Math.ceil((limit.windowMs * 1000) / limit.units);
}

function left(
  tat: number,
  at: number,
  interval: number,
  capacity: number,
): Pick<Taken, 'remaining' | 'resetMs'> {
  const room = at + capacity - tat;
  const remaining = Math.max(0, Math.floor(room / interval));
  const resetAfter = remaining === 0 ? interval - room : tat - at;
  return { remaining, resetMs: resetAfter / 1000 };
}

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
