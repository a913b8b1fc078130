// The rate-limit algorithms as pure functions: GCRA (RL-9) and the sliding log (RL-8).
import type { Limit, Taken } from './limit.ts';

/**
 * Takes `cost` units or nothing, and admits at most `burst + elapsed/T` units in any period. `tat` is the stored
 * theoretical arrival time, undefined for a new bucket. `now` is in milliseconds of any clock that does not run backwards.
 * The returned `tat`, in microseconds (RL-10), must be stored; undefined means store nothing, because a refusal costs
 * nothing. A cost above the burst is never admitted. `keepsDebt`: limits with different bursts share this bucket, so a
 * `tat` beyond this limit's burst is kept.
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
  // No admitted request leaves tat later than now + capacity. A later tat means that the clock was set back or that a
  // reload lowered the limit. The tat is then reduced to now + capacity, so that the bucket does not refuse until the old
  // time.
  const latest = at + capacity;
  const owed = Math.max(tat ?? at, at);
  const current = keepsDebt ? owed : Math.min(owed, latest);

  const next = current + cost * interval;
  if (next > latest) {
    const taken = {
      allowed: false,
      retryAfterMs: (next - latest) / 1000,
      ...remainingOf(current, at, interval, capacity),
    };
    return { taken, tat: current < owed ? current : undefined };
  }
  return {
    taken: { allowed: true, retryAfterMs: 0, ...remainingOf(next, at, interval, capacity) },
    tat: next,
  };
}

/** T of RL-9: microseconds between two units, rounded up, so that the limit is never exceeded. */
export function emissionInterval(limit: Limit): number {
  return Math.ceil((limit.windowMs * 1000) / limit.units);
}

function remainingOf(
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
 * Asks a log for `cost` units. `log` holds the instants of admitted units in microseconds, oldest first. Expired instants
 * are removed. If admitted, the caller appends `at` `cost` times. `now` is in milliseconds, as for `gcra`.
 */
export function slidingLog(
  log: number[],
  limit: Limit,
  cost: number,
  now: number,
): { readonly taken: Taken; readonly at: number } {
  const at = Math.round(now * 1000);
  const window = limit.windowMs * 1000;
  // After the clock was set back, instants in the future count from now on. Otherwise the log would refuse until the old
  // time.
  for (let index = log.length - 1; (log[index] ?? at) > at; index -= 1) log[index] = at;
  const kept = log.findIndex((each) => each > at - window);
  log.splice(0, kept < 0 ? log.length : kept);

  const over = log.length + cost - limit.units;
  const allowed = over <= 0;
  const remaining = Math.max(0, limit.units - log.length - (allowed ? cost : 0));
  // The unit whose expiry makes room for the cost. A cost above the limit never fits and gets the whole window.
  const blockingUnit = log[over - 1] ?? at;
  const retryAfterMs = allowed ? 0 : (blockingUnit + window - at) / 1000;
  const first = log[Math.max(0, log.length - limit.units)] ?? at;
  const last = allowed && cost > 0 ? at : (log.at(-1) ?? at - window);
  const resetMs = ((remaining === 0 ? first : last) + window - at) / 1000;
  return { taken: { allowed, remaining, retryAfterMs, resetMs }, at };
}
