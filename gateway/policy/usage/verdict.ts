// Decides from the ledger whether a deprecated version is still called, and says so in one sentence.
import { DAY_MS, type EpochMs } from '../contract.ts';
import { counted, dayOf } from '../notation.ts';
import { dayNumber, startOfDay } from './day.ts';
import type { UsageWindow } from './window.ts';

export type UsageVerdict =
  | { readonly kind: 'unused'; readonly days: number; readonly looks: CountingStart }
  /** No calls, but the period is too short or the ledger has not counted for all of it. */
  | { readonly kind: 'too_early'; readonly days: number; readonly looks: CountingStart }
  | CallRate;

export interface CallRate {
  readonly kind: 'called';
  readonly consumers: number;
  readonly calls: number;
  readonly perDay: number;
  readonly days: number;
  readonly looks: CountingStart;
}

/** Since when calls were counted, and what limits that start. */
export type CountingStart =
  | { readonly since: EpochMs; readonly because: 'window' | 'ledger' | 'deprecated' }
  | { readonly since: undefined; readonly because: 'ledger' };

export interface VerdictInput {
  readonly window: UsageWindow;
  /** When counting began. Undefined: not yet, or never. */
  readonly beganAt: EpochMs | undefined;
  /** Earlier calls were not counted. */
  readonly deprecated: EpochMs | undefined;
}

/** In a shorter period, a monthly caller would be missed. */
const LONG_ENOUGH_DAYS = 30;

export function usageVerdict(
  counts: Pick<CallRate, 'consumers' | 'calls'>,
  input: VerdictInput,
): UsageVerdict {
  const looks = countingStartOf(input);
  if (counts.calls > 0) return callRateOf(counts, looks, input.window);
  const { days } = input.window;
  const isLong = looks.because === 'window' && days >= LONG_ENOUGH_DAYS;
  return { kind: isLong ? 'unused' : 'too_early', days, looks };
}

/** The mean rate over the days that the ledger counted, which may be fewer than the requested days. */
export function callRateOf(
  { consumers, calls }: Pick<CallRate, 'consumers' | 'calls'>,
  looks: CountingStart,
  { days, now }: Pick<UsageWindow, 'days' | 'now'>,
): CallRate {
  // At least a day, because a partial day would exaggerate the rate.
  const periodMs = Math.max(DAY_MS, now - (looks.since ?? now));
  return { kind: 'called', consumers, calls, perDay: (calls * DAY_MS) / periodMs, days, looks };
}

function countingStartOf({
  window,
  beganAt,
  deprecated = Number.NEGATIVE_INFINITY,
}: VerdictInput): CountingStart {
  if (beganAt === undefined) return { since: undefined, because: 'ledger' };
  const from = startOfDay(dayNumber(window.since));
  const since = Math.max(from, beganAt, deprecated);
  if (since === from) return { since, because: 'window' };
  return { since, because: since === deprecated ? 'deprecated' : 'ledger' };
}

/** Without a full stop. `operations`: the deprecated operations of a version that is not deprecated itself. */
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

/** `14 consumers, 3,100 calls a day`, and the start of counting if it is later than requested. */
export function calledInWords(verdict: CallRate): string {
  const { consumers, looks } = verdict;
  const often = `${counted(consumers, 'consumer')}, ${frequencyInWords(verdict)}`;
  return looks.because === 'window' ? often : `${often}; ${sinceWhen(looks)}`;
}

/** Below one call a day, the total is clearer than the mean. */
function frequencyInWords({ calls, perDay, days }: CallRate): string {
  return perDay < 1
    ? `${counted(calls, 'call')} in ${counted(days, 'day')}`
    : `${counted(Math.round(perDay), 'call')} a day`;
}

function sinceWhen(looks: CountingStart): string {
  if (looks.since === undefined) return 'the ledger does not watch it';
  const day = dayOf(looks.since);
  return looks.because === 'deprecated'
    ? `it is deprecated since ${day} only`
    : `the ledger watches it since ${day} only`;
}
