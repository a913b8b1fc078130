// Builds the refusals of versions that have ended, have moved, or are frozen for new consumers.
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import { type Exception, exceptionFrom } from './exceptions.ts';
import type { EndStage, LifecycleRefusal, Phase, Schedule } from './schedule.ts';

/** Where callers should go, for the body. A version label replaces the URL if the URL would equal the requested one. */
export interface Successor {
  /** Absolute URL of the same resource in the successor. */
  readonly replacement: string | undefined;
  readonly successor: Label | undefined;
}

export const NO_SUCCESSOR: Successor = { replacement: undefined, successor: undefined };

export interface RetirementInput {
  readonly label: Label;
  readonly operation: string | undefined;
  readonly schedule: Schedule;
  readonly phase: Phase;
  readonly method: string;
  readonly next: Successor;
  /** Absolute redirect target. Undefined without one, or if it would lead back to the request itself (RET-5). */
  readonly redirect: string | undefined;
}

/** From the sunset on, no upstream is called (RET-11). */
export function hasEnded({ stage }: Phase): boolean {
  return stage === 'sunset' || stage === 'retired';
}

/**
 * Gives 410 by default. With `after: { redirect }` it gives 301 for GET and HEAD and the configured status for other
 * methods (RET-1). A redirect without a target gives 410.
 */
export function refuseEnded({
  label,
  operation,
  schedule,
  phase,
  method,
  next,
  redirect,
}: RetirementInput): LifecycleRefusal {
  const end = endOf(schedule, phase);
  const { guide, after, reason: because } = schedule;
  if (after.kind === 'redirect' && redirect !== undefined) {
    const status = method === 'GET' || method === 'HEAD' ? 301 : after.unsafe;
    if (status !== 410) {
      return { reason: 'version_moved', status, label, operation, ...end, location: redirect, guide };
    }
  }
  return { reason: 'version_retired', label, operation, ...end, ...next, guide, because };
}

function endOf(
  { sunset, retired }: Schedule,
  { stage, from }: Phase,
): { readonly stage: EndStage; readonly since: EpochMs } {
  const reached = sunset ?? from;
  return stage === 'sunset' ? { stage, since: reached } : { stage: 'retired', since: retired ?? reached };
}

/** A forgotten version is unknown, as if it had never existed (STAT-1). */
export function isForgotten({ forgotten }: Schedule, now: EpochMs): boolean {
  return forgotten !== undefined && now >= forgotten;
}

interface FrozenSubject {
  readonly label: Label;
  readonly operation: string | undefined;
  readonly schedule: Schedule;
  readonly exceptions: readonly Exception[];
}

/**
 * Whether admission depends on when the consumer was first seen: the freeze is in force, and no exception admits the
 * consumer.
 */
export function isFrozenFor(
  { exceptions }: Pick<FrozenSubject, 'exceptions'>,
  freeze: EpochMs,
  consumer: { readonly id: string },
  now: EpochMs,
): boolean {
  return now >= freeze && exceptionFrom('freeze', exceptions, consumer, now) === undefined;
}

export function refuseAdoption(
  { label, operation, schedule }: FrozenSubject,
  freeze: EpochMs,
  next: Successor,
): LifecycleRefusal {
  return { reason: 'adoption_frozen', label, operation, since: freeze, ...next, guide: schedule.guide };
}
