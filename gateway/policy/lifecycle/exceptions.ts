// Exceptions: a consumer's written leave from brownouts, the sunset, lowered limits or a freeze, until a day.
import type { EpochMs } from '../contract.ts';
import { dateInWords } from '../notation.ts';
import type { Phase } from './schedule.ts';

/** What an exception may free a consumer from. */
export const EXEMPTIONS = ['brownouts', 'sunset', 'limits', 'freeze'] as const;
export type Exemption = (typeof EXEMPTIONS)[number];

export interface Exception {
  /** Id of the consumer, as its token names it. */
  readonly consumer: string;
  /** From this instant on it does nothing. */
  readonly until: EpochMs;
  readonly from: readonly Exemption[];
  readonly why: string;
  readonly by: string;
  /** The life of the version as this consumer sees it: with leave from the sunset, its own date stands for it. */
  readonly phases: readonly Phase[];
}

/** The consumer's running leave from `what`, or undefined. One that has expired is none. */
export function leaveFrom(
  what: Exemption,
  exceptions: readonly Exception[],
  consumer: { readonly id: string } | undefined,
  now: EpochMs,
): Exception | undefined {
  if (consumer === undefined) return undefined;
  return exceptions.find(
    (each) => each.consumer === consumer.id && each.from.includes(what) && now < each.until,
  );
}

/** When the next running exception of this consumer expires; `Infinity` if it has none. */
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

/** Whether any consumer has leave from `what` now: then the answer has to wait until the consumer is known (ORD-3). */
export function someoneMayPass(what: Exemption, exceptions: readonly Exception[], now: EpochMs): boolean {
  return exceptions.some(({ from, until }) => now < until && from.includes(what));
}

/** In good time to give another, or to say that there will be none. */
const NEAR_MS = 30 * 86_400_000;

/** Whether an exception ends within 30 days. */
export function endsSoon({ until }: Pick<Exception, 'until'>, now: EpochMs): boolean {
  return now < until && until - now <= NEAR_MS;
}

/** `leave from brownouts and sunset until 2027-06-30`. */
export function leaveInWords({ from, until }: Pick<Exception, 'from' | 'until'>): string {
  const what = from.join(', ').replace(/, (?=[^,]*$)/, ' and ');
  return `leave from ${what} until ${dateInWords(until)}`;
}
