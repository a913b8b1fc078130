// Decides which callers a brownout refuses, and builds the refusal.
import { hash } from 'node:crypto';
import type { EpochMs } from '../contract.ts';
import type { Label } from '../versioning/resolution.ts';
import type { BrownoutWindow } from './brownout-rule.ts';
import { type Exception, exceptionFrom, hasExceptionFrom } from './exceptions.ts';
import type { Successor } from './retirement.ts';
import type { LifecycleRefusal, Schedule } from './schedule.ts';

export interface BrownoutSubject {
  readonly api: string;
  readonly label: Label;
  readonly operation: string | undefined;
  readonly schedule: Schedule;
  readonly exceptions: readonly Exception[];
}

export interface BrownoutCaller {
  readonly consumer: { readonly id: string } | undefined;
  readonly clientAddress: string;
}

/** Whether the decision needs the consumer and so must wait for authentication (ORD-3). */
export function dependsOnCaller(window: BrownoutWindow, subject: BrownoutSubject, now: EpochMs): boolean {
  return window.share !== undefined || hasExceptionFrom('brownouts', subject.exceptions, now);
}

/**
 * Whether the window refuses this caller. The result is the same throughout a window, so that a client sees one outage
 * instead of random failures. The next window draws again. A caller in a smaller share is also in every larger share.
 */
export function isRefusedByBrownout(
  window: BrownoutWindow,
  { api, label, exceptions }: BrownoutSubject,
  now: EpochMs,
  { consumer, clientAddress }: BrownoutCaller,
): boolean {
  if (exceptionFrom('brownouts', exceptions, consumer, now) !== undefined) return false;
  if (window.share === undefined) return true;
  const who = consumer === undefined ? `address:${clientAddress}` : `consumer:${consumer.id}`;
  const digest = hash('sha256', `${api}:${label}:${window.from}:${who}`, 'buffer');
  return digest.readUIntBE(0, 6) / 2 ** 48 < window.share;
}

/** The refusal resembles that of a retired version, but has a Retry-After. `next`: the successor. */
export function brownoutRefusal(
  { label, operation, schedule }: BrownoutSubject,
  window: BrownoutWindow,
  now: EpochMs,
  next: Successor,
): LifecycleRefusal {
  return {
    reason: 'brownout',
    status: window.status,
    label,
    operation,
    until: window.until,
    // Rounded up, so that an obedient client comes back after the window.
    retryAfterSeconds: Math.max(1, Math.ceil((window.until - now) / 1000)),
    sunset: schedule.sunset,
    message: window.message,
    ...next,
    guide: schedule.guide,
  };
}
