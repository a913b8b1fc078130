// The answers of a version that lets callers in no more: gone or moved past its sunset, or frozen for new consumers.
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import { type Exception, leaveFrom } from './exceptions.ts';
import type { EndStage, LifecycleRefusal, Phase, Schedule } from './schedule.ts';

/** Where callers are to go, for the body: to a URL, or where that is the one just requested, to a version by its name. */
export interface Successor {
  /** Absolute URL of the same resource there. */
  readonly replacement: string | undefined;
  readonly successor: Label | undefined;
}

export const NO_SUCCESSOR: Successor = { replacement: undefined, successor: undefined };

export interface RetirementInput {
  readonly label: Label;
  /** The operation asked for, where it has rules of its own. */
  readonly operation: string | undefined;
  readonly schedule: Schedule;
  readonly phase: Phase;
  readonly method: string;
  readonly next: Successor;
  /** Absolute URL to redirect to; undefined when there is none, or it would lead back to the request itself (RET-5). */
  readonly redirect: string | undefined;
}

/** Whether a version is no longer served: from its sunset instant on no upstream is called (RET-11). */
export function hasEnded({ stage }: Phase): boolean {
  return stage === 'sunset' || stage === 'retired';
}

/**
 * The answer of a version that has ended: 410, or by `after: { redirect }` 301 for GET and HEAD and the configured
 * status for every other method (RET-1). A redirect without a target is a 410.
 */
export function retire({
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

/** The word of the stage, and the day that began it. */
function endOf(
  { sunset, retired }: Schedule,
  { stage, from }: Phase,
): { readonly stage: EndStage; readonly since: EpochMs } {
  const reached = sunset ?? from;
  return stage === 'sunset' ? { stage, since: reached } : { stage: 'retired', since: retired ?? reached };
}

/** Whether a version is no longer even remembered: asked for, it is unknown like one that never was (STAT-1). */
export function isForgotten({ forgotten }: Schedule, now: EpochMs): boolean {
  return forgotten !== undefined && now >= forgotten;
}

/** The version or operation that is frozen. */
interface FrozenSubject {
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
