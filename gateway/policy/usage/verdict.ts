// Whether anybody would miss what is deprecated, by what the ledger has of it, and the sentence that says so.
import { DAY_MS, type EpochMs } from '../contract.ts';
import { counted, dayOf } from '../notation.ts';
import { dayNumber, startOfDay } from './day.ts';
import type { UsageWindow } from './window.ts';

export type UsageVerdict =
  /** Nobody called in the whole of a window that is long enough. */
  | { readonly kind: 'unused'; readonly days: number; readonly looks: Look }
  /** Nobody called, but the ledger has not looked as long, or was not asked for longer. */
  | { readonly kind: 'too_early'; readonly days: number; readonly looks: Look }
  | Called;

export interface Called {
  readonly kind: 'called';
  readonly consumers: number;
  readonly calls: number;
  readonly perDay: number;
  readonly days: number;
  readonly looks: Look;
}

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

/** What is called once a month would seem safe to retire for a shorter time. */
const LONG_ENOUGH_DAYS = 30;

export function usageVerdict(counts: Pick<Called, 'consumers' | 'calls'>, looked: Looked): UsageVerdict {
  const looks = lookOf(looked);
  if (counts.calls > 0) return called(counts, looks, looked.window);
  const { days } = looked.window;
  const isLong = looks.because === 'window' && days >= LONG_ENOUGH_DAYS;
  return { kind: isLong ? 'unused' : 'too_early', days, looks };
}

/** How often, over as long as the ledger has looked: a young one has not seen as many days as were asked for. */
export function called(
  { consumers, calls }: Pick<Called, 'consumers' | 'calls'>,
  looks: Look,
  { days, now }: Pick<UsageWindow, 'days' | 'now'>,
): Called {
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
    case 'called':
      return `${what}${what === '' ? '' : ' '}still called by ${calledInWords(verdict)}`;
    default:
      return verdict satisfies never;
  }
}

/** `14 consumers, 3,100 calls a day`, and since when where that is not all the days that were asked for. */
export function calledInWords(verdict: Called): string {
  const { consumers, looks } = verdict;
  const often = `${counted(consumers, 'consumer')}, ${oftenInWords(verdict)}`;
  return looks.because === 'window' ? often : `${often}; ${sinceWhen(looks)}`;
}

/** Of few calls the number says more than the mean. */
function oftenInWords({ calls, perDay, days }: Called): string {
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
