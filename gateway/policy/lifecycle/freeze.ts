// Freeze: from its day on a version takes no new consumers, while those seen before go on as they did.
// Asked by the pipeline once the consumer is known; when somebody was first seen is the ledger's knowledge, behind a port.
import type { EpochMs, MaybePromise } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import { type Exception, leaveFrom } from './exceptions.ts';
import type { Successor } from './retirement.ts';
import type { LifecycleRefusal, Schedule } from './schedule.ts';

/** Who calls what, as the ledger has it. */
export interface Adopter {
  readonly consumer: string;
  readonly via: 'token' | 'key' | 'certificate';
  readonly api: string;
  readonly version: Label;
}

/** What is known of who came when. */
export interface Adoption {
  /**
   * Whether a consumer was first seen on a version at `freeze` or later, or never. False as well where nobody can know:
   * the store is away, or counts calls of the version only since then. Never rejects.
   */
  readonly isLate: (adopter: Adopter, freeze: EpochMs) => MaybePromise<boolean>;
}

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
