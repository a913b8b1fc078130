// Counts the calls to one target in the last minute: failures, since when at least half fail, and the last error.
import type { FaultCode } from '../../exchange/directive.ts';
import type { RecentHealth } from '../../exchange/version-states.ts';

const WINDOW_SECONDS = 60;
const SECOND_MS = 1_000;

export interface RecentCalls {
  readonly answered: (now: number) => void;
  readonly failed: (now: number, error: FaultCode) => void;
  readonly read: (now: number) => RecentHealth;
}

/** Every `now`: monotonic milliseconds. */
export function createRecentCalls(): RecentCalls {
  const answers = new Uint32Array(WINDOW_SECONDS);
  const failures = new Uint32Array(WINDOW_SECONDS);
  let second = 0;
  let failingSince: number | undefined;
  let last: { readonly error: FaultCode; readonly at: number } | undefined;

  function cell(now: number): number {
    const current = Math.floor(now / SECOND_MS);
    if (current === second) return current % WINDOW_SECONDS;
    for (let passed = Math.max(second + 1, current - WINDOW_SECONDS + 1); passed <= current; passed += 1) {
      answers[passed % WINDOW_SECONDS] = 0;
      failures[passed % WINDOW_SECONDS] = 0;
    }
    second = current;
    return current % WINDOW_SECONDS;
  }

  function judge(now: number): Pick<RecentHealth, 'answered' | 'failed'> {
    cell(now);
    const [answered, failed] = [sum(answers), sum(failures)];
    if (failed === 0 || failed < answered) failingSince = undefined;
    else failingSince ??= now;
    return { answered, failed };
  }

  return {
    answered(now) {
      const at = cell(now);
      answers[at] = (answers[at] ?? 0) + 1;
    },
    failed(now, error) {
      // Answers since the last failure may have ended a failing period.
      judge(now);
      const at = cell(now);
      failures[at] = (failures[at] ?? 0) + 1;
      last = { error, at: now };
      judge(now);
    },
    read(now) {
      const counts = judge(now);
      return {
        ...counts,
        failingMs: failingSince === undefined ? undefined : now - failingSince,
        last: last && { error: last.error, agoMs: now - last.at },
      };
    },
  };
}

const sum = (counts: Uint32Array): number => counts.reduce((total, count) => total + count, 0);
