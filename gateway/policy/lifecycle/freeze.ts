// Freeze: from its day on a version takes no new consumers, while those seen before go on as they did.
// Asked by the pipeline once the consumer is known; when somebody was first seen is the ledger's knowledge (policy/usage).
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import { type Exception, leaveFrom } from './exceptions.ts';
import type { Successor } from './retirement.ts';
import type { LifecycleRefusal, Schedule } from './schedule.ts';

/** The version or operation that is frozen. */
export interface FrozenSubject {
  readonly label: Label;
  readonly operation: string | undefined;
  readonly schedule: Schedule;
  readonly exceptions: readonly Exception[];
}

/** Whether it has to be asked when this consumer came: the day has passed, and nothing written lets the consumer in. */
export function isClosedTo(
  { exceptions }: Pick<FrozenSubject, 'exceptions'>,
  freeze: EpochMs,
  consumer: { readonly id: string },
  now: EpochMs,
): boolean {
  return now >= freeze && leaveFrom('freeze', exceptions, consumer, now) === undefined;
}

/** The answer for who came too late. `next`: where the successor is. */
export function refuseAdoption(
  { label, operation, schedule }: FrozenSubject,
  freeze: EpochMs,
  next: Successor,
): LifecycleRefusal {
  return { reason: 'adoption_frozen', label, operation, since: freeze, ...next, guide: schedule.guide };
}
