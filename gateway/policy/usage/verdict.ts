// Whether anybody would miss what is deprecated, by what the ledger has of it, and the sentence that says so.
// Told by `usage` and the admin API; a ledger that has not looked long enough never says that something is safe to end.
import type { EpochMs } from '../contract.ts';
import { dayOf } from '../notation.ts';
import { dayNumber, startOfDay } from './day.ts';
import type { UsageWindow } from './window.ts';

export type UsageVerdict =
  /** Nobody called in the whole of a window that is long enough. */
  | { readonly kind: 'unused'; readonly days: number }
  /** Nobody called, but the ledger has not looked as long, or was not asked for longer. */
  | { readonly kind: 'too_early'; readonly days: number; readonly looks: Look }
  | {
      readonly kind: 'called';
      readonly consumers: number;
      readonly calls: number;
      readonly perDay: number;
      readonly days: number;
      readonly looks: Look;
    };

/** Since when calls would have been counted, and what began then. */
export type Look =
  | { readonly since: EpochMs; readonly because: 'window' | 'ledger' | 'deprecated' }
  /** It is not watched. */
  | { readonly since: undefined; readonly because: 'ledger' };

export interface Looked {
  readonly window: UsageWindow;
  /** Since when the ledger watches it; undefined: it does not, or not yet. */
  readonly beganAt: EpochMs | undefined;
  /** Calls before it were not counted. */
  readonly deprecated: EpochMs | undefined;
}

const DAY_MS = 86_400_000;
/** What is called once a month would seem safe to retire for a shorter time. */
const LONG_ENOUGH_DAYS = 30;

export function usageVerdict(
  { consumers, calls }: { readonly consumers: number; readonly calls: number },
  looked: Looked,
): UsageVerdict {
  const { days, now } = looked.window;
  const looks = lookOf(looked);
  if (calls === 0) {
    const isLong = looks.because === 'window' && days >= LONG_ENOUGH_DAYS;
    return isLong ? { kind: 'unused', days } : { kind: 'too_early', days, looks };
  }
  // A day that has only begun is not to be taken for the measure of all.
  const lasted = Math.max(DAY_MS, now - (looks.since ?? now));
  return { kind: 'called', consumers, calls, perDay: (calls * DAY_MS) / lasted, days, looks };
}

function lookOf({ window, beganAt, deprecated = Number.NEGATIVE_INFINITY }: Looked): Look {
  if (beganAt === undefined) return { since: undefined, because: 'ledger' };
  const from = startOfDay(dayNumber(window.since));
  const since = Math.max(from, beganAt, deprecated);
  if (since === from) return { since, because: 'window' };
  return { since, because: since === deprecated ? 'deprecated' : 'ledger' };
}

/** Without a full stop. `operations`: what alone is deprecated where the version is not. */
export function verdictInWords(verdict: UsageVerdict, operations: readonly string[] = []): string {
  const what = operations.join(', ');
  const calls = what === '' ? '0 calls' : `0 calls of ${what}`;
  switch (verdict.kind) {
    case 'unused':
      return `${calls} in ${counted(verdict.days, 'day')}: safe to retire`;
    case 'too_early':
      if (verdict.looks.because === 'window')
        return `${calls} in ${counted(verdict.days, 'day')}: too short a time to say`;
      return `${calls}, but ${sinceWhen(verdict.looks)}: too early to say`;
    case 'called': {
      const { looks } = verdict;
      const who = `still called by ${counted(verdict.consumers, 'consumer')}, ${often(verdict)}`;
      return `${what}${what === '' ? '' : ' '}${who}${looks.because === 'window' ? '' : `; ${sinceWhen(looks)}`}`;
    }
    default: {
      const never: never = verdict;
      throw new Error(`unhandled verdict ${JSON.stringify(never)}`);
    }
  }
}

/** Of few calls the number says more than the mean. */
function often({ calls, perDay, days }: Extract<UsageVerdict, { kind: 'called' }>): string {
  return perDay < 1
    ? `${counted(calls, 'call')} in ${counted(days, 'day')}`
    : `${counted(Math.round(perDay), 'call')} a day`;
}

function sinceWhen(looks: Look): string {
  if (looks.since === undefined) return 'the ledger does not watch it';
  const day = dayOf(looks.since);
  return looks.because === 'deprecated'
    ? `it is deprecated since ${day} only`
    : `the ledger watches it since ${day} only`;
}

/** `1 call`, `3,100 calls`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
