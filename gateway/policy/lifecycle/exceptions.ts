// Looks up the exceptions of consumers from brownouts, sunset, lowered limits or a freeze.
import type { EpochMs } from '../contract.ts';
import { dateInWords } from '../notation.ts';
import type { Phase } from './schedule.ts';

export const EXCEPTION_SCOPES = ['brownouts', 'sunset', 'limits', 'freeze'] as const;
export type ExceptionScope = (typeof EXCEPTION_SCOPES)[number];

export interface Exception {
  readonly consumer: string;
  readonly until: EpochMs;
  readonly from: readonly ExceptionScope[];
  readonly why: string;
  readonly by: string;
  /** The phases of the version for this consumer. With an exception from the sunset, `until` replaces it. */
  readonly phases: readonly Phase[];
}

export function exceptionFrom(
  what: ExceptionScope,
  exceptions: readonly Exception[],
  consumer: { readonly id: string } | undefined,
  now: EpochMs,
): Exception | undefined {
  if (consumer === undefined) return undefined;
  return exceptions.find(
    (each) => each.consumer === consumer.id && each.from.includes(what) && now < each.until,
  );
}

/** When the first of the consumer's exceptions in force expires. `Infinity` without one. */
export function nextEnd(
  exceptions: readonly Exception[],
  consumer: { readonly id: string } | undefined,
  now: EpochMs,
): EpochMs {
  let next = Number.POSITIVE_INFINITY;
  for (const each of exceptions)
    if (each.consumer === consumer?.id && each.until > now) next = Math.min(next, each.until);
  return next;
}

/** Whether any exception from `what` is in force. The decision then must wait for authentication (ORD-3). */
export function hasExceptionFrom(
  what: ExceptionScope,
  exceptions: readonly Exception[],
  now: EpochMs,
): boolean {
  return exceptions.some(({ from, until }) => now < until && from.includes(what));
}

/** Early enough to extend the exception or to tell the consumer that it ends. */
const NEAR_MS = 30 * 86_400_000;

export function endsSoon({ until }: Pick<Exception, 'until'>, now: EpochMs): boolean {
  return now < until && until - now <= NEAR_MS;
}

export function exceptionInWords({ from, until }: Pick<Exception, 'from' | 'until'>): string {
  const what = from.join(', ').replace(/, (?=[^,]*$)/, ' and ');
  return `leave from ${what} until ${dateInWords(until)}`;
}
